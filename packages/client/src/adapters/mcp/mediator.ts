/**
 * Stands between the client and the server of one MCP connection on which messages go both ways: in process, or over
 * the streams of a child process.
 *
 * A `tools/call`, and the input for a task that runs, reach the server only where they may run. Everything else that is
 * a message passes; what is none is passed in neither direction.
 */
import { EffectUnknown, type Running, sentenceOf } from "../../enforce/guard.ts"
import { CallCancelled } from "../holds.ts"
import type { Answered, Calls } from "./calls.ts"
import {
  CallHalted,
  errorResponse,
  failedResponse,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isGoverned,
  isModern,
  isParams,
  isRequest,
  isResponse,
  type JsonRpcMessage,
  type JsonRpcRequest,
  keyOfId,
  LIMIT_EXCEEDED,
  type Params,
  readMessage,
  refusals,
  type RequestId
} from "./json-rpc.ts"
import { TOO_MANY_WAITING, type Place, type WaitingLimit } from "./waiting-limit.ts"
import { taskNotifications } from "./tasks.ts"

/** How one message travels to the server, where each has a stream of its own (Streamable HTTP). */
export interface SendOptions {
  readonly requestSignal?: AbortSignal | undefined
  readonly onRequestStreamEnd?: (() => void) | undefined
  readonly onresumptiontoken?: ((token: string) => void) | undefined
}

/** Options of a mediator. `Options` are what a transport sends with a message. */
export interface MediatorOptions<Options extends SendOptions> {
  /** The calls of the agent; a promise that fails denies each call. */
  readonly calls: () => Promise<Calls>
  readonly toServer: (message: JsonRpcMessage, options?: Options) => Promise<void>
  /** `text`: the message as the server sent it; null where it is ours, or came as a value. */
  readonly toClient: (message: JsonRpcMessage, text: string | null) => void
  /** True for a method that passes and makes no tool act. Left out, each passes. */
  readonly passes?: ((method: string) => boolean) | undefined
  /** True when each request has a stream of its own, whose end cancels it. */
  readonly hasPerRequestStream?: boolean | undefined
  /** Bounds the requests that have no answer yet. Without it there is no bound. */
  readonly waitingLimit?: WaitingLimit | undefined
  /** Is given why something that the server sent was dropped. */
  readonly onDropped?: ((reason: string) => void) | undefined
}

/** Stands between client and server. */
export interface Mediator<Options extends SendOptions> {
  /**
   * Takes a message of the client that has so many bytes. `isExact`: its value says all that its text does. Resolves
   * when it was passed on or answered; throws where the server is away.
   */
  readonly fromClient: (value: unknown, options?: Options, bytes?: number, isExact?: boolean) => Promise<void>
  /** Takes a message of the server, and its text where it came as one; false: the client must not see it. */
  readonly fromServer: (value: unknown, text?: string | null) => boolean
  /** The connection is over: what waits never begins, and what runs is witnessed as failed. */
  readonly end: (reason: string) => Promise<void>
}

/** The connection ended while a call ran. */
class ConnectionOver extends Error {}

/** A call that has no answer yet. */
interface Pending {
  readonly cancel: AbortController
  /** Resolves the call once it was sent; null before. */
  settle: ((answered: Answered) => void) | null
  fail: ((cause: unknown) => void) | null
}

