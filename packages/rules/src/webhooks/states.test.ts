import { portableCrypto } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import {
  afterAttempt,
  type DeliveryAct,
  deliveryAfter,
  type DeliveryState,
  deliveryTransitions
} from "./delivery-states.ts"
import {
  type EndpointAct,
  endpointAfter,
  endpointFails,
  type EndpointStatus,
  endpointTransitions
} from "./endpoint-states.ts"
import { exactSchedule } from "./retry-schedule.ts"

const states: ReadonlyArray<DeliveryState> = ["pending", "in_flight", "succeeded", "failed", "cancelled"]
const statuses: ReadonlyArray<EndpointStatus> = ["active", "failed", "disabled", "revoked"]

/** Written out on its own, so that a changed row of the table is seen. A dot: not taken. */
const deliveryRows: { readonly [act in DeliveryAct]: string } = {
  //       pending    in_flight  succeeded failed cancelled
  claim: "in_flight . . . .",
  succeed: "succeeded succeeded . . .",
  retry: ". pending . . .",
  fail: ". failed . . .",
  cancel: "cancelled cancelled . . ."
}
const endpointRows: { readonly [act in EndpointAct]: string } = {
  //       active     failed     disabled   revoked
  fail: "failed . . .",
  disable: "disabled . . .",
  enable: ". active active .",
  revoke: "revoked revoked revoked .",
  "rotate-secret": "active failed disabled .",
  "complete-rotation": "active failed disabled .",
  test: "active failed disabled .",
  redeliver: "active . . .",
  recover: "active . . ."
}

describe("the states of a delivery", () => {
  it.each(Object.keys(deliveryTransitions) as ReadonlyArray<DeliveryAct>)("allow %s as its row defines", (act) => {
    assert.strictEqual(states.map((state) => deliveryAfter(act, state) ?? ".").join(" "), deliveryRows[act])
  })

  const ended = (attempt: number, errorCode: string | null) => ({
    deliveryId: "dlv_1",
    attempt,
    firstStartedAtMs: 0,
    endedAtMs: 1_000,
    statusCode: null,
    retryAfterMs: null,
    errorCode
  })
  const after = (attempt: number, errorCode: string | null, active = true) =>
    afterAttempt(ended(attempt, errorCode), active, exactSchedule, portableCrypto.sha256)

  it("follow from the result of an attempt", () => {
    assert.deepStrictEqual(after(1, null), { act: "succeed" })
    assert.deepStrictEqual(after(7, null), { act: "succeed" })
    assert.deepStrictEqual(after(1, "crashed"), { act: "retry", nextAttemptAtMs: 61_000 })
    assert.deepStrictEqual(after(6, "http_status"), { act: "retry", nextAttemptAtMs: 86_401_000 })
    assert.deepStrictEqual(after(7, "timeout"), { act: "fail" })
  })

  it("allow no retry for a webhook that is not active", () => {
    assert.deepStrictEqual(after(1, "connect", false), { act: "cancel" })
    assert.deepStrictEqual(after(7, "connect", false), { act: "fail" })
    assert.deepStrictEqual(after(1, null, false), { act: "succeed" })
  })
})

describe("the states of a webhook", () => {
  it.each(Object.keys(endpointTransitions) as ReadonlyArray<EndpointAct>)("allow %s as its row defines", (act) => {
    assert.strictEqual(statuses.map((status) => endpointAfter(act, status) ?? ".").join(" "), endpointRows[act])
  })

  it("become failed with any failed delivery, or only when no other succeeded, by setting", () => {
    assert.deepStrictEqual(
      [true, false].map((success) => endpointFails("any_delivery", success)),
      [true, true]
    )
    assert.deepStrictEqual(
      [true, false].map((success) => endpointFails("no_success_since", success)),
      [false, true]
    )
  })
})
