import { portableCrypto, recordBodyText, tileRoot, toHex, utf8 } from "@flyball/evidence"
import type { RecordDraft } from "@flyball/core/storage"
import { emptyHead, sealDrafts } from "@flyball/core/storage"
import { assert, describe, it } from "vitest"
import { maxRecordBytes, Sealer } from "./sealer.ts"
import { Unwritable } from "./sqlite-fault.ts"

const bytesOf = (length: number, step: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index * step)

const drafts: ReadonlyArray<RecordDraft> = [
  {
    kind: "chain.genesis",
    body: { hash: "sha256-rfc6962", origin: "flyball.test/sealer", vkeys: [] },
    parts: [],
    agentId: null
  },
  {
    kind: "decision.witnessed",
    body: { b: [1, -2, { z: null, a: true }], a: 'Grüße \u2028 \ud83d\ude00 " \\ \u0001' },
    agentId: "agt_1",
    parts: [
      { name: "args", bytes: bytesOf(157, 7) },
      { name: "result", bytes: bytesOf(0, 0) }
    ]
  },
  {
    kind: "decision.witnessed",
    body: { "10": 1, "9": 2, B: 3, a: 4 },
    agentId: null,
    parts: [{ name: "large_1", bytes: bytesOf(300_000, 3) }]
  },
  {
    kind: "capture.gap",
    body: {},
    agentId: "agt_1",
    parts: Array.from({ length: 32 }, (_, n) => ({ name: `p${String(n).padStart(2, "0")}`, bytes: bytesOf(n * 31, n) }))
  }
]

/** Seals as the worker does. */
const sealed = (nowMs: number, salts: Uint8Array) => {
  const sealer = new Sealer()
  let prev = "0".repeat(64)
  let salted = 0
  return drafts.map(({ kind, body, parts }, seq) => {
    const names = parts.map(({ name }) => name)
    const commitments = parts.map(({ bytes }, index) =>
      sealer.commitment(names[index]!, { name: 0, salt: salts.subarray(salted, (salted += 32)), bytes })
    )
    const { bytes, hash } = sealer.seal({
      atMs: nowMs,
      body: utf8(recordBodyText(kind, body)),
      kind,
      names,
      commitments,
      prev,
      seq
    })
    prev = hash.toString("hex")
    return { bytes: Uint8Array.from(bytes), hash: prev }
  })
}

describe("Sealer", () => {
  it("makes the same bytes and hashes as core's sealDrafts", () => {
    const salts = bytesOf(32 * 35, 11)
    for (const nowMs of [0, 1_763_697_600_123, 253_402_300_799_999]) {
      const expected = sealDrafts(portableCrypto, null, nowMs, drafts, salts)
      assert.deepEqual(
        sealed(nowMs, salts),
        expected.map(({ record }) => ({ bytes: record.bytes, hash: toHex(record.hash) }))
      )
    }
    assert.equal(emptyHead().seq, -1)
  })

  it("is not disturbed by what was in its buffers before", () => {
    const sealer = new Sealer()
    const part = { name: 0, salt: bytesOf(32, 5).fill(0xab), bytes: new Uint8Array(64).fill(0xcd) }
    const first = sealer.commitment("args", part)
    assert.equal(sealer.commitment("args", part), first)
    const shorter = { ...part, bytes: part.bytes.subarray(0, 10) }
    assert.equal(
      sealer.commitment("args", shorter),
      Buffer.from(portableCrypto.commitment(part.salt, "args", shorter.bytes)).toString("hex")
    )
  })

  it("takes a record of the largest size and refuses one byte more", () => {
    const seal = (length: number) =>
      new Sealer().seal({
        atMs: 0,
        body: new Uint8Array(length).fill(0x20),
        kind: "capture.gap",
        names: [],
        commitments: [],
        prev: "0".repeat(64),
        seq: 9
      })
    const frame = seal(0).bytes.length
    assert.equal(seal(maxRecordBytes - frame).bytes.length, maxRecordBytes)
    assert.throws(() => seal(maxRecordBytes - frame + 1), Unwritable, "65537")
  })

  it("folds a tile as the format does", () => {
    const hashes = bytesOf(8192, 13)
    assert.deepEqual(Uint8Array.from(new Sealer().treeRoot(hashes)), tileRoot(portableCrypto, hashes))
  })
})