/** Makes the mediator of one connection. */
export const mediate = <Options extends SendOptions>({
  calls,
  hasPerRequestStream = false,
  onDropped,
  passes = () => true,
  waitingLimit,
  toClient: write,
  toServer
}: MediatorOptions<Options>): Mediator<Options> => {
  const pending = new Map<string, Pending>()
  /** Requests other than calls that have no answer yet. */
  const others = new Map<string, { readonly request: JsonRpcRequest; readonly place: Place | undefined }>()
  const running = new Set<Promise<unknown>>()
  let over: string | null = null

  /** Answers the client with a message of ours. */
  const toClient = (message: JsonRpcMessage): void => write(message, null)

  const forget = (key: string): void => {
    others.get(key)?.place?.leave()
    others.delete(key)
  }

  const track = (work: Promise<unknown>): void => {
    const one = work.catch(() => undefined).finally(() => running.delete(one))
    running.add(one)
  }

  const forward =
    (request: JsonRpcRequest, one: Pending, options: Options | undefined, sent: (cause?: unknown) => void) =>
    ({ signal }: Running): Promise<Answered> =>
      new Promise<Answered>((resolve, reject) => {
        if (over !== null) return reject(new Error(over))
        const own = new AbortController()
        const halt = (): void => {
          reject(new CallHalted(String(request.params?.["name"] ?? request.method), signal))
          own.abort()
          // A request with a stream of its own is cancelled by the end of that stream.
          if (!(hasPerRequestStream && isModern(request))) void toServer(cancelled(request.id)).catch(() => undefined)
        }
        one.settle = (answered) => {
          // A task continues: the end of its request is none of it.
          signal.removeEventListener("abort", halt)
          resolve(answered)
        }
        // A server that names its events may answer on a later stream: then nobody knows how the call ends.
        let isResumable = false
        const lost = (reason: string): Error =>
          isResumable ? new EffectUnknown(reason, { error: reason }) : new Error(reason)
        one.fail = (cause) => {
          reject(cause instanceof ConnectionOver ? lost(cause.message) : cause)
          own.abort()
        }
        signal.addEventListener("abort", halt)
        const signals = options?.requestSignal === undefined ? [own.signal] : [own.signal, options.requestSignal]
        const carried = {
          ...options,
          requestSignal: AbortSignal.any(signals),
          // The client's own callback is not called: it gets an answer in any case, once the call is witnessed.
          onRequestStreamEnd: () => reject(lost("The server ended the request without an answer.")),
          onresumptiontoken: (token: string) => {
            isResumable = true
            options?.onresumptiontoken?.(token)
          }
        } as unknown as Options
        toServer(request, carried).then(
          () => sent(),
          (cause: unknown) => {
            reject(cause)
            sent(cause)
          }
        )
        if (signal.aborted) halt()
      })

  const callTool = async (
    request: JsonRpcRequest,
    options: Options | undefined,
    place: Place | undefined
  ): Promise<void> => {
    const key = keyOfId(request.id)
    const one: Pending = { cancel: new AbortController(), settle: null, fail: null }
    const giveUp = (): void => {
      one.cancel.abort()
      one.fail?.(new CallCancelled(String(request.params?.["name"])))
    }
    pending.set(key, one)
    options?.requestSignal?.addEventListener("abort", giveUp)
    if (options?.requestSignal?.aborted === true) giveUp()
    let sent: (cause?: unknown) => void = () => undefined
    const passed = new Promise<void>((resolve, reject) => {
      sent = (cause) => (cause === undefined ? resolve() : reject(cause))
    })
    const release = (): void => {
      place?.leave()
      if (pending.get(key) === one) pending.delete(key)
      options?.requestSignal?.removeEventListener("abort", giveUp)
    }
    const accepted = ({ response, text }: Answered): void => {
      release()
      write(response, text)
    }
    // What it is answered names no request of the client, and so is dropped.
    const send = (message: JsonRpcRequest): void => void toServer(message).catch(() => undefined)
    const work = (async () => {
      const carrier = { forward: forward(request, one, options, sent), accepted, request: send }
      const outcome = await calls().then(
        (governed) => governed.call(request, carrier, one.cancel.signal),
        // Without an agent there is no verdict, so nothing runs.
        (cause: unknown) => {
          const response = failedResponse(request, notRun(cause))
          return { kind: "answer", answered: { response, text: null } } as const
        }
      )
      release()
      if (outcome.kind === "answer") write(outcome.answered.response, outcome.answered.text)
      else if (outcome.kind === "lost" && over === null)
        toClient(errorResponse(request.id, INTERNAL_ERROR, `${request.method}: ${sentenceOf(outcome.cause)}`))
      sent()
    })()
    track(work)
    await Promise.race([passed, work])
  }

  const onCancelled = async (message: JsonRpcMessage, params: Params | undefined, options?: Options): Promise<void> => {
    const one = pending.get(keyOfId((params?.["requestId"] ?? null) as RequestId | null))
    // A call that the server never saw needs no cancelling there.
    forget(keyOfId((params?.["requestId"] ?? null) as RequestId | null))
    if (one === undefined || one.settle !== null) await toServer(message, options)
    one?.cancel.abort()
    one?.fail?.(new CallCancelled("tools/call"))
  }

  /**
   * Drops what the server sent that is no message. Where it is meant for a request, answers that request in its place.
   */
  const unreadable = (id: RequestId | null, reason: string): false => {
    const key = keyOfId(id)
    if (id === null || !(pending.has(key) || others.has(key))) {
      onDropped?.(reason)
      return false
    }
    const answer = errorResponse(id, INTERNAL_ERROR, `The server's answer could not be read: ${reason}.`)
    const one = pending.get(key)
    if (one !== undefined) one.settle?.({ response: answer, text: null })
    else {
      forget(key)
      toClient(answer)
    }
    return false
  }

  return {
    fromClient: async (value, options, bytes = 0, isExact = true) => {
      const read = readMessage(value)
      if (!read.ok) return toClient(errorResponse(read.id, INVALID_REQUEST, `Not an MCP message: ${read.reason}.`))
      const { message } = read
      if (isResponse(message))
        return toServer(isExact ? message : errorResponse(message.id, INTERNAL_ERROR, refusals.inexact), options)
      const refusal = isExact
        ? isGoverned(message) || passes(message.method)
          ? null
          : refusals.notPassed
        : refusals.inexact
      if (!isRequest(message)) {
        if (message.method === "notifications/cancelled") return onCancelled(message, message.params, options)
        // Nobody could be answered: a call that asks for no answer is not one.
        if (isGoverned(message)) return
        if (refusal === null) return toServer(message, options)
        return track(calls().then((governed) => governed.refused(message, refusal)))
      }
      const key = keyOfId(message.id)
      if (pending.has(key) || others.has(key))
        return toClient(errorResponse(message.id, INVALID_REQUEST, "A request with this id is still unanswered."))
      const place = waitingLimit?.enter(bytes)
      if (place === null) return toClient(errorResponse(message.id, LIMIT_EXCEEDED, TOO_MANY_WAITING))
      if (refusal !== null) {
        place?.leave()
        const answer = calls().then((governed) => governed.refused(message, refusal))
        return toClient(await answer.catch(() => errorResponse(message.id, INVALID_PARAMS, refusal)))
      }
      if (isGoverned(message)) return callTool(message, options, place)
      others.set(key, { request: message, place })
      options?.requestSignal?.addEventListener("abort", () => forget(key), { once: true })
      return toServer(message, options).catch((cause: unknown) => {
        forget(key)
        throw cause
      })
    },
    fromServer: (value, text = null) => {
      const read = readMessage(value)
      if (!read.ok) {
        // A request of the server has an id of its own, which may be that of a request of the client too.
        const isAnswer = isParams(value) && !Object.hasOwn(value, "method")
        return unreadable(isAnswer ? read.id : null, read.reason)
      }
      const { message } = read
      if (!isResponse(message)) {
        if (!isRequest(message) && taskNotifications.has(message.method))
          track(calls().then((governed) => governed.notified(message, text)))
        return true
      }
      const key = keyOfId(message.id)
      const one = pending.get(key)
      if (one !== undefined) {
        // The answer goes out once it is witnessed; one to a call that was never sent is nobody's.
        one.settle?.({ response: message, text })
        return false
      }
      // One that names no request, as after JSON that the server could not read, is the client's to see.
      if (message.id === null) return true
      const request = others.get(key)?.request
      // An answer that nothing waits for: a second one, or one to a request that was never sent.
      if (request === undefined) return false
      forget(key)
      track(calls().then((governed) => governed.answered(request, { response: message, text })))
      return true
    },
    end: async (reason) => {
      over ??= reason
      for (const one of pending.values()) {
        one.cancel.abort()
        one.fail?.(new ConnectionOver(reason))
      }
      await calls().then(
        (governed) => governed.end(reason),
        () => undefined
      )
      await Promise.all(running)
    }
  }
}

const cancelled = (requestId: RequestId): JsonRpcMessage => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId, reason: "The agent was halted." }
})

const notRun = (cause: unknown): string => `The call did not run: ${sentenceOf(cause)}`
