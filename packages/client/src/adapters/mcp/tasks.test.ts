import { Client as ClientV2, InMemoryTransport as MemoryV2 } from "@modelcontextprotocol/client"
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js"
import { InMemoryTransport as MemoryV1 } from "@modelcontextprotocol/sdk/inMemory.js"
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js"
import { afterEach, assert, describe, it } from "vitest"
import type { ClientOptions } from "../../client.ts"
import { EffectFailed, EffectUnknown } from "../../enforce/guard.ts"
import { governedAgent, until } from "../testing/governed-agent.ts"
import type { JsonRpcMessage } from "./json-rpc.ts"
import { makeTasks, type TaskCall, taskOf } from "./tasks.ts"
import { taskServer } from "./testing/task-server.ts"
import { governTransport } from "./transport.ts"
import { playedConnection } from "./testing/played-connection.ts"

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

/** An agent, what became of its decisions, and how each was settled. */
const agentOf = async (options: Partial<ClientOptions> = {}) => {
  const governed = await governedAgent({ redact: ["token"], ...options })
  endings.push(() => governed.client.close())
  const settlements = () => governed.seen.filter(({ path }) => path.endsWith("/settle")).map(({ json }) => json)
  /** Lists decisions with their settlements, once there are so many: `action status → settled status`. */
  const outcomes = async (settled: number): Promise<ReadonlyArray<string>> => {
    while (settlements().length < settled) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      await governed.client.flush(2_000)
    }
    const decisions = new Map((await governed.witnessed()).map((one) => [one.client_ref, one]))
    return [...decisions.values()].map(({ action, client_ref: ref, status }) => {
      const settled = settlementOf(ref)
      return settled === undefined ? `${action} ${status}` : `${action} ${status} → ${settled.status}`
    })
  }
  // oxlint-disable-next-line no-explicit-any
  const settlementOf = (ref: string): any =>
    governed.seen.find(({ path }) => path.endsWith(`/decisions/dec_${ref}/settle`))?.json
  return { ...governed, outcomes, settlements }
}

/** A real client of the SDK 1 with tasks, and a real server of it. */
const connectedV1 = async (options: Partial<ClientOptions> = {}) => {
  const governed = await agentOf(options)
  const shop = taskServer()
  const [mine, theirs] = MemoryV1.createLinkedPair()
  await shop.server.connect(theirs)
  const client = new ClientV1({ name: "test", version: "1" })
  await client.connect(governTransport(mine, governed.agent, { toolServer: "shop" }))
  endings.push(() => client.close())
  await client.listTools()
  /** Begins a task, and resolves with its name. */
  const begin = async (order: number): Promise<string> => {
    const stream = client.experimental.tasks.callToolStream({ name: "build", arguments: { order, token: "hunter2" } })
    const first = await stream.next()
    if (first.value?.type !== "taskCreated") throw new Error(JSON.stringify(first.value))
    return first.value.task.taskId
  }
  return { ...governed, shop, client, begin }
}

