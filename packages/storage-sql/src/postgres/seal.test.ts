import type { Head, RecordDraft } from "@flyball/core/storage"
import { sealDrafts } from "@flyball/core/storage"
import { portableCrypto, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { seededSource } from "@flyball/testkit"
import { assert, describe, it } from "vitest"
import { genesis } from "./testing/given-database.ts"
import { prepare } from "./prepare.ts"
import { maxRecordBytes, sealPrepared, sizeProblem } from "./seal.ts"

const text = (length: number): Uint8Array => new TextEncoder().encode("é".repeat(length))

const draft = (body: RecordDraft["body"], ...parts: RecordDraft["parts"]): RecordDraft => ({
  kind: "decision.witnessed",
  body,
  parts,
  agentId: null
})

const drafts: ReadonlyArray<RecordDraft> = [
  draft({}),
  draft({ z: 1, a: [true, null, 'é\u0000\n"\\😀'], m: { "10": -5, "9": 0 } }, { name: "args", bytes: text(3) }),
  draft(
    { big: Number.MAX_SAFE_INTEGER },
    { name: "args", bytes: new Uint8Array(0) },
    { name: "result", bytes: text(5000) }
  ),
  draft({}, ...Array.from({ length: 32 }, (_, n) => ({ name: `p${String(n).padStart(2, "0")}`, bytes: text(n) })))
]

const sealedHere = (head: Head | null, atMs: number, salts: Uint8Array, some = drafts) => {
  let last = head ?? { seq: -1, hash: new Uint8Array(32), atMs: 0 }
  return prepare(nodeCrypto, { records: some }, salts, null).drafts.map(
    (prepared) => (last = sealPrepared(nodeCrypto, last, atMs, prepared))
  )
}

describe("sealing in two steps", () => {
  it("gives the bytes and hashes that sealDrafts gives, from any head", () => {
    const salts = seededSource(1).bytes(32 * 35)
    const heads = [
      { seq: 8, hash: nodeCrypto.sha256(text(1)), atMs: 5 },
      { seq: 999_999_999_999, hash: nodeCrypto.sha256(text(2)), atMs: 1_700_000_000_000 }
    ]
    for (const head of heads) {
      const theirs = sealDrafts(portableCrypto, head, head.atMs + 7, drafts, salts)
      const ours = sealedHere(head, head.atMs + 7, salts)
      assert.deepEqual(
        ours.map(({ bytes }) => toHex(bytes)),
        theirs.map(({ record }) => toHex(record.bytes))
      )
      assert.deepEqual(
        ours.map(({ hash, seq }) => [toHex(hash), seq]),
        theirs.map(({ record }) => [toHex(record.hash), record.seq])
      )
      assert.deepEqual(
        ours.map(({ prepared }) => prepared.parts),
        theirs.map(({ parts }) => parts)
      )
    }
    const first = sealDrafts(portableCrypto, null, 0, [genesis], new Uint8Array(0))
    assert.equal(toHex(sealedHere(null, 0, new Uint8Array(0), [genesis])[0]!.bytes), toHex(first[0]!.record.bytes))
  })

  it("knows the size of a record before it is sealed, to the byte", () => {
    for (const seq of [9, 10, 123_456]) {
      const head = { seq: seq - 1, hash: new Uint8Array(32).fill(7), atMs: 0 }
      const shortest = sealedHere(head, 0, new Uint8Array(0), [draft({ t: "" })])[0]!.bytes.length
      const fits = prepare(
        nodeCrypto,
        { records: [draft({ t: "x".repeat(maxRecordBytes - shortest) })] },
        new Uint8Array(0),
        null
      ).drafts[0]!
      assert.equal(sizeProblem(fits, seq), null)
      assert.equal(sealPrepared(nodeCrypto, head, 0, fits).bytes.length, maxRecordBytes)
      assert.match(sizeProblem(fits, seq * 10) ?? "", /at most 65536 bytes, saw 65537/)
    }
  })

  it("keeps the bytes that were given, whatever the caller does with its array", () => {
    const bytes = text(4)
    const prepared = prepare(nodeCrypto, { records: [draft({}, { name: "args", bytes })] }, new Uint8Array(32), null)
    bytes.fill(0)
    assert.deepEqual(prepared.drafts[0]!.parts[0]!.bytes, text(4))
  })
})
