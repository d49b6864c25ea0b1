/**
 * Chains in which one person did what takes two, sealed again by who holds the key: everything else about them is in
 * order, and replay names it.
 */
import { Envelopes } from "@flyball/core"
import type { JsonObject } from "@flyball/evidence"
import { canonicalBytes, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { OpenPack, OpenRecord } from "@flyball/testkit"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { boundedLife } from "./bounded-life.ts"
import { ann, ben, exported, host, inBoundedWorld, refunds } from "./bounded-world.ts"
import { changed, lived, partOf, resealed, withBody, withPart } from "./changed-pack.ts"
import { replayed } from "./replayed.ts"

/** And a version that two wrote and a third published. */
const life = Effect.gen(function* () {
  const { envelopeId } = yield* boundedLife
  const envelopes = yield* Envelopes
  yield* envelopes.update(envelopeId, { envelope: refunds({ rules: [] }) }, ann)
  yield* envelopes.update(
    envelopeId,
    { envelope: refunds({ rules: [{ id: "all", outcome: "allow", when: [] }] }) },
    ben
  )
  yield* envelopes.publish(envelopeId, {}, { id: "system:third" })
})

let open: OpenPack
beforeAll(async () => {
  ;({ open } = await lived(life))
})

const seqOf = (kind: string, says: (body: JsonObject) => boolean = () => true): number => {
  const seq = open.records.findIndex((record) => record.kind === kind && says(record.body))
  if (seq === -1) throw new Error("The history has no such record.")
  return seq
}
const loosened = () => seqOf("envelope.published", ({ change, mode }) => change === "loosens" && mode === "enforced")
const granted = () => seqOf("waiver.granted")
const at = (seq: number, change: (record: OpenRecord) => OpenRecord): OpenPack => changed(open, seq, change)
const body = (seq: number, change: (body: JsonObject) => JsonObject): OpenPack => withBody(open, seq, change)

describe("four eyes", () => {
  it("are confirmed for every version and waiver of an unchanged chain", async () => {
    const { replay, status, text } = await resealed(open)
    const acts = open.records.filter(({ kind }) =>
      ["envelope.drafted", "envelope.published", "waiver.granted"].includes(kind)
    ).length
    expect([status, replay!.four_eyes]).toEqual([0, { acts, verdicts: { ok: acts }, mismatches: [], withheld: [] }])
    expect(text).toContain(`Four eyes       ${acts} drafts, publications and grants: ${acts} ok.`)
  })

  /** The pack is in order and every evaluation follows: only this is found. */
  const expectNamed = async (wrong: OpenPack, seq: number, verdict: string, reason: RegExp): Promise<void> => {
    const { integrity, replay, status, text } = await resealed(wrong)
    expect({ integrity, status, evaluations: replay!.mismatches }).toEqual({
      integrity: "ok",
      status: 1,
      evaluations: []
    })
    expect(replay!.four_eyes.mismatches.map((one) => [one.seq, one.verdict])).toEqual([[seq, verdict]])
    expect(replay!.four_eyes.mismatches[0]!.reason).toMatch(reason)
    expect(replay!.statement).toContain(`${verdict} at record ${seq}`)
    expect(text).toContain("Versions and waivers that were not made as the rules require: 1")
    expect(text).toContain("BAD. The pack is as its signer sealed it")
  }

  it("are missing when an author publishes a version that newly allows something", () =>
    expectNamed(
      body(loosened(), ({ approver: _, ...one }) => ({ ...one, writer: ann.id })),
      loosened(),
      "second_person_missing",
      /is among its authors/
    ))
  it("cover whom the version is for: another agent or org unit is reported", async () => {
    const drafted = () =>
      seqOf("envelope.drafted", ({ agent_id: agent, revision }) => agent !== undefined && Number(revision) > 1)
    const ofUnit = () => seqOf("envelope.published", ({ agent_id: agent }) => agent === undefined)
    const other = `agt_${"0".repeat(26)}`
    for (const seq of [loosened(), drafted()]) {
      await expectNamed(
        body(seq, (one) => ({ ...one, agent_id: other })),
        seq,
        "draft_mismatch",
        /^The envelope is for agt_.*; the record says agt_0+\.$/
      )
      await expectNamed(
        body(seq, ({ agent_id: _, ...one }) => one),
        seq,
        "draft_mismatch",
        /; the record says an org unit\.$/
      )
    }
    await expectNamed(
      body(ofUnit(), (one) => ({ ...one, agent_id: other })),
      ofUnit(),
      "draft_mismatch",
      /^The envelope is for an org unit; /
    )
  })
  it("are missing without an approver, or with one who did not publish", async () => {
    await expectNamed(
      body(loosened(), ({ approver: _, ...one }) => one),
      loosened(),
      "second_person_missing",
      /names no approver/
    )
    await expectNamed(
      body(loosened(), (one) => ({ ...one, approver: host.id })),
      loosened(),
      "second_person_missing",
      /published by/
    )
  })
  it("are missing when an author is left out of the authors", () =>
    expectNamed(
      body(loosened(), ({ authors: _, ...one }) => ({ ...one, authors: [host.id] })),
      loosened(),
      "authors_mismatch",
      new RegExp(`^${ann.id} wrote on it`)
    ))
  it("are missing when a draft omits an earlier author", () => {
    const seq = open.records.findLastIndex(({ kind }) => kind === "envelope.drafted")
    return expectNamed(
      body(seq, (one) => ({ ...one, authors: [ben.id] })),
      seq,
      "authors_mismatch",
      new RegExp(`^${ann.id} wrote on it`)
    )
  })
  it("cover the text: a draft that differs from the published version is reported", () => {
    const seq = seqOf("envelope.drafted")
    const other = canonicalBytes(refunds({ rules: [] }))
    const drafted = at(seq, (record) =>
      withPart({ ...record, body: { ...record.body, digest: toHex(nodeCrypto.sha256(other)) } }, "envelope", other)
    )
    return expectNamed(drafted, seqOf("envelope.published"), "draft_mismatch", /was published/)
  })
  it("cover the diff, the lint and the backtest: another digest is reported", async () => {
    for (const name of ["backtest", "diff", "lint"]) {
      await expectNamed(
        at(loosened(), (record) => withPart(record, name, canonicalBytes({ ...partOf(record, name), more: true }))),
        loosened(),
        "digest_mismatch",
        new RegExp(`^The part ${name} has the digest`)
      )
    }
  })
  it("are required when a change is falsely recorded as harmless", () =>
    expectNamed(
      body(loosened(), ({ approver: _, ...one }) => ({ ...one, change: "equal", writer: ann.id })),
      loosened(),
      "digest_mismatch",
      /^The diff says that the change is loosens; the record says equal/
    ))

  it("are missing when a waiver is granted by its requester, for any requester in the grant", async () => {
    await expectNamed(
      body(granted(), (one) => ({ ...one, writer: ann.id })),
      granted(),
      "second_person_missing",
      /requested it and granted it/
    )
    await expectNamed(
      body(granted(), (one) => ({ ...one, requested_by: host.id, writer: ann.id })),
      granted(),
      "second_person_missing",
      /says that .* requested/
    )
  })
  it("cover the exception: a wider grant than requested is reported", async () => {
    const wider = (record: OpenRecord) =>
      withPart(
        record,
        "waiver",
        canonicalBytes({ ...partOf(record, "waiver"), unless: [{ signal: "amount", lte: 10 }] })
      )
    await expectNamed(at(seqOf("waiver.requested"), wider), granted(), "waiver_mismatch", /differs from the request/)
    await expectNamed(
      body(seqOf("waiver.requested"), (one) => ({ ...one, expires_at: "2026-11-21T01:00:00.000Z" })),
      granted(),
      "waiver_mismatch",
      /for expires_at/
    )
  })
  it("require a request: a grant without one is reported", () =>
    expectNamed(
      body(seqOf("waiver.requested"), (one) => ({ ...one, waiver_id: `wvr_${"0".repeat(25)}9` })),
      granted(),
      "waiver_mismatch",
      /^No record before it/
    ))

  it("are withheld for a waiver that is not disclosed, while disclosed members are still checked", async () => {
    const shut = at(seqOf("waiver.requested"), (record) => withPart(record, "waiver", null))
    const { notChecked, replay, status } = await resealed(shut)
    expect([status, replay!.four_eyes.mismatches, replay!.four_eyes.withheld.map((one) => one.seq)]).toEqual([
      2,
      [],
      [granted()]
    ])
    expect(notChecked[0]).toMatch(/^It is unknown whether two people made 1 act/)
    const alone = await resealed(withBody(shut, granted(), (one) => ({ ...one, writer: ann.id })))
    expect([alone.status, alone.replay!.four_eyes.mismatches.map((one) => one.verdict)]).toEqual([
      1,
      ["second_person_missing"]
    ])
  })

  it("are not reported as missing in a range that begins after the draft or the request", async () => {
    for (const from of [loosened(), granted(), loosened() + 1]) {
      const range = await inBoundedWorld(
        Effect.andThen(life, exported({ kind: "range", from, to: open.records.length - 1 }))
      )
      const { replay } = await replayed(range.pack, range.vkey)
      expect(replay!.four_eyes.mismatches).toEqual([])
      if (from !== loosened() + 1) expect(replay!.four_eyes.withheld[0]!.seq).toBe(from)
    }
  })
})

describe("the id of an evaluation", () => {
  it("is reported when it does not derive from chain, agent and reference", async () => {
    const seq = open.records.findLastIndex(({ kind }) => kind === "evaluation.made")
    for (const change of [{ evaluation_id: `evl_${"0".repeat(25)}9` }, { client_ref: "another" }]) {
      const { replay, status } = await resealed(body(seq, (one) => ({ ...one, ...change })))
      // A review that it opened has the id of another one then.
      const others = replay!.mismatches.filter((one) => one.verdict !== "review_mismatch" || one.seq <= seq)
      expect([status, others.map((one) => [one.seq, one.verdict])]).toEqual([1, [[seq, "id_mismatch"]]])
    }
  })
})