describe("a task of revision 2025-11-25, client and server of the SDK 1", () => {
  it("is witnessed as intended when it is accepted, and settled once with its result and its whole time", async () => {
    const { begin, client, outcomes, settlements, shop, witnessed } = await connectedV1()
    const taskId = await begin(7)
    assert.deepStrictEqual(await outcomes(0), ["tools/list ok", "build intended"])
    assert.deepInclude((await witnessed())[1], {
      action: "build",
      kind: "tool_call",
      tool_server: "shop",
      evaluation_id: "evl_1",
      args: { order: 7, token: "[redacted]", "mcp:params": { task: {} } }
    })
    assert.strictEqual((await client.experimental.tasks.getTask(taskId)).status, "working")
    await shop.finish(taskId, "built 7")
    assert.strictEqual((await client.experimental.tasks.getTask(taskId)).status, "completed")
    assert.include(
      JSON.stringify(await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)),
      "built 7"
    )
    // A second time changes nothing.
    await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)
    assert.deepStrictEqual(await outcomes(1), ["tools/list ok", "build intended → ok"])
    const [settled, ...others] = settlements()
    assert.lengthOf(others, 0)
    assert.include(JSON.stringify(settled.result), "built 7")
    assert.isNumber(settled.latency_ms)
  })

  it("that fails, or that its client cancels, is settled as an error", async () => {
    const { begin, client, outcomes, shop } = await connectedV1()
    const failing = await begin(1)
    await shop.finish(failing, "no such order", "failed")
    assert.strictEqual((await client.experimental.tasks.getTask(failing)).status, "failed")
    await client.experimental.tasks.cancelTask(await begin(2))
    assert.deepStrictEqual(await outcomes(2), ["tools/list ok", "build intended → error", "build intended → error"])
  })

  it("that is denied never begins", async () => {
    const { begin, outcomes, script, shop } = await connectedV1()
    script.verdict = () => "deny"
    assert.match(await begin(1).catch(String), /Error/)
    assert.lengthOf(shop.started, 0)
    assert.deepStrictEqual(await outcomes(0), ["tools/list ok", "build denied"])
  })

  it("is cancelled at the server when the agent is halted; its state can still be read", async () => {
    const { begin, client, halt, outcomes, shop } = await connectedV1()
    const taskId = await begin(1)
    await halt()
    await until(() => shop.cancelled.includes(taskId))
    assert.match(await begin(2).catch(String), /Error/)
    assert.strictEqual((await client.experimental.tasks.getTask(taskId)).status, "cancelled")
    assert.deepStrictEqual(shop.started, [taskId])
    assert.deepStrictEqual(await outcomes(1), ["tools/list ok", "build intended → error", "build denied"])
  })

  it("of which nobody knows how it ended is settled as unknown when the connection ends", async () => {
    const { begin, client, outcomes, settlements, shop } = await connectedV1()
    const working = await begin(1)
    const completed = await begin(2)
    await shop.finish(completed, "built 2")
    assert.strictEqual((await client.experimental.tasks.getTask(completed)).status, "completed")
    await client.close()
    assert.deepStrictEqual(await outcomes(2), ["tools/list ok", "build intended → unknown", "build intended → ok"])
    assert.deepInclude(settlements()[0].result.task, { taskId: working, status: "working" })
  })

  it("is witnessed once where capture is strict: before it is sent", async () => {
    const { begin, client, outcomes, shop } = await connectedV1({ capture: "strict" })
    const taskId = await begin(1)
    await shop.finish(taskId, "built")
    await client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema)
    assert.deepStrictEqual((await outcomes(1)).slice(1), ["build intended → ok"])
  })
})

describe("a task of revision 2025-11-25, client of the SDK 2 with @modelcontextprotocol/ext-tasks", () => {
  it("is settled with its result", async () => {
    const governed = await agentOf()
    const shop = taskServer()
    const [mine, theirs] = MemoryV2.createLinkedPair()
    // As the wire has it: without members that are undefined.
    const send = theirs.send.bind(theirs)
    theirs.send = (message) => send(JSON.parse(JSON.stringify(message)))
    await shop.server.connect(theirs as never)
    const client = new ClientV2({ name: "test", version: "1" })
    await client.connect(governTransport(mine, governed.agent) as never)
    endings.push(() => client.close())
    const session = createTaskSessionFromClient(client as never, { endpointId: "shop" })
    endings.push(() => session.close())
    const execution = await session.callTool("build", { order: 7 })
    await until(() => shop.started.length === 1)
    await shop.finish(shop.started[0]!, "built 7")
    const { outcome } = await execution.settle()
    assert.include(JSON.stringify(outcome), "built 7")
    assert.include(await governed.outcomes(1), "build intended → ok")
  })
})

/** A connection whose two ends a test plays. */
const wired = async () => {
  const governed = await agentOf()
  const { atClient, atServer, mediator } = playedConnection(governed.agent)
  const send = (id: number, method: string, params: object) =>
    mediator.fromClient({ jsonrpc: "2.0", id, method, params })
  const answer = (id: number, result: object) => mediator.fromServer({ jsonrpc: "2.0", id, result })
  return { ...governed, mediator, atServer, atClient, send, answer }
}

/** The client's own data in a request of revision 2026-07-28. */
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } }
}
const task = (more: object = {}) => ({
  taskId: "t-1",
  status: "working",
  createdAt: "2026-11-25T10:30:00Z",
  lastUpdatedAt: "2026-11-25T10:40:00Z",
  ttlMs: 60_000,
  ...more
})

