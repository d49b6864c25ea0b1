import { readMetrics } from "@flyball/core"
import { Context, Metric } from "effect"
import { assert, describe, it } from "vitest"
import { exposition } from "./exposition.ts"
import { type Counted, httpCounts } from "./http-counts.ts"
import { readExposition } from "./testing/read-exposition.ts"

const request: Counted = { endpoint: "agents.list", method: "GET", status: 200, code: null, durationMs: 3 }

/** Counts in a registry of its own, without the metrics that core declares. */
const counts = () => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  return {
    count: httpCounts(context),
    families: () => readMetrics(context).filter(({ name }) => name.startsWith("flyball_http_"))
  }
}

describe("counts of requests", () => {
  it("says nothing before the first", () => {
    assert.strictEqual(exposition(counts().families()), "\n")
  })

  it("counts by endpoint, method, status and code", () => {
    const { count, families } = counts()
    for (const one of [
      request,
      request,
      { ...request, method: "HEAD" },
      { ...request, status: 403, code: "forbidden" },
      { ...request, endpoint: null, status: 404, code: "not_found" },
      { ...request, status: 0 }
    ])
      count(one)
    const read = readExposition(exposition(families()))
    const lines = (name: string) => read.get(name)!.lines.map(({ labels, value }) => [...Object.values(labels), value])
    assert.deepStrictEqual(lines("flyball_http_requests_total"), [
      ["agents.list", "GET", "0", 1],
      ["agents.list", "GET", "200", 2],
      ["agents.list", "GET", "403", 1],
      ["agents.list", "HEAD", "200", 1],
      ["none", "GET", "404", 1]
    ])
    assert.deepStrictEqual(lines("flyball_http_refusals_total"), [
      ["agents.list", "forbidden", 1],
      ["none", "not_found", 1]
    ])
  })

  it("has a histogram that adds up", () => {
    const { count, families } = counts()
    const durationsMs = [0, 5, 5.1, 99, 2_500, 10_001]
    for (const durationMs of durationsMs) count({ ...request, durationMs })
    const { lines, type } = readExposition(exposition(families())).get("flyball_http_request_duration_seconds")!
    assert.strictEqual(type, "histogram")
    assert.deepStrictEqual(
      lines.slice(0, 7).map(({ labels, value }) => [labels["le"], value]),
      [
        ["0.005", 2],
        ["0.025", 3],
        ["0.1", 4],
        ["0.5", 4],
        ["2.5", 5],
        ["10", 5],
        ["+Inf", 6]
      ]
    )
    assert.deepStrictEqual(
      lines.slice(7).map(({ name }) => name.split("_").at(-1)),
      ["sum", "count"]
    )
    assert.closeTo(
      lines[7]!.value,
      durationsMs.reduce((sum, ms) => sum + ms / 1_000, 0),
      1e-9
    )
    assert.strictEqual(lines[8]!.value, 6)
  })

  it("has no more lines than our tables, whatever is sent", () => {
    const { count, families } = counts()
    for (let index = 0; index < 100; index++) count({ ...request, method: `M${index}` })
    assert.deepStrictEqual(families()[0]!.samples, [
      { labels: { endpoint: "agents.list", method: "other", status: "200" }, value: 100 }
    ])
  })
})

describe("the text", () => {
  it("escapes what would end a label or a line", () => {
    const text = exposition([
      { name: "a", type: "gauge", help: "b\\c\nd", samples: [{ labels: { l: 'x"y\\z\n' }, value: 1 }] }
    ])
    assert.strictEqual(text, '# HELP a b\\\\c\\nd\n# TYPE a gauge\na{l="x\\"y\\\\z\\n"} 1\n')
    assert.strictEqual(readExposition(text).get("a")!.lines.length, 1)
  })

  it("the reader refuses what is no exposition", () => {
    for (const text of [
      "a 1\n",
      "# TYPE a gauge\na 1\n",
      "# HELP a b\n# TYPE a gauge\na 1",
      "# HELP a b\n# TYPE a gauge\nb 1\n",
      "# HELP a b\n# TYPE a gauge\na 1\na 1\n",
      "# HELP a b\n# TYPE a gauge\na{x=1} 1\n",
      "# HELP a b\n# TYPE a gauge\na x\n"
    ]) {
      assert.throws(() => readExposition(text), /line|order|labels/)
    }
  })
})
