/** Spans of real requests, at a real collector. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { Chain, Checkpointer } from "@flyball/core"
import { readExposition } from "@flyball/http/testing"
import { Context, Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { openWorld, type World } from "../http/http-world.ts"
import { makeServer } from "../http/server.ts"
import { openCollector } from "./testing/collector.ts"
import { type TracingOptions, tracingLayer } from "./tracing.ts"

const open: Array<() => Promise<void>> = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

const options: Omit<TracingOptions, "endpoint"> = {
  headers: { "x-token": "hunter2" },
  serviceName: "governor",
  sampler: "parentbased_always_on",
  ratio: 1,
  version: "0.0.0-test"
}

const collecting = async (...args: Parameters<typeof openCollector>) => {
  const collector = await openCollector(...args)
  open.push(collector.close)
  return collector
}

/** A server that exports to this collector; it is closed, and with it everything sent, before `then` runs. */
const traced = async <A>(
  endpoint: string,
  more: Partial<TracingOptions>,
  act: (world: World) => Promise<A>
): Promise<{ readonly world: World; readonly result: A }> => {
  const world = await openWorld({ spans: tracingLayer({ ...options, ...more, endpoint }) })
  try {
    return { world, result: await act(world) }
  } finally {
    await world.close()
  }
}

const trace = { id: "4bf92f3577b34da6a3ce929d0e0e4736", span: "00f067aa0ba902b7" }
const traceparent = (flags: string) => ({ traceparent: `00-${trace.id}-${trace.span}-${flags}` })

describe("spans", () => {
  it("tell the route, method, status and id of each request, and nobody's name", async () => {
    const collector = await collecting()
    const { world } = await traced(collector.endpoint, {}, async ({ admin, key, log, register, send }) => {
      log.length = 0
      const id = await register("private name")
      await send("GET", `/api/v1/agents/${id}?q=hunter3`, { token: key, headers: { "x-request-id": "mine-1" } })
      await send("POST", "/api/v1/agents?password=hunter3", { token: admin, json: { name: "hunter3", zzz: 1 } })
      await send("GET", "/hunter3")
      await send("HEAD", "/status")
    })
    assert.deepStrictEqual(collector.problems, [])
    const requests = collector.received.filter(({ kind }) => kind === 2).slice(-5)
    assert.deepStrictEqual(
      requests.map(({ attributes, name, parentSpanId, status }) => [
        name,
        attributes["http.response.status_code"],
        attributes["http.route"],
        status,
        parentSpanId
      ]),
      [
        ["POST /api/v1/agents", 201, "/api/v1/agents", 0, null],
        ["GET /api/v1/agents/{agent_id}", 422, "/api/v1/agents/{agent_id}", 0, null],
        ["POST /api/v1/agents", 422, "/api/v1/agents", 0, null],
        ["GET", 404, undefined, 0, null],
        ["HEAD /status", 200, "/status", 0, null]
      ]
    )
    assert.deepStrictEqual(requests[1]!.attributes, {
      "http.request.method": "GET",
      "http.route": "/api/v1/agents/{agent_id}",
      "http.response.status_code": 422,
      "flyball.request_id": "mine-1"
    })
    // The log and the span of a request find each other.
    assert.deepStrictEqual(
      world.log.map(({ requestId, traceId }) => [requestId, traceId]),
      requests.map(({ attributes, traceId }) => [attributes["flyball.request_id"], traceId])
    )
    for (const { endNanos, startNanos } of requests)
      assert.isTrue(endNanos >= startNanos && startNanos > BigInt(Date.now() - 600_000) * 1_000_000n)
    const sent = collector.requests.map(({ text }) => text).join("\n")
    for (const secret of ["hunter3", "hunter2", "private name", "127.0.0.1", world.key, world.admin, world.keyId])
      assert.notInclude(sent, secret)
  })

  it("name the service, carry the headers that are set, and those are in no log", async () => {
    const collector = await collecting()
    const { world } = await traced(collector.endpoint, {}, ({ send }) => send("GET", "/status"))
    assert.isTrue(collector.requests.every(({ headers }) => headers["x-token"] === "hunter2"))
    assert.deepInclude(collector.resources[0], { "service.name": "governor", "service.version": "0.0.0-test" })
    assert.notInclude(JSON.stringify(world.log), "hunter2")
  })

  it("of commits are children of their request, and those of a checkpoint show its guard and its store", async () => {
    const collector = await collecting()
    await traced(collector.endpoint, {}, async ({ register, runtime, send }) => {
      await send("GET", "/status", { headers: { "x-request-id": "before" } })
      await register("courier")
      await runtime.runPromise(Checkpointer.use(({ now }) => now))
    })
    assert.deepStrictEqual(collector.problems, [])
    const after = collector.received.slice(
      collector.received.findIndex(({ attributes }) => attributes["flyball.request_id"] === "before") + 1
    )
    const request = after.find(({ name }) => name === "POST /api/v1/agents")!
    const commits = after.filter(({ parentSpanId }) => parentSpanId === request.spanId)
    assert.deepStrictEqual(
      commits.map(({ kind, name, traceId }) => [name, kind, traceId]),
      [["storage.commit", 1, request.traceId]]
    )
    assert.deepInclude(commits[0]!.attributes, { "flyball.storage.backend": "memory", "flyball.commit.records": 1 })
    assert.includeMembers(
      after.map(({ name }) => name),
      ["checkpoint.guard", "checkpoint.store"]
    )
  })

  it("continue with the trace that the caller names, and begin one where what it says cannot be followed", async () => {
    const collector = await collecting()
    const { world } = await traced(collector.endpoint, {}, async ({ log, send }) => {
      log.length = 0
      await send("GET", "/status", { headers: traceparent("01") })
      await send("GET", "/status", { headers: traceparent("00") })
      await send("GET", "/status", { headers: { traceparent: "00-nonsense" } })
    })
    const [followed, begun] = collector.received.slice(-2)
    assert.deepInclude(followed, { traceId: trace.id, parentSpanId: trace.span, flags: 0x301 })
    assert.deepInclude(begun, { parentSpanId: null, flags: 0x101 })
    assert.notStrictEqual(begun!.traceId, trace.id)
    // Its caller keeps nothing of the second, so it is not sent; the log names its trace all the same.
    assert.deepStrictEqual(
      world.log.map(({ traceId }) => traceId),
      [trace.id, trace.id, begun!.traceId]
    )
  })

  it.each<[TracingOptions["sampler"], number, number]>([
    ["always_off", 1, 0],
    ["parentbased_always_off", 1, 1],
    ["traceidratio", 0, 0],
    ["always_on", 1, 3]
  ])("%s keeps what it should", async (sampler, ratio, kept) => {
    const collector = await collecting()
    await traced(collector.endpoint, { sampler, ratio }, async ({ send }) => {
      await send("GET", "/status", { headers: traceparent("01") })
      await send("GET", "/status", { headers: traceparent("00") })
      await send("GET", "/status")
    })
    assert.lengthOf(
      collector.received.filter(({ name }) => name === "GET /status"),
      kept
    )
  })

  it("say that a request failed, and not with what words", async () => {
    const collector = await collecting()
    await traced(collector.endpoint, {}, async ({ admin, context, issuer }) => {
      const server = makeServer({
        context: Context.add(context, Chain, {
          ...Context.get(context, Chain),
          head: Effect.die(new Error("secret internals"))
        }),
        verifier: issuer,
        version: "x"
      })
      const { url } = await server.listen({ host: "127.0.0.1", port: 0 })
      assert.strictEqual(
        (await fetch(`${url}/api/v1/chain/head`, { headers: { authorization: `Bearer ${admin}` } })).status,
        500
      )
      await server.close()
    })
    const failed = collector.received.at(-1)!
    assert.deepInclude(failed, { name: "GET /api/v1/chain/head", status: 2 })
    assert.deepInclude(failed.attributes, { "http.response.status_code": 500, "error.type": "internal_error" })
    assert.notInclude(collector.requests.map(({ text }) => text).join(), "secret internals")
  })
})

