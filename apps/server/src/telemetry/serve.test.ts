/** `flyball serve` with a collector, as an operator configures it. */
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { operator, type Operator } from "../cli/testing/commands.ts"
import { type Collecting, openCollector } from "./testing/collector.ts"

let me: Operator
let collector: Collecting
beforeEach(async () => {
  me = operator()
  collector = await openCollector()
})
afterEach(async () => {
  await me.leave()
  await collector.close()
})

describe("flyball serve with a collector", () => {
  it("exports every span before it ends, the last checkpoint included; its headers are in no log", async () => {
    const server = await me.serve({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.endpoint}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20hunter2",
      OTEL_SERVICE_NAME: "governor of claims"
    })
    assert.strictEqual((await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })).status, 201)
    const { err, status } = await server.stop("SIGTERM")
    assert.strictEqual(status, 0)
    assert.deepStrictEqual(collector.problems, [])
    const request = collector.received.find(({ name }) => name === "POST /api/v1/agents")!
    assert.deepInclude(request.attributes, { "http.response.status_code": 201 })
    assert.includeMembers(
      collector.received.filter(({ parentSpanId }) => parentSpanId === request.spanId).map(({ name }) => name),
      ["storage.commit"]
    )
    const names = collector.received.map(({ name }) => name)
    assert.isAbove(names.lastIndexOf("checkpoint.store"), names.indexOf("POST /api/v1/agents"))
    assert.isTrue(collector.requests.every(({ headers }) => headers.authorization === "Bearer hunter2"))
    assert.strictEqual(collector.resources[0]!["service.name"], "governor of claims")
    const line = err.split("\n").find((one) => one.includes('"route":"/api/v1/agents"'))!
    assert.deepInclude(JSON.parse(line), { traceId: request.traceId, client: "127.0.0.1" })
    assert.notInclude(err, "hunter2")
  })

  it("ends in time and in order when the collector is gone, and says what it lost", async () => {
    await collector.close()
    const server = await me.serve({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint })
    assert.strictEqual((await fetch(`${server.url}/status`)).status, 200)
    const { err, status } = await server.stop("SIGTERM")
    assert.strictEqual(status, 0)
    assert.match(err, /\d+ spans were dropped: the collector did not take them before the end\./)
    collector = await openCollector()
  })

  it("sends nothing for other commands, and shows no header", async () => {
    const { out, status } = await me.flyball(["config"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "x-token=hunter2"
    })
    assert.strictEqual(status, 0)
    assert.match(out, /^OTEL_EXPORTER_OTLP_HEADERS +\*{4} {2}\(environment\)$/m)
    assert.notInclude(out, "hunter2")
    assert.lengthOf(collector.requests, 0)
  })
})
