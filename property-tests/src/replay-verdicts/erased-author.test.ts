/**
 * Chains in which somebody approved, under another pseudonym, what they had begun before their identity was erased: the
 * service refuses that, and replay names it where it was sealed all the same.
 */
import { Envelopes, Erasure, Principals, systemHost, Waivers } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import type { JsonObject } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { OpenPack } from "@flyball/testkit"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import type { Act } from "../../../apps/verify/src/replay/act.ts"
import { FourEyes } from "../../../apps/verify/src/replay/four-eyes.ts"
import { activeAgent, exported, inBoundedWorld, refunds } from "./bounded-world.ts"
import { asRead, calledEqual, changed, lived, resealed, withBody } from "./changed-pack.ts"
import { replayed } from "./replayed.ts"

const person = (subject: string) => Principals.use((principals) => principals.writerFor("https://idp.example", subject))

/** Erases who the person that was seen last is. */
const eraseLastSeen = Effect.gen(function* () {
  const [record] = yield* Storage.use((storage) =>
    storage.records({ kinds: ["principal.seen"], order: "desc", limit: 1 })
  )
  yield* Erasure.use((erasure) =>
    erasure.erase({ seq: record!.seq, name: "identity", reason: "subject_request" }, systemHost)
  )
})

/**
 * Eve writes, is erased and comes again; Ben, who was seen before that, approves. What takes one person Eve does
 * herself.
 */
const life = Effect.gen(function* () {
  const envelopes = yield* Envelopes
  const waivers = yield* Waivers
  const agentId = yield* activeAgent("refund bot")
  const ben = yield* person("ben")
  const eve = yield* person("eve")
  const { id } = yield* envelopes.create({ name: "Refunds", agent_id: agentId, envelope: refunds() }, eve)
  yield* eraseLastSeen
  const again = yield* person("eve")
  yield* envelopes.publish(id, {}, ben)
  yield* envelopes.update(id, { envelope: refunds({ params: { unused: 1 } }) }, again)
  const { id: waiverId } = yield* waivers.request(
    id,
    {
      rule_id: "cap",
      unless: [{ signal: "amount", lte: 50 }],
      expires_at: "2026-11-21T06:00:00.000Z",
      reason: "quarter end"
    },
    again
  )
  yield* eraseLastSeen
  const third = yield* person("eve")
  yield* waivers.grant(id, waiverId, ben)
  yield* envelopes.publish(id, {}, third)
  return { again: again.id, ben: ben.id, eve: eve.id, third: third.id }
})

let open: OpenPack
let who: Effect.Success<typeof life>
beforeAll(async () => {
  ;({ answer: who, open } = await lived(life))
})

const seqOf = (kind: string, nth = 0): number =>
  open.records.flatMap((record, seq) => (record.kind === kind ? [seq] : []))[nth]!
const first = () => seqOf("envelope.published")
const harmless = () => seqOf("envelope.published", 1)
const granted = () => seqOf("waiver.granted")
const body = (seq: number, more: JsonObject): OpenPack => withBody(open, seq, (one) => ({ ...one, ...more }))
const approvedBy = (id: string): OpenPack => body(first(), { writer: id, approver: id })
/** Judgement of an act where the records before `from` are not shown. */
const judgedFrom = (from: number, pack: OpenPack, seq: number): Act | undefined => {
  const eyes = new FourEyes({
    compare: () => ({ notCompared: "It lies before." }),
    fromGenesis: false,
    sha256: nodeCrypto.sha256
  })
  return asRead(pack)
    .slice(from)
    .flatMap((record) => eyes.take(record) ?? [])
    .find((one) => one.seq === seq)
}
/** Two records that follow each other change places; erasures name, and are named by, where they are then. */
const swapped = (seq: number, from: OpenPack): OpenPack => {
  const moved = (place: number) => (place === seq ? seq + 1 : place === seq + 1 ? seq : place)
  const records = from.records
    .map((_, place) => from.records[moved(place)]!)
    .map((record) => ({
      ...record,
      body: record.kind === "part.erased" ? { ...record.body, seq: moved(Number(record.body["seq"])) } : record.body,
      parts: record.parts.map((part) => ({
        ...part,
        erasingSeq: part.erasingSeq === null ? null : moved(part.erasingSeq)
      }))
    }))
  return { ...from, records }
}

