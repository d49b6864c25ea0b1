/**
 * Follows the tasks of MCP: calls that the server continues with after it answered. Decision 0057.
 *
 * A task is followed by what passes between client and server; nothing is polled. Two designs are read: that of
 * revision 2025-11-25 (`params.task`, `tasks/result`) and the extension `io.modelcontextprotocol/tasks` (a result of
 * type `task`, which `tasks/get` answers in full).
 */
import { EffectFailed, EffectUnknown } from "../../enforce/guard.ts"
import type { Json } from "../../wire.ts"
import {
  CallHalted,
  INVALID_PARAMS,
  isParams,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type Params
} from "./json-rpc.ts"
import { inexactness, memberText, receivedValue } from "./json-text.ts"

/** Tasks that are followed at once. Where one more begins, the oldest ends as unknown. */
export const MAX_TASKS = 1_000

/** A task as a server describes it. */
export interface TaskState extends Params {
  readonly taskId: string
  readonly status: string
}

/** The call that a task carries out. */
export interface TaskCall {
  readonly name: string
  readonly args: Json
  /** Aborts when the agent is halted. */
  readonly signal: AbortSignal
  /** Requests the task's end from the server. */
  readonly cancel: (taskId: string) => void
}

/**
 * Follows the tasks of one connection, or of all that a proxy serves. `text` is that of the task, the answer or the
 * notification, where it came as one.
 */
export interface Tasks {
  /**
   * Resolves with the result of the task, and throws where it failed, was cancelled or halted, or where nobody knows.
   */
  readonly follow: (task: TaskState, call: TaskCall, text?: string | null) => Promise<Json>
  /** The call of a task that is followed; null where there is none. */
  readonly callOf: (taskId: string) => Pick<TaskCall, "name" | "args"> | null
  /** Reads an answer to a request that is no call. */
  readonly answered: (request: JsonRpcRequest, response: JsonRpcResponse, text?: string | null) => void
  /** Reads a notification of the server. */
  readonly notified: (notification: JsonRpcNotification, text?: string | null) => void
  /** Ends what is followed: how it ended is not known. */
  readonly end: (reason: string) => void
}

/** Requests and notifications that say something of a task. */
export const taskMethods: ReadonlySet<string> = new Set(["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"])

/** Methods of notifications that tell the status of a task. */
export const taskNotifications: ReadonlySet<string> = new Set(["notifications/tasks/status", "notifications/tasks"])

/** The task that an answer to a call begins; null: the answer is the call's result. */
export const taskOf = ({ result }: JsonRpcResponse): TaskState | null => {
  if (result === undefined) return null
  if (result["resultType"] === "task") return isTask(result) ? result : null
  const { task } = result
  return isTask(task) && !Object.hasOwn(result, "content") ? task : null
}

/** The text of that task in the answer's. */
export const taskTextOf = ({ result }: JsonRpcResponse, text: string | null): string | null =>
  isTask(result) ? memberText(text, "result") : memberText(text, "result", "task")

const isTask = (value: unknown): value is TaskState =>
  isParams(value) && typeof value["taskId"] === "string" && typeof value["status"] === "string"

interface Followed {
  readonly call: TaskCall
  /** The server's last word on it, and the recorded form. */
  last: TaskState
  shown: unknown
  readonly resolve: (result: Json) => void
  readonly reject: (cause: Error) => void
}

/** Follows no task yet. */
export const makeTasks = (maxTasks = MAX_TASKS): Tasks => {
  const followed = new Map<string, Followed>()

  /** Ends a task of which nothing more will be known. One that was completed was: only its result is missing. */
  const giveUp = ({ last, reject, resolve, shown }: Followed, reason: string): void =>
    last.status === "completed"
      ? resolve({ task: shown as Json })
      : reject(new EffectUnknown(reason, { task: shown as Json }))

  const finish = (one: Followed, result: Params, text: string | null): void =>
    result["isError"] === true
      ? one.reject(new EffectFailed("The tool answered with an error.", shownOf(result, text) as Json))
      : one.resolve(shownOf(result, text) as Json)

  const say = (task: unknown, text: string | null): void => {
    if (!isTask(task)) return
    const one = followed.get(task.taskId)
    if (one === undefined) return
    one.last = task
    one.shown = shownOf(task, text)
    const { result, status } = task
    if (status === "completed" && isParams(result)) finish(one, result, memberText(text, "result"))
    if (status === "failed" || status === "cancelled")
      one.reject(new EffectFailed(`The task was ${status}.`, { task: one.shown as Json }))
  }

  return {
    follow: (task, call, text = null) =>
      new Promise<Json>((resolve, reject) => {
        const { taskId } = task
        const halt = (): void => {
          reject(new CallHalted(call.name, call.signal))
          call.cancel(taskId)
          forget()
        }
        const forget = (): void => {
          call.signal.removeEventListener("abort", halt)
          if (followed.get(taskId) === one) followed.delete(taskId)
        }
        const one: Followed = {
          call,
          last: task,
          shown: shownOf(task, text),
          resolve: (result) => (forget(), resolve(result)),
          reject: (cause) => (forget(), reject(cause))
        }
        const other = followed.get(taskId)
        if (other !== undefined) giveUp(other, "Another task of this name began.")
        followed.set(taskId, one)
        if (followed.size > maxTasks)
          giveUp(followed.values().next().value!, `More than ${maxTasks} tasks run; this one is not followed any more.`)
        call.signal.addEventListener("abort", halt)
        if (call.signal.aborted) halt()
        else say(task, text)
      }),
    callOf: (taskId) => followed.get(taskId)?.call ?? null,
    answered: ({ method, params }, { error, result }, text = null) => {
      const taskId = params?.["taskId"]
      if (method === "tasks/result") {
        const one = typeof taskId === "string" ? followed.get(taskId) : undefined
        if (one === undefined) return
        if (result !== undefined) finish(one, result, memberText(text, "result"))
        // A server that does not know the task, for this client or at this time, says nothing of how it ended.
        else if (error !== undefined && error.code !== INVALID_PARAMS)
          one.reject(new EffectFailed(error.message, { error: shownOf(error, memberText(text, "error")) as Json }))
      } else if (method === "tasks/list") {
        const tasks = result?.["tasks"]
        // The text of one of a list is not read: where that says more than the values, another answer settles.
        const isExact = text === null || inexactness(text) === null
        if (Array.isArray(tasks) && isExact) for (const task of tasks) say(task, null)
      } else if (result !== undefined && result["taskId"] === taskId) say(result, memberText(text, "result"))
    },
    notified: ({ params }, text = null) => say(params, memberText(text, "params")),
    end: (reason) => {
      for (const one of followed.values()) giveUp(one, reason)
    }
  }
}

const shownOf = (value: unknown, text: string | null): unknown => (text === null ? value : receivedValue(text))
