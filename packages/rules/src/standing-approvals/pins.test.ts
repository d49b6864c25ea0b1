import { assert, describe, it } from "vitest"
import type { StandingApprovalDocument } from "./document.ts"
import { standingStatus } from "./document.ts"
import { type Awaiting, whyNotApproved } from "./approves.ts"
import { holds, liesInBox, type Pin, pinnedSignal, shapeOf, valueAt } from "./pins.ts"

const inputs = {
  action: "pay",
  signals: { tool: "refund", amount: 3_000 },
  args: { to: { id: "c1" }, lines: [{ cents: 5 }], "a/b": 1, "m~n": 2, note: null }
}
const box = (...pins: ReadonlyArray<Pin>) => ({ ...shapeOf(inputs), pins })

describe("pins", () => {
  it("name a value by a JSON pointer", () => {
    assert.equal(valueAt(inputs, "/args/to/id"), "c1")
    assert.equal(valueAt(inputs, "/args/lines/0/cents"), 5)
    assert.equal(valueAt(inputs, "/args/a~1b"), 1)
    assert.equal(valueAt(inputs, "/args/m~0n"), 2)
    for (const path of ["/args/lines/1/cents", "/args/lines/00/cents", "/args/to/id/x", "/args/constructor", "/args/x"])
      assert.isUndefined(valueAt(inputs, path), path)
    assert.equal(pinnedSignal({ path: "/signals/amount", eq: 1 }), "amount")
    assert.isNull(pinnedSignal({ path: "/args/amount", eq: 1 }))
    assert.isNull(pinnedSignal({ path: "/signals/a/b", eq: 1 }))
  })

  it("match a present, exact value of the same type", () => {
    const at = (pin: Pin, more: object = {}) => holds(pin, { ...inputs, signals: { ...inputs.signals, ...more } })
    assert.isTrue(at({ path: "/signals/amount", eq: 3_000 }))
    assert.isTrue(at({ path: "/signals/amount", at_most: 3_000 }))
    assert.isFalse(at({ path: "/signals/amount", at_most: 2_999 }))
    assert.isTrue(at({ path: "/signals/amount", one_of: [1, 3_000] }))
    assert.isFalse(at({ path: "/args/note", eq: "null" }))
    assert.isFalse(at({ path: "/args/other", one_of: ["", 0, false] }))
    assert.isFalse(at({ path: "/signals/amount", eq: "3000" }))
    assert.isFalse(at({ path: "/signals/amount", at_most: 5_000 }, { amount: "1" }))
    const inexact = 2 ** 53
    assert.isFalse(at({ path: "/signals/amount", eq: inexact }, { amount: inexact }))
    assert.isFalse(at({ path: "/args/to", eq: "c1" }))
  })

  it("admit only the same action with the same set of arguments", () => {
    assert.isTrue(liesInBox(box(), inputs))
    assert.isTrue(liesInBox(box(), { ...inputs, args: { ...inputs.args, note: "other" } }))
    assert.isFalse(liesInBox(box(), { ...inputs, action: "close" }))
    assert.isFalse(liesInBox(box(), { ...inputs, args: { ...inputs.args, more: 1 } }))
    assert.isFalse(liesInBox(box(), { ...inputs, args: { to: 1 } }))
    assert.isFalse(liesInBox(box(), { ...inputs, args: undefined }))
    assert.isFalse(liesInBox({ action: "pay", args: null, pins: [] }, inputs))
    assert.isTrue(liesInBox({ action: "pay", args: null, pins: [] }, { ...inputs, args: undefined }))
    assert.isFalse(liesInBox({ ...box(), pins: null }, inputs))
  })
})

const standing: StandingApprovalDocument = {
  agentId: "agt_1",
  reviewId: "rev_1",
  evaluationId: "evl_1",
  layers: [{ digest: "d", envelopeId: "env_1", version: 2 }],
  asks: [3],
  boxDigest: "b",
  ...box({ path: "/signals/amount", at_most: 5_000 }),
  reason: "r",
  count: 2,
  left: 1,
  expiresAtMs: 100,
  status: "granted",
  proposedBy: "usr_1",
  grantedBy: "usr_2",
  revokedBy: null,
  revokeReason: null
}
const awaiting: Awaiting = {
  agentId: "agt_1",
  layers: [{ envelopeId: "env_1", version: 2 }],
  asks: [3],
  inputs,
  isRedacted: false,
  atMs: 99
}

describe("a standing approval", () => {
  it("approves inputs in its box while it is in force and has uses left, and otherwise gives the reason", () => {
    const why = (more: Partial<Awaiting>, of: Partial<StandingApprovalDocument> = {}) =>
      whyNotApproved({ ...standing, ...of }, { ...awaiting, ...more })
    assert.isNull(why({}))
    assert.equal(why({ agentId: "agt_2" }), "other_agent")
    assert.equal(why({ atMs: 100 }), "not_in_force")
    for (const of of [{ left: 0 }, { status: "proposed" }, { status: "revoked" }] as const)
      assert.equal(why({}, of), "not_in_force")
    assert.equal(why({ layers: [{ envelopeId: "env_1", version: 3 }] }), "other_envelope")
    assert.equal(why({ layers: [...awaiting.layers, { envelopeId: "env_2", version: 1 }] }), "other_envelope")
    assert.equal(why({ asks: [3, 4] }), "other_rules")
    assert.isNull(why({ asks: [] }))
    assert.equal(why({ inputs: { ...inputs, signals: { amount: 5_001 } } }), "outside_box")
    assert.equal(why({ isRedacted: true }), "outside_box")
  })

  it("has the status revoked, used up or expired, in this order of precedence", () => {
    assert.equal(standingStatus({ ...standing, status: "revoked", left: 0 }, 100), "revoked")
    assert.equal(standingStatus({ ...standing, left: 0 }, 100), "used_up")
    assert.equal(standingStatus(standing, 100), "expired")
    assert.equal(standingStatus(standing, 99), "granted")
    assert.equal(standingStatus({ ...standing, status: "proposed" }, 99), "proposed")
  })
})
