/**
 * The gate's comparison where its budget ends, and where nothing can be compared. The whole comparison against
 * the service: property-tests, `replay-verdicts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { readEnvelope } from "@flyball/envelope"
import { refunds } from "./testing/refunds.ts"
import { type GateView, judgePublication } from "@flyball/rules"

const envelopeOf = (json: unknown) => {
  const { envelope, findings } = readEnvelope(json)
  assert.deepStrictEqual(findings, [])
  return envelope!
}
const noLimits = { nodes: 200_000, work: 100_000_000 }
/** Spent at the first node. */
const nothing = { nodes: 1, work: 1 }

/** Rules that bound each of their signals on both sides: no search within single rules proves that they agree. */
const dense = (upTo: number) => ({
  semantics: "envelope/1",
  signals: Object.fromEntries(
    ["a", "b", "c"].map((name) => [name, { type: "int", min: 0, max: 100, source: "caller" }])
  ),
  effects: { "*": "read" },
  rules: Array.from({ length: 6 }, (_, i) => ({
    id: `r${i}`,
    outcome: "allow",
    when: ["a", "b", "c"].map((signal, place) => ({
      signal,
      between: [(i * 7 + place * 5) % 50, ((i * 11 + place * 3) % 50) + upTo]
    }))
  })),
  default: { outcome: "deny" }
})
const view = (before: unknown, more: Partial<GateView> = {}): GateView => ({
  outer: [],
  own: { envelopeId: "env_1", digest: "0", envelope: envelopeOf(before) },
  isWithdrawn: false,
  inner: [],
  ...more
})

describe("comparing a publication again", () => {
  it("proves what is equal, tighter or looser", () => {
    const change = (from: unknown, to: unknown) => judgePublication(envelopeOf(to), view(from), noLimits)
    assert.deepInclude(change(dense(50), dense(50)), { change: "equal", isOpen: false })
    assert.deepInclude(change(dense(50), dense(49)), { change: "tightening_only", isOpen: false })
    assert.deepInclude(change(dense(49), dense(50)), { change: "loosens", isOpen: false })
  })

  it("is open where the budget ends, and not where the texts alone show a difference", () => {
    assert.deepInclude(judgePublication(envelopeOf(dense(49)), view(dense(50)), nothing), {
      change: "unknown",
      isOpen: true
    })
    const { meters } = refunds() as { readonly meters: { readonly spent: object } }
    assert.deepInclude(
      judgePublication(
        envelopeOf(refunds({ meters: { spent: { ...meters.spent, window_ms: 1 } } })),
        view(refunds()),
        nothing
      ),
      { change: "unknown", isOpen: false }
    )
  })

  it("takes what was withdrawn, or is gone, for nothing that permits", () => {
    assert.deepInclude(
      judgePublication(envelopeOf(dense(50)), view(dense(50), { own: null, isWithdrawn: true }), noLimits),
      { change: "loosens" }
    )
    assert.deepInclude(
      judgePublication(
        envelopeOf(dense(50)),
        view(dense(50), { own: { envelopeId: "env_1", digest: "0", envelope: null } }),
        noLimits
      ),
      { change: "loosens" }
    )
  })

  it("answers nothing of a version that fits nothing", () => {
    const other = { ...dense(50), signals: { ...dense(50).signals, a: { type: "bool", source: "caller" } }, rules: [] }
    assert.strictEqual(
      judgePublication(
        envelopeOf(other),
        view(dense(50), { outer: [{ envelopeId: "env_2", digest: "1", envelope: envelopeOf(dense(50)) }] }),
        noLimits
      ),
      null
    )
  })
})
