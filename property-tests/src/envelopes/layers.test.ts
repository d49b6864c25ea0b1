/** Layers with declarations of their own: whatever one of them says alone, all together say no less. */
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { declarations, type EnvelopeJson, layerInputs, type LayerInputs, layerJson } from "./arbitrary.ts"
import { askLayers, DENY, readLayer, readyOf, severityOf } from "./asking.ts"
import { runs } from "../runs.ts"

const SEED = 20_261_122

describe("layers with different domains, rules of absence and meters", () => {
  it("combine to the most restrictive of their outcomes, or are refused as incompatible", () => {
    let [fit, misfit, compared, equal, stopped] = [0, 0, 0, 0, 0]
    fc.assert(
      fc.property(
        fc.array(layerJson, { minLength: 2, maxLength: 3 }),
        fc.array(layerInputs, { minLength: 20, maxLength: 20 }),
        (jsons, requested) => {
          const envelopes = jsons.map(readLayer)
          const together = readyOf(envelopes)
          const alone = envelopes.map((one) => readyOf([one]))
          if (together === null || alone.includes(null)) return void misfit++
          fit++
          for (const input of requested) {
            const said = askLayers(together, input)
            const each = alone.map((one) => askLayers(one!, input))
            // A value that a layer does not have is denied by it alone. With another layer inside that has it, its
            // rules say what they say of it.
            const heard = each.filter(({ matchedRule }) => matchedRule !== "@invalid_signal")
            // An evaluation that ends before any rule is checked is denied; halt does no more to the action.
            const most = said.stopped === null ? Number.POSITIVE_INFINITY : DENY
            for (const one of heard)
              assert.isAtLeast(severityOf(said), Math.min(severityOf(one), most), JSON.stringify(input))
            compared++
            if (said.stopped !== null) {
              stopped++
              assert.isTrue(each.some((one) => one.stopped !== null))
            }
            if (heard.length < each.length) continue
            assert.equal(severityOf(said), Math.min(Math.max(...each.map(severityOf)), most), JSON.stringify(input))
            equal++
          }
        }
      ),
      { seed: SEED, numRuns: runs(200, 1_000) }
    )
    for (const count of [fit, misfit]) assert.isAbove(count, runs(30, 150))
    for (const count of [compared, equal, stopped]) assert.isAbove(count, runs(100, 500))
  })
  const { derived: _, meters: __, ...bare } = declarations
  const allowing = (json: object, ...rules: ReadonlyArray<{ readonly [name: string]: unknown }>) =>
    readLayer({
      ...json,
      rules: [{ id: "all", outcome: "allow", when: [] }, ...rules],
      default: { outcome: "deny" }
    } as EnvelopeJson)
  const withSignals = (json: object, signals: object) => ({ ...json, signals: { ...declarations.signals, ...signals } })
  const input: LayerInputs = {
    tool: "order.read",
    level: "public",
    amount: 0,
    limit: 0,
    paid: 3,
    due: 1,
    urgent: false,
    missing: [],
    tier: 0,
    spent: 0,
    count: 0
  }

  it("do not count an absent tool as one that the inner layer lacks", () => {
    const outer = allowing(withSignals(declarations, { tool: { ...declarations.signals.tool, optional: true } }))
    const inner = allowing({
      ...withSignals(bare, { tool: { ...declarations.signals.tool, values: ["order.read"], optional: true } }),
      effects: { "order.read": "read" }
    })
    const { meters } = askLayers(readyOf([outer, inner])!, { ...input, missing: ["tool"] })
    assert.deepEqual(
      meters.map(({ contributes }) => contributes),
      [false]
    )
  })

  it("bound a ratio by the layer that declares it, even for amounts that only an inner layer allows", () => {
    const outer = allowing(declarations, {
      id: "most",
      outcome: "require_review",
      when: [{ signal: "share", eq: 60_000 }]
    })
    const inner = allowing(withSignals(bare, { paid: { ...declarations.signals.paid, max: 10 } }))
    for (const [paid, due, rule] of [
      [10, 1, "most"],
      [10, 0, "most"],
      [6, 1, "most"],
      [5, 1, "all"]
    ] as const) {
      assert.equal(askLayers(readyOf([outer, inner])!, { ...input, paid, due }).matchedRule, rule)
    }
  })
})
