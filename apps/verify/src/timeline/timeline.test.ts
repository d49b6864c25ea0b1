/** The timeline: records with their disclosed parts, a page at a time. */
import { readFileSync } from "node:fs"
import { portableCrypto } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import type { PackFile } from "../pack-file.ts"
import { samplePack, type SampleRecord, sampleRecords } from "../summary/sample-chain.ts"
import { timelinePage, type TimelineQuery } from "./timeline.ts"

const packOf = (bytes: Uint8Array): PackFile => ({
  name: "memory",
  crypto: portableCrypto,
  content: async function* () {
    for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000)
  },
  bytes: async function* () {
    yield bytes
  },
  identity: async () => ""
})
const everything: TimelineQuery = { from: 0, limit: 1000, find: "" }
const sample = packOf(await samplePack(sampleRecords()))
const seqs = async (query: Partial<TimelineQuery>, pack = sample) => {
  const { next, rows } = await timelinePage(pack, { ...everything, ...query })
  return { seqs: rows.map(({ seq }) => seq), next }
}

describe("the timeline", () => {
  it("shows a record with its time, its members, and its parts", async () => {
    const { rows } = await timelinePage(sample, everything)
    expect(rows[3]).toEqual({
      seq: 3,
      at: "2026-11-21T00:00:03.000Z",
      kind: "agent.registered",
      members: [
        ["agent_id", "agt_00000000000000000000000001"],
        ["autonomy_tier", "L1"],
        ["writer", "usr_00000000000000000000000001"]
      ],
      parts: [
        { name: "owner", text: '{"owner_email":"ada@example.org","owner_name":"Ada"}', note: null },
        { name: "profile", text: '{"name":"refund-bot"}', note: null }
      ]
    })
    expect(rows[4]!.parts).toEqual([{ name: "profile", text: null, note: "not in this pack: withheld, or erased" }])
    expect(rows[6]!.members.find(([name]) => name === "authors")).toEqual([
      "authors",
      '["usr_00000000000000000000000001"]'
    ])
  })

  it("continues where a page ended, and ends behind the last record", async () => {
    expect(await seqs({ limit: 3 })).toEqual({ seqs: [0, 1, 2], next: 3 })
    expect(await seqs({ limit: 3, from: 3 })).toEqual({ seqs: [3, 4, 5], next: 6 })
    expect(await seqs({ limit: 3, from: 19 })).toEqual({ seqs: [19, 20, 21], next: null })
    expect(await seqs({ limit: 3, from: 20 })).toEqual({ seqs: [20, 21], next: null })
  })

  it("finds a text in kinds, members and disclosed parts, in any case", async () => {
    expect((await seqs({ find: " AGENT.suspended " })).seqs).toEqual([18])
    expect((await seqs({ find: "loosens" })).seqs).toEqual([6])
    expect((await seqs({ find: "it refunds TWICE" })).seqs).toEqual([18])
    expect(await seqs({ find: "deny", limit: 2 })).toEqual({ seqs: [5, 6], next: 12 })
    expect((await seqs({ find: "in no record" })).seqs).toEqual([])
  })

  it("names a part that is too long, or no text", async () => {
    const records: ReadonlyArray<SampleRecord> = [
      { kind: "test.long", body: {}, parts: { args: "x".repeat(70_000), result: "short" } }
    ]
    const { rows } = await timelinePage(packOf(await samplePack(records)), everything)
    expect(rows[1]!.parts).toEqual([
      { name: "args", text: null, note: "70002 bytes, too long to be shown here" },
      { name: "result", text: '"short"', note: null }
    ])
  })

  it("reads a selection too", async () => {
    const vectors = new URL("../../../../fixtures/vectors/flyball-format/", import.meta.url)
    const found = await seqs({}, packOf(readFileSync(new URL("valid-sparse-12-3.evp", vectors))))
    expect(found.seqs).toHaveLength(3)
    expect(found.next).toBe(null)
  })
})
