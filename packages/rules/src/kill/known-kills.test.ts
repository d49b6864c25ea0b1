import { assert, describe, it } from "vitest"
import type { JsonMap, ReplayRecord } from "../records/record.ts"
import { KnownKills } from "./known-kills.ts"

const record = (seq: number, kind: string, body: JsonMap): ReplayRecord => ({ seq, kind, body, parts: new Map() })
const activated = (seq: number, id: string, more: JsonMap = {}): ReplayRecord =>
  record(seq, "kill.activated", {
    activated_at: "2026-11-26T00:00:00.000Z",
    activation_id: id,
    epoch: seq,
    response: "halt",
    target_id: "agt_1",
    target_type: "agent",
    writer: "user:ann",
    ...more
  })
const released = (seq: number, id: string): ReplayRecord =>
  record(seq, "kill.released", { activation_id: id, epoch: seq, writer: "user:ann" })

const folded = (...records: ReadonlyArray<ReplayRecord>): KnownKills => {
  const kills = new KnownKills()
  for (const one of records) kills.fold(one)
  return kills
}
const idsAt = (kills: KnownKills, seq: number): ReadonlyArray<string> =>
  kills
    .at(seq)
    .map(({ id }) => id)
    .toSorted()

describe("the activations in force as of a record", () => {
  it("are those activated and not yet released", () => {
    const kills = folded(activated(3, "kil_1"), activated(5, "kil_2"), released(8, "kil_1"), activated(9, "kil_3"))
    assert.deepStrictEqual(
      [2, 3, 4, 5, 7, 8, 9, 100].map((seq) => idsAt(kills, seq)),
      [
        [],
        ["kil_1"],
        ["kil_1"],
        ["kil_1", "kil_2"],
        ["kil_1", "kil_2"],
        ["kil_2"],
        ["kil_2", "kil_3"],
        ["kil_2", "kil_3"]
      ]
    )
  })

  it("keep all members of their record, even after a release", () => {
    const kills = folded(activated(3, "kil_1", { response: "drain", highest_tier: "L2" }), released(8, "kil_1"))
    assert.deepStrictEqual(kills.at(7), [
      {
        id: "kil_1",
        seq: 3,
        target: { type: "agent", id: "agt_1" },
        epoch: 3,
        response: "drain",
        drill: null,
        requestedBy: null,
        actor: "user:ann",
        highestTier: "L2",
        activatedAtMs: Date.UTC(2026, 10, 26)
      }
    ])
    assert.isTrue(kills.knows("kil_1"))
    assert.isTrue(kills.isQuiet)
    assert.isUndefined(kills.live("kil_1"))
  })

  it("are not changed by a release of an unknown activation or by other kinds of record", () => {
    const kills = folded(
      activated(3, "kil_1"),
      released(4, "kil_9"),
      record(5, "kill.stopped", { activation_id: "kil_1" })
    )
    assert.deepStrictEqual(idsAt(kills, 6), ["kil_1"])
    assert.isFalse(kills.knows("kil_9"))
    assert.strictEqual(kills.nextEpoch, 5)
  })
})
