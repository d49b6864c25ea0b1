/** Reviewed actions are kept whole or not at all, and never beyond the bound. */
import { canonicalBytes } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import type { PartContent } from "../records/record.ts"
import { evaluationBody } from "../evaluations/evaluation-body.ts"
import { ReviewedActions } from "./reviewed-actions.ts"

const body = (evaluation_id: string, more: object = {}) =>
  evaluationBody({ evaluation_id, as_of_ms: 1, layers: [], tier: "L2", ...more })
const present = (value: string | object): PartContent => ({ state: "present", bytes: canonicalBytes(value as never) })
const shown = (amount: number, more: { readonly [name: string]: PartContent } = {}) =>
  new Map(Object.entries({ signals: present({ amount }), ...more }))

describe("reviewed actions", () => {
  it("are kept as copies, with the result of their evaluation", () => {
    const actions = new ReviewedActions()
    const parts = shown(7, { action: present("refund"), args: present({ to: "c-1" }) })
    actions.opened(body("evl_1", { effective_tier: "L1", waivers: ["wvr_1"] }), parts)
    for (const part of parts.values()) if (part.state === "present") part.bytes.fill(0)
    assert.deepStrictEqual(actions.get("evl_1"), {
      body: { as_of_ms: 1, effective_tier: "L1", layers: [], tier: "L2", waivers: ["wvr_1"] },
      inputs: { action: "refund", args: { to: "c-1" }, signals: { amount: 7 } }
    })
    actions.opened(body("evl_2"), shown(8))
    assert.deepStrictEqual(actions.get("evl_2")!.inputs, { action: null, args: undefined, signals: { amount: 8 } })
  })

  it("have no inputs when a part is not disclosed or arguments were redacted", () => {
    const actions = new ReviewedActions()
    for (const state of ["withheld", "erased", "missing"] as const) {
      actions.opened(body("evl_1"), shown(7, { args: { state } }))
      assert.isNull(actions.get("evl_1")!.inputs)
    }
    actions.opened(body("evl_2", { args_redacted: true }), shown(7))
    assert.isNull(actions.get("evl_2")!.inputs)
    actions.opened(body("evl_3"), new Map())
    assert.isNull(actions.get("evl_3")!.inputs)
  })

  it("are dropped, oldest first, above the limit in bytes, or once no proposal can use them", () => {
    const bytes = canonicalBytes({ amount: 7 }).length
    const actions = new ReviewedActions(2 * bytes)
    const kept = () => ["evl_1", "evl_2", "evl_3"].filter((id) => actions.get(id) !== null)
    for (const id of ["evl_1", "evl_2", "evl_3"]) actions.opened(body(id), shown(7))
    assert.deepStrictEqual(kept(), ["evl_2", "evl_3"])
    actions.closed("evl_2")
    actions.opened(body("evl_1"), shown(7))
    assert.deepStrictEqual(kept(), ["evl_1", "evl_3"])
    actions.opened(body("evl_2"), shown(700_000))
    assert.deepStrictEqual(kept(), ["evl_2"])
  })
})