describe("a task of the extension io.modelcontextprotocol/tasks", () => {
  /** A call that the server continues with as the task `t-1`. */
  const begun = async () => {
    const made = await wired()
    const params = { name: "transfer", arguments: { amount: 5 }, _meta: { ...meta, progressToken: 9 } }
    await made.send(1, "tools/call", params)
    made.answer(1, { resultType: "task", ...task() })
    await until(() => made.atClient.length === 1)
    return made
  }

  it("hands the client the task at once, and is settled with the result that tasks/get answers", async () => {
    const { answer, atClient, outcomes, send } = await begun()
    assert.deepInclude(atClient[0]!.result, { resultType: "task", taskId: "t-1" })
    await send(2, "tasks/get", { taskId: "t-1" })
    answer(2, { resultType: "complete", ...task() })
    assert.deepStrictEqual(await outcomes(0), ["transfer intended"])
    await send(3, "tasks/get", { taskId: "t-1" })
    answer(3, { resultType: "complete", ...task({ status: "completed", result: { content: [], isError: true } }) })
    assert.deepStrictEqual(await outcomes(1), ["transfer intended → error"])
  })

  it("is settled by a notification of the server", async () => {
    const { mediator, outcomes } = await begun()
    const params = task({ status: "completed", result: { content: [] } })
    assert.isTrue(mediator.fromServer({ jsonrpc: "2.0", method: "notifications/tasks", params }))
    assert.deepStrictEqual(await outcomes(1), ["transfer intended → ok"])
  })

  it("is given an input only after a verdict on the call's arguments and on the input", async () => {
    const { answer, atClient, atServer, outcomes, script, seen, send } = await begun()
    const inputResponses = { name: { action: "accept", content: { input: "Luca" } } }
    await send(2, "tasks/update", { taskId: "t-1", inputResponses, _meta: meta })
    answer(2, { resultType: "complete" })
    await until(() => atClient.length === 2)
    const { json } = seen.filter(({ path }) => path.endsWith("/evaluations")).at(-1)!
    assert.deepInclude(json, {
      action: "transfer",
      signals: { tool: "transfer", amount: 5 },
      args: { amount: 5, "mcp:params": { taskId: "t-1", inputResponses } }
    })
    script.verdict = () => "deny"
    await send(3, "tasks/update", { taskId: "t-1", inputResponses })
    await send(4, "tasks/update", { taskId: "t-2", inputResponses })
    await until(() => atClient.length === 4)
    assert.deepStrictEqual(
      atClient.slice(2).map(({ error, id }) => [id, error?.code]),
      [
        [3, -32_010],
        [4, -32_010]
      ]
    )
    assert.lengthOf(
      atServer.filter((one) => "method" in one && one.method === "tasks/update"),
      1
    )
    assert.deepStrictEqual(await outcomes(0), [
      "transfer intended",
      "transfer ok",
      "transfer denied",
      "tasks/update denied"
    ])
  })

  it("takes no input that can be read in two ways, and none that asks for no answer", async () => {
    const { atClient, atServer, mediator, send } = await begun()
    const before = atServer.length
    await send(2, "tasks/update", { taskId: "t-1", TaskId: "t-2", inputResponses: {} })
    await send(3, "tasks/update", { taskId: 1, inputResponses: {} })
    await send(4, "tasks/update", { taskId: "t-1", inputResponses: { a: 2 ** 60 } })
    await mediator.fromClient({ jsonrpc: "2.0", method: "tasks/update", params: { taskId: "t-1" } })
    assert.deepStrictEqual(
      atClient.slice(1).map(({ error }) => error?.code),
      [-32_602, -32_602, -32_602]
    )
    assert.lengthOf(atServer, before)
  })

  it("is cancelled in the client's name when the agent is halted, and takes no input then", async () => {
    const { atClient, atServer, halt, outcomes, send } = await begun()
    await halt()
    await until(() => atServer.length === 2)
    const cancel = atServer[1] as Extract<JsonRpcMessage, { method: string; id: unknown }>
    assert.deepInclude(cancel, { method: "tasks/cancel", params: { taskId: "t-1", _meta: meta } })
    assert.match(String(cancel.id), /^flyball-/)
    await send(2, "tasks/update", { taskId: "t-1", inputResponses: {} })
    await until(() => atClient.length === 2)
    assert.strictEqual(atClient[1]!.error?.code, -32_010)
    assert.lengthOf(atServer, 2)
    assert.deepStrictEqual(await outcomes(1), ["transfer intended → error", "tasks/update denied"])
  })

  it("has a name that another request of the client may use again", async () => {
    const { answer, atClient, send } = await begun()
    await send(1, "tools/call", { name: "lookup" })
    answer(1, { content: [] })
    await until(() => atClient.length === 2)
    assert.deepStrictEqual(atClient[1]!.result, { content: [] })
  })
})

