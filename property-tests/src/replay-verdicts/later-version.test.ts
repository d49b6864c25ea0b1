/**
 * Records that a later version wrote: a reader that does not know a member or a kind says so, and calls nothing
 * tampering. Spec: format 1 section 6.1.
 */
import { canonicalBytes, type JsonObject, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { OpenPack, OpenRecord } from "@flyball/testkit"
import { beforeAll, describe, expect, it } from "vitest"
import { boundedLife } from "./bounded-life.ts"
import { changed, lived, resealed, withPart } from "./changed-pack.ts"

let open: OpenPack
beforeAll(async () => {
  open = (await lived(boundedLife)).open
})

/** Kinds whose bodies are closed in format 1. */
const closed: ReadonlySet<string> = new Set(["chain.genesis", "key.rotated", "part.erased"])
const later = (record: OpenRecord): OpenRecord => ({
  ...record,
  body: { ...record.body, zz_later: { of: ["tomorrow"] } }
})
const seqsOf = (kind: (kind: string) => boolean): ReadonlyArray<number> =>
  open.records.flatMap((record, seq) => (kind(record.kind) && !closed.has(record.kind) ? [seq] : []))
const evaluations = (): ReadonlyArray<number> => seqsOf((kind) => kind === "evaluation.made")

/** Intact, nothing wrong, and status 2 with a sentence. */
const expectReported = async (pack: OpenPack, sentence: RegExp) => {
  const { findings, integrity, notChecked, replay, status } = await resealed(pack)
  expect({ findings, integrity, status, mismatches: replay!.mismatches, acts: replay!.four_eyes.mismatches }).toEqual({
    findings: [],
    integrity: "ok",
    status: 2,
    mismatches: [],
    acts: []
  })
  expect(notChecked.join(" ")).toMatch(sentence)
  return replay!
}

describe("a member that this version does not know", () => {
  it("is reported in records of every kind that a replay reads, one kind at a time", async () => {
    const kinds = [...new Set(open.records.map(({ kind }) => kind))].filter(
      (kind) => /^(?:agent|envelope|waiver|evaluation|meter)\./.test(kind) || kind === "decision.settled"
    )
    expect(kinds.length).toBeGreaterThan(6)
    for (const kind of kinds)
      await expectReported(
        changed(
          open,
          seqsOf((one) => one === kind),
          later
        ),
        /not in the form that this version knows/
      )
  })

  it("is reported in all records at once, and no evaluation is then ok", async () => {
    const replay = await expectReported(
      changed(
        open,
        seqsOf(() => true),
        later
      ),
      /not in the form that this version knows/
    )
    expect(replay.verdicts).toEqual({ withheld: evaluations().length })
    expect(replay.withheld[0]!.reason).toBe("The record has members that this version does not know.")
    expect(replay.four_eyes.verdicts).toEqual({ withheld: replay.four_eyes.acts })
    expect(replay.four_eyes.acts).toBeGreaterThan(0)
  })

  it("does not affect the evaluations after it, in an agent's or an evaluation's record", async () => {
    const agents = await expectReported(
      changed(
        open,
        seqsOf((kind) => kind.startsWith("agent.")),
        later
      ),
      /not in the form that this version knows/
    )
    expect(agents.verdicts).toEqual({ ok: evaluations().length })
    const nested = (record: OpenRecord): OpenRecord => ({
      ...record,
      body: {
        ...record.body,
        meters: (record.body["meters"] as ReadonlyArray<JsonObject>).map((meter) => ({ ...meter, zz: 1 }))
      }
    })
    const seq = evaluations().find((one) => (open.records[one]!.body["meters"] as ReadonlyArray<unknown>).length > 0)!
    const one = await expectReported(changed(open, seq, nested), /not in the form that this version knows/)
    expect(one.verdicts).toEqual({ ok: evaluations().length - 1, withheld: 1 })
    expect(one.withheld).toMatchObject([{ seq, reason: "The record has members that this version does not know." }])
  })

  it("does not hide an error in another record", async () => {
    const seq = evaluations().at(-1)!
    const lied = changed(changed(open, evaluations()[0]!, later), seq, (record) => ({
      ...record,
      body: { ...record.body, tier: "L4" }
    }))
    const { replay, status } = await resealed(lied)
    expect([status, replay!.mismatches.map((one) => one.seq)]).toEqual([1, [seq]])
  })
})

describe("a kind that this version does not know", () => {
  it.each(["agent.of_tomorrow", "envelope.of_tomorrow", "waiver.of_tomorrow", "kill.of_tomorrow", "tomorrow.made"])(
    "%s is counted and reported",
    async (kind) => {
      const { at } = open.records.at(-1)!
      const pack = {
        ...open,
        records: [
          ...open.records,
          { at, kind, body: { agent_id: {}, toString: 1 } as unknown as JsonObject, parts: [] }
        ]
      }
      const replay = await expectReported(pack, /1 record of kinds that this version does not know/)
      expect(replay.unknown_kinds).toBe(1)
      expect(replay.verdicts).toEqual({ ok: evaluations().length })
    }
  )
})

describe("a body of a known kind with hostile members", () => {
  it("is reported, and does not stop the replay", async () => {
    const hostile = { toString: 1, valueOf: [] }
    for (const kind of [...new Set(open.records.map((record) => record.kind))].filter((one) => !closed.has(one))) {
      const body = Object.fromEntries(
        Object.keys(open.records.find((record) => record.kind === kind)!.body).map((name) => [name, hostile])
      ) as unknown as JsonObject
      const { integrity, replay } = await resealed(
        changed(
          open,
          seqsOf((one) => one === kind),
          (record) => ({ ...record, body })
        )
      )
      expect([kind, integrity, replay === null]).toEqual([kind, "ok", false])
    }
  })

  it("does not stop the replay as a diff either", async () => {
    const seq = open.records.findIndex(({ kind }) => kind === "envelope.published")
    const diff = canonicalBytes({ change: { toString: 1, valueOf: 1 } })
    const { replay, status } = await resealed(
      changed(open, seq, (record) =>
        withPart({ ...record, body: { ...record.body, diff_digest: toHex(nodeCrypto.sha256(diff)) } }, "diff", diff)
      )
    )
    expect([status, replay!.four_eyes.mismatches.map((one) => [one.seq, one.verdict])]).toEqual([
      1,
      [[seq, "digest_mismatch"]]
    ])
  })
})
