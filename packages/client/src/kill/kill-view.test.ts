import { assert, describe, it } from "vitest"
import { confirm, killDenial, type KillView, observe as observed, unknownView } from "./kill-view.ts"

const status = (more: object = {}) => ({
  target_type: "agent",
  target_id: "agt_1",
  halted: false,
  drill: false,
  activation_event: null,
  effective_response: null,
  epoch: 3,
  origin: "a/b",
  ...more
})
const observe = (view: KillView, status: unknown, sentAtMs: number) => observed("agt_1", view, status, sentAtMs)
const known = observe(unknownView, status(), 100).view
const stopped = (effective_response: string): KillView =>
  observe(known, status({ effective_response, halted: ["halt", "quarantine"].includes(effective_response) }), 100).view

describe("what a client knows of halts", () => {
  it("denies everything until a status was confirmed", () => {
    assert.strictEqual(killDenial(unknownView, "side_effect", 0, 15_000), "@stale_status")
    assert.strictEqual(killDenial(unknownView, "read", 0, 15_000), "@stale_status")
    assert.isNull(killDenial(known, "side_effect", 100, 15_000))
  })

  it("counts age from the sending of the request: side effects end at the bound, reads at four times the bound", () => {
    assert.isNull(killDenial(known, "side_effect", 15_100, 15_000))
    assert.strictEqual(killDenial(known, "side_effect", 15_101, 15_000), "@stale_status")
    assert.isNull(killDenial(known, "read", 60_100, 15_000))
    assert.strictEqual(killDenial(known, "read", 60_101, 15_000), "@stale_status")
  })

  it("denies where the clock is before the last confirmation: nothing says how old it is", () => {
    for (const effect of ["read", "side_effect"] as const)
      assert.strictEqual(killDenial(known, effect, 99, 15_000), "@stale_status")
  })

  it("becomes no younger by an answer whose request was sent earlier", () => {
    assert.strictEqual(confirm(known, 50).sentAtMs, 100)
    assert.strictEqual(observe(known, status(), 50).view.sentAtMs, 100)
    assert.strictEqual(confirm(known, 200).sentAtMs, 200)
    assert.isNull(confirm(unknownView, 200).sentAtMs)
  })

  it("rejects an epoch that went back, and another origin, and stays as old as it was", () => {
    for (const [more, rejected] of [
      [{ epoch: 2 }, "epoch_went_back"],
      [{ origin: "c/d" }, "origin_changed"]
    ] as const)
      assert.deepStrictEqual(observe(known, status(more), 900), { view: known, rejected })
  })

  it("rejects the status of another target", () => {
    for (const more of [{ target_id: "agt_2" }, { target_type: "model" }])
      assert.deepStrictEqual(observe(known, status(more), 900), { view: known, rejected: "other_target" })
  })

  it("rejects what is no status: a missing member, or members that contradict each other", () => {
    for (const wrong of [
      null,
      "halted",
      {},
      status({ target_id: undefined }),
      status({ epoch: -1 }),
      status({ epoch: 1.5 }),
      status({ origin: null }),
      status({ effective_response: "pause" }),
      status({ halted: true }),
      status({ effective_response: "halt" })
    ])
      assert.strictEqual(observe(known, wrong, 900).rejected, "not_a_status", JSON.stringify(wrong))
  })

  it("allows no new action under drain and stronger responses, however fresh the status is", () => {
    for (const response of ["drain", "halt", "quarantine"])
      assert.strictEqual(killDenial(stopped(response), "read", 100, 15_000), "@killed", response)
    for (const response of ["notify", "step_down"])
      assert.isNull(killDenial(stopped(response), "side_effect", 100, 15_000), response)
  })
})