describe("what is followed", () => {
  const call = (more: Partial<TaskCall> = {}): TaskCall => ({
    name: "build",
    args: {},
    signal: new AbortController().signal,
    cancel: () => undefined,
    ...more
  })
  const state = (taskId: string, status = "working") => ({ taskId, status })
  const ended = (promise: Promise<unknown>) =>
    promise.then(
      (result) => ({ kind: "ok", result }),
      (cause: unknown) => ({ kind: cause instanceof EffectUnknown ? "unknown" : "error", cause })
    )
  const get = (params: object, method = "tasks/get") =>
    ({ jsonrpc: "2.0", id: 1, method, params: params as { [name: string]: unknown } }) as const
  const got = (result: { [name: string]: unknown }) => ({ jsonrpc: "2.0", id: 1, result }) as const

  it("is bounded: where one more begins, the oldest ends as unknown", async () => {
    const tasks = makeTasks(2)
    const [first, second] = ["a", "b", "c"].map((taskId) => ended(tasks.follow(state(taskId), call())))
    assert.strictEqual((await first!).kind, "unknown")
    assert.isNull(tasks.callOf("a"))
    tasks.answered(get({ taskId: "b" }), got(state("b", "cancelled")))
    assert.strictEqual((await second!).kind, "error")
    assert.isNotNull(tasks.callOf("c"))
  })

  it("is the later of two tasks of one name", async () => {
    const tasks = makeTasks()
    const first = ended(tasks.follow(state("a"), call()))
    const second = ended(tasks.follow(state("a"), call()))
    assert.strictEqual((await first).kind, "unknown")
    tasks.answered(get({ taskId: "a" }, "tasks/result"), got({ content: [] }))
    assert.deepStrictEqual(await second, { kind: "ok", result: { content: [] } })
  })

  it("is not ended by what says nothing of it", async () => {
    const tasks = makeTasks()
    const error = (code: number) => ({ jsonrpc: "2.0", id: 1, error: { code, message: "no" } }) as const
    const one = ended(tasks.follow(state("a"), call()))
    tasks.answered(get({ taskId: "a" }), error(-32_603))
    tasks.answered(get({ taskId: "a" }, "tasks/result"), error(-32_602))
    tasks.answered(get({ taskId: "b" }), got(state("a", "failed")))
    tasks.answered(get({ taskId: "a" }, "tasks/cancel"), got({}))
    tasks.answered(get({}, "tasks/list"), got({ tasks: [null, state("b", "failed")] }))
    tasks.notified({ jsonrpc: "2.0", method: "notifications/tasks/status" })
    assert.isNotNull(tasks.callOf("a"))
    tasks.answered(get({}, "tasks/list"), got({ tasks: [state("a", "failed")] }))
    const { cause, kind } = (await one) as { kind: string; cause: unknown }
    assert.strictEqual(kind, "error")
    assert.instanceOf(cause, EffectFailed)
  })

  it("ends with the error that tasks/result answers", async () => {
    const tasks = makeTasks()
    const one = ended(tasks.follow(state("a"), call()))
    const error = { code: -32_603, message: "no money" }
    tasks.answered(get({ taskId: "a" }, "tasks/result"), { jsonrpc: "2.0", id: 1, error })
    assert.deepInclude(((await one) as { cause: EffectFailed }).cause, { result: { error } })
  })

  it("begins with a result that is a task, and with no other", () => {
    const answer = (result: { [name: string]: unknown }) => taskOf({ jsonrpc: "2.0", id: 1, result })
    assert.strictEqual(answer({ task: state("a") })?.taskId, "a")
    assert.strictEqual(answer({ resultType: "task", ...state("a") })?.taskId, "a")
    assert.isNull(answer({ content: [], task: state("a") }))
    assert.isNull(answer({ resultType: "complete", ...state("a") }))
    assert.isNull(answer({ task: { taskId: 1, status: "working" } }))
    assert.isNull(taskOf({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } }))
  })
})