describe("a collector", () => {
  it.each<[string, () => number | "never"]>([
    ["that never answers", () => "never"],
    ["that refuses", () => 400],
    ["that is too busy", () => 503]
  ])("%s changes no answer, and what was lost is counted", async (_, answer) => {
    const collector = await collecting(answer)
    const { result } = await traced(collector.endpoint, { lastMs: 0 }, async ({ send }) => {
      // More than a batch, so that the exporter sends while requests continue.
      for (let round = 0; round < 11; round++) {
        const answers = await Promise.all(Array.from({ length: 50 }, () => send("GET", "/status")))
        assert.isTrue(answers.every(({ status }) => status === 200))
      }
      await collector.requested(1)
      return (await send("GET", "/metrics")).text
    })
    const lines = readExposition(result)
    const of = (name: string) => lines.get(name)!.lines.map(({ value }) => value)
    const [exported, dropped] = of("flyball_trace_spans_total")
    assert.strictEqual(exported, 0)
    assert.isAtLeast(dropped! + of("flyball_trace_spans_waiting")[0]!, 550)
  })

  it("that does not exist changes no answer", async () => {
    const collector = await openCollector()
    await collector.close()
    const { result } = await traced(collector.endpoint, { lastMs: 0 }, ({ send }) =>
      Promise.all(Array.from({ length: 600 }, () => send("GET", "/status")))
    )
    assert.isTrue(result.every(({ status }) => status === 200))
  })

  it("that sends elsewhere is not followed: the headers are for the address that was set", async () => {
    const elsewhere = await collecting()
    const collector = await collecting(() => ({ to: `${elsewhere.endpoint}/v1/traces` }))
    await traced(collector.endpoint, {}, ({ send }) => send("GET", "/status"))
    assert.deepStrictEqual([collector.requests.length, elsewhere.requests.length], [1, 0])
  })
})

describe("without a collector", () => {
  it("nothing is made of a trace, whatever the caller sends", async () => {
    const world = await openWorld()
    open.push(world.close)
    await world.send("GET", "/status", { headers: traceparent("01") })
    assert.notProperty(world.log.at(-1), "traceId")
    assert.isUndefined(readExposition((await world.send("GET", "/metrics")).text).get("flyball_trace_spans_total"))
  })
})
