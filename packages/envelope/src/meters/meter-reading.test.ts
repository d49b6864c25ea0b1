import { assert, describe, it } from "vitest"
import { compile } from "../compile/compile.ts"
import { decide, prepare } from "../decide/decide.ts"
import { readEnvelope } from "../language/read-envelope.ts"

const most = Number.MAX_SAFE_INTEGER
const { envelope } = readEnvelope({
  semantics: "envelope/1",
  effects: { "*": "read" },
  signals: { n: { type: "int", min: 0, max: most - 1, source: "caller" } },
  meters: { m: { op: "sum", of: "n", window_ms: 1_000, key: ["agent_id"], max_count: 1 } },
  rules: [{ id: "all", outcome: "allow", when: [] }],
  default: { outcome: "deny" }
})
const ready = prepare(compile([envelope!]).combination!)
const read = (value: number, n: number) =>
  decide(
    ready,
    { signals: { n }, runId: null },
    {
      kill: "none",
      agent: { id: "agt_1", orgUnit: "ops", isActive: true },
      server: {},
      latches: new Set(),
      windows: () => ({ value, count: 0 }),
      approved: false
    }
  ).meters[0]

describe("what a meter says after an action", () => {
  it("is at most 2^53 - 1, which is over, and exact below", () => {
    for (const [value, n, after] of [
      [0, most - 1, most - 1],
      [1, most - 1, most],
      [3, most - 1, most],
      [most - 1, most - 1, most],
      [most, 0, most]
    ] as const) {
      assert.deepInclude(read(value, n), { value, amount: n, after, over: after === most })
    }
  })
})
