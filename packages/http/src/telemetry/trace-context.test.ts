import { assert, describe, it } from "vitest"
import { readTraceparent } from "./trace-context.ts"

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const spanId = "00f067aa0ba902b7"

describe("traceparent", () => {
  it.each<[string, string, boolean]>([
    ["a sampled trace", `00-${traceId}-${spanId}-01`, true],
    ["a trace that nobody keeps", `00-${traceId}-${spanId}-00`, false],
    ["flags that we do not know", `00-${traceId}-${spanId}-fe`, false],
    ["flags with ours among them", `00-${traceId}-${spanId}-ff`, true],
    ["a later version", `01-${traceId}-${spanId}-01`, true],
    ["a later version that says more", `cc-${traceId}-${spanId}-01-what-ever`, true]
  ])("follows %s", (_, header, sampled) =>
    assert.deepStrictEqual(readTraceparent(header), { traceId, spanId, sampled })
  )

  it.each<[string, string | ReadonlyArray<string> | undefined]>([
    ["no header", undefined],
    ["nothing", ""],
    ["two headers", `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
    ["a list", [`00-${traceId}-${spanId}-01`]],
    ["version ff", `ff-${traceId}-${spanId}-01`],
    ["version 00 that says more", `00-${traceId}-${spanId}-01-x`],
    ["a later version that runs on", `01-${traceId}-${spanId}-01x`],
    ["capitals", `00-${traceId.toUpperCase()}-${spanId}-01`],
    ["no trace", `00-${"0".repeat(32)}-${spanId}-01`],
    ["no span", `00-${traceId}-${"0".repeat(16)}-01`],
    ["a short trace", `00-${traceId.slice(1)}-${spanId}-01`],
    ["a short span", `00-${traceId}-${spanId.slice(1)}-01`],
    ["no flags", `00-${traceId}-${spanId}`],
    ["one digit of flags", `00-${traceId}-${spanId}-1`],
    ["a space", ` 00-${traceId}-${spanId}-01`],
    ["another line", `00-${traceId}-${spanId}-01\n`]
  ])("does not follow %s", (_, header) => assert.isNull(readTraceparent(header)))
})
