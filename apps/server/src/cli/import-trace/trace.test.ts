import { assert, describe, it } from "vitest"
import { microUsd, readTraceLine } from "./trace.ts"

describe("a trace line", () => {
  it.each([
    [0, 0],
    [0.004202, 4202],
    [0.0000005, 1],
    [0.00000049, 0],
    [1.0000005, 1_000_001],
    [0.0348365, 34_837],
    [1e21, null],
    [12, 12_000_000],
    [-1, null],
    [Number.NaN, null],
    [1e-7, 0]
  ])("counts %s dollars as %s millionths", (usd, expected) => assert.equal(microUsd(usd), expected))
  it("maps every member", () => {
    const read = readTraceLine({
      v: 1,
      id: "a".repeat(32),
      source: "s",
      run_id: "r",
      task_id: "t",
      agent: "a",
      model: "m",
      step: 0,
      ts: "2025-07-31T22:04:20.987Z",
      ts_source: "source",
      kind: "final",
      action: "finish",
      args: { x: 1 },
      result: "done",
      result_chars: 586,
      status: "ok",
      tokens_in: 1,
      tokens_out: 2,
      cost_usd: 0.5,
      latency_ms: 7,
      parallel_of: 2,
      final: true,
      labels: { trial: 0 }
    })
    assert.deepEqual(read, {
      ok: true,
      trace: {
        agent: "a",
        decision: {
          client_ref: "a".repeat(32),
          kind: "message",
          action: "finish",
          run_id: "r",
          step: 0,
          observed_at: "2025-07-31T22:04:20.987Z",
          status: "ok",
          model: "m",
          usage: { input_tokens: 1, output_tokens: 2, cost_micro_usd: 500_000 },
          latency_ms: 7,
          mode: "observed",
          args: { x: 1 },
          result: "done",
          labels: {
            source: "s",
            task_id: "t",
            parallel_of: 2,
            labels: { trial: 0 },
            ts_source: "source",
            result_chars: 586
          }
        }
      }
    })
  })
  it("leaves out what is null, and refuses what is no trace", () => {
    const read = readTraceLine({ v: 1, agent: "a", id: "b", result: null })
    assert.isTrue(
      read.ok &&
        !("result" in read.trace.decision) &&
        !("usage" in read.trace.decision) &&
        !("labels" in read.trace.decision)
    )
    for (const bad of [
      null,
      [],
      1,
      { v: 2, agent: "a" },
      { v: 1 },
      { v: 1, agent: "a", status: "fine" },
      { v: 1, agent: "a", cost_usd: "1" }
    ])
      assert.isFalse(readTraceLine(bad).ok)
  })
})