const expectNamed = async (wrong: OpenPack, seq: number, reason: string): Promise<void> => {
  const { integrity, replay, status, text } = await resealed(wrong)
  expect({ integrity, status, named: replay!.four_eyes.mismatches.map((one) => [one.seq, one.verdict]) }).toEqual({
    integrity: "ok",
    status: 1,
    named: [[seq, "second_person_missing"]]
  })
  expect(replay!.four_eyes.mismatches[0]!.reason).toContain(reason)
  expect(text).toContain("It requires two people, and one did it.")
}
const mayBeOne = (began: string, writer: string): string =>
  `The identity of ${began} was erased before ${writer} was first seen: they may be one person.`

describe("a person first seen after the identity of an author was erased", () => {
  it("causes no finding about acts that the service accepted", async () => {
    expect([
      open.records[first()]!.body["change"],
      open.records[harmless()]!.body["change"],
      open.records[harmless()]!.body["approver"]
    ]).toEqual(["loosens", "equal", who.third])
    const { replay, status } = await resealed(open)
    expect([status, replay!.four_eyes]).toEqual([0, { acts: 5, verdicts: { ok: 5 }, mismatches: [], withheld: [] }])
  })

  it("approves no version as a second person", () =>
    expectNamed(approvedBy(who.again), first(), mayBeOne(who.eve, who.again)))
  it("grants no waiver as a second person, for any requester in the grant", async () => {
    await expectNamed(body(granted(), { writer: who.third }), granted(), mayBeOne(who.again, who.third))
    await expectNamed(
      body(granted(), { writer: who.third, requested_by: who.ben }),
      granted(),
      mayBeOne(who.again, who.third)
    )
  })
  it("makes replay compare again a version that one person published", async () => {
    const calledHarmless = changed(approvedBy(who.again), first(), calledEqual)
    await expectNamed(
      calledHarmless,
      first(),
      `${mayBeOne(who.eve, who.again)} One person published it as equal. Compared again with the versions before ` +
        "it, it is loosens: "
    )
  })

  it("counts as another person when seen before the erasure, or when identified by the host", async () => {
    const erasure = seqOf("part.erased")
    expect(open.records[erasure + 1]!.kind).toBe("principal.seen")
    for (const other of [
      swapped(erasure, approvedBy(who.again)),
      approvedBy(`usr_${"0".repeat(25)}8`),
      approvedBy("system:host")
    ]) {
      const { integrity, replay, status } = await resealed(other)
      expect([integrity, status, replay?.four_eyes.verdicts]).toEqual(["ok", 0, { ok: 5 }])
    }
  })

  it("is unknown in a range that begins after the first sight, which causes no finding", async () => {
    const from = seqOf("envelope.drafted")
    const range = await inBoundedWorld(
      Effect.andThen(life, exported({ kind: "range", from, to: open.records.length - 1 }))
    )
    const { replay } = await replayed(range.pack, range.vkey)
    // Of Eve it is shown that she was not erased when she wrote; the last publication took one person, and is not
    // compared in a range.
    expect([replay!.four_eyes.mismatches, replay!.four_eyes.withheld.map(({ seq }) => seq)]).toEqual([[], [harmless()]])

    const notShown = (began: string, writer: string) => ({
      verdict: "withheld",
      reason: `Whether the identity of ${began} was erased before ${writer} was first seen is not shown.`
    })
    expect(judgedFrom(from, approvedBy(who.again), first())).toMatchObject(notShown(who.eve, who.again))
    expect(judgedFrom(seqOf("envelope.drafted", 1), open, harmless())).toMatchObject(notShown(who.again, who.third))
  })
})
