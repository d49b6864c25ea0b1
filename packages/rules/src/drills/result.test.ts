import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import type { AgentDocument } from "../agents/document.ts"
import { DRILL_AGE_MS } from "../agents/tier-gate.ts"
import { hasAttestedDrill, isDrillOverdue } from "./document.ts"
import { drillResult, nearestRank } from "./result.ts"

const instance = (instanceId: string) => ({ agentId: "agt_1", instanceId })
const ack = (instanceId: string, acknowledgedAtMs: number) => ({ ...instance(instanceId), acknowledgedAtMs })

describe("the result of a drill", () => {
  it("is empty, and its hypothesis not met, when no instance was expected and none acknowledged", () => {
    assert.deepStrictEqual(drillResult({ activatedAtMs: 5, expectedInstances: [], unlisted: 0 }, [], 1_000), {
      expected: 0,
      acknowledged: 0,
      missed: [],
      unlisted: 0,
      p50Ms: null,
      p95Ms: null,
      maxMs: null,
      met: false
    })
  })

  it("counts an unexpected instance, and does not meet its hypothesis with one unlisted", () => {
    const measured = { activatedAtMs: 100, expectedInstances: [instance("a")], unlisted: 0 }
    const acks = [ack("a", 110), ack("new", 130)]
    assert.deepInclude(drillResult(measured, acks, 30), { expected: 2, acknowledged: 2, maxMs: 30, met: true })
    assert.isFalse(drillResult({ ...measured, unlisted: 1 }, acks, 30).met)
    assert.isFalse(drillResult(measured, acks, 29).met)
    assert.isFalse(drillResult(measured, acks.slice(1), 30).met)
  })

  it("reports a latency of 0 when the clock stepped back", () => {
    const measured = { activatedAtMs: 100, expectedInstances: [], unlisted: 0 }
    assert.deepInclude(drillResult(measured, [ack("a", 40)], 1), { maxMs: 0, met: true })
  })

  it("has percentiles by nearest rank", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 1 }), fc.integer({ min: 1, max: 100 }), (values, percent) => {
        const sorted = values.toSorted((a, b) => a - b)
        const rank = nearestRank(sorted, percent)!
        const share = (holds: (value: number) => boolean) => (sorted.filter(holds).length * 100) / sorted.length
        assert.isAtLeast(
          share((value) => value <= rank),
          percent
        )
        assert.isBelow(
          share((value) => value < rank),
          percent
        )
      }),
      { seed: 20_261_126 }
    )
  })
})

describe("an attested drill", () => {
  const agent = (more: object) => ({ autonomyTier: "L4", status: "active", ...more }) as unknown as AgentDocument

  it("is valid for 30 days, inclusive, and is overdue only for an active L4 agent", () => {
    const drilled = agent({ drillAttestedAtMs: 1_000 })
    assert.isTrue(hasAttestedDrill(drilled, 1_000 + DRILL_AGE_MS))
    assert.isFalse(hasAttestedDrill(drilled, 1_001 + DRILL_AGE_MS))
    assert.isFalse(isDrillOverdue(drilled, 1_000 + DRILL_AGE_MS))
    assert.isTrue(isDrillOverdue(drilled, 1_001 + DRILL_AGE_MS))
    assert.isTrue(isDrillOverdue(agent({}), 0))
    assert.isFalse(isDrillOverdue(agent({ autonomyTier: "L3" }), 0))
    assert.isFalse(isDrillOverdue(agent({ status: "decommissioned" }), 0))
  })
})
