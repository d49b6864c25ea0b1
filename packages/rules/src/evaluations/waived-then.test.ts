/** Waivers that held when a client decided by itself: `GovernedState.isWaived`. */
import { canonicalBytes, portableCrypto } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import type { ReplayRecord } from "../records/record.ts"
import { GovernedState } from "./governed-state.ts"

const EXPIRES_MS = Date.UTC(2026, 10, 26, 12)

const waiver = (seq: number, kind: "requested" | "granted", more: { readonly [name: string]: string } = {}) =>
  ({
    seq,
    kind: `waiver.${kind}`,
    body: {
      envelope_id: "env_1",
      expires_at: "2026-11-26T12:00:00.000Z",
      rule_id: "large",
      version: 2,
      waiver_id: "wvr_1",
      writer: "user:ann",
      ...(kind === "granted" ? { requested_by: "user:ben" } : {}),
      ...more
    },
    parts: new Map([
      ["waiver", { state: "present", bytes: canonicalBytes({ reason: "a campaign", unless: [] } as never) }]
    ])
  }) satisfies ReplayRecord

const stateOf = (...records: ReadonlyArray<ReplayRecord>): GovernedState => {
  const state = new GovernedState(portableCrypto.sha256)
  for (const one of records) state.fold(one)
  return state
}

describe("a waiver applies", () => {
  const state = stateOf(waiver(4, "requested"), waiver(6, "granted"))
  const before = EXPIRES_MS - 1

  it("from the record that granted it, not from its request", () => {
    assert.deepStrictEqual(
      [4, 5, 6, 7].map((seq) => state.isWaived("env_1", 2, seq, before)),
      [false, false, true, true]
    )
    assert.isFalse(stateOf(waiver(4, "requested")).isWaived("env_1", 2, 9, before))
  })

  it("until its expiry, exclusive", () => {
    assert.deepStrictEqual(
      [before, EXPIRES_MS, EXPIRES_MS + 1].map((atMs) => state.isWaived("env_1", 2, 9, atMs)),
      [true, false, false]
    )
  })

  it("only to its own envelope and version", () => {
    assert.isFalse(state.isWaived("env_1", 1, 9, before))
    assert.isFalse(state.isWaived("env_1", 3, 9, before))
    assert.isFalse(state.isWaived("env_2", 2, 9, before))
  })

  it("when one of several waivers does, even after its exception was erased", () => {
    const two = stateOf(
      waiver(4, "granted", { expires_at: "2026-11-26T01:00:00.000Z" }),
      waiver(6, "granted", { waiver_id: "wvr_2" }),
      { seq: 7, kind: "part.erased", body: { seq: 6, name: "waiver" }, parts: new Map() }
    )
    assert.isTrue(two.isWaived("env_1", 2, 9, before))
    assert.isFalse(two.isWaived("env_1", 2, 5, before))
  })
})
