import { assert, describe, it } from "@effect/vitest"
import { fromUtf8, portableCrypto, RecordUnwritable, toHex, utf8 } from "@flyball/evidence"
import type { Head, RecordDraft } from "./port.ts"
import { commitDrafts, partCount, sealDrafts } from "./seal.ts"

const genesis: RecordDraft = {
  kind: "chain.genesis",
  body: {
    origin: "flyball.example/acme/prod",
    hash: "sha256-rfc6962",
    vkeys: ["flyball.example/acme/prod+512011be+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c"]
  },
  parts: [],
  agentId: null
}
const transferred: RecordDraft = {
  kind: "agent.owner_transferred",
  body: { writer: "usr_example", agent_id: "agt_example" },
  parts: [{ name: "owner", bytes: utf8(`{"owner_email":"a@example.org"}`) }],
  agentId: "agt_example"
}
const atMs = Date.UTC(2026, 10, 21)
const salt = new Uint8Array(32).fill(2)
const withParts = (count: number): RecordDraft => ({
  kind: "capture.gap",
  body: {},
  agentId: null,
  parts: Array.from({ length: count }, (_, n) => ({ name: `p${n}`, bytes: new Uint8Array(0) }))
})

const seal = (head: Head | null, nowMs: number, drafts: ReadonlyArray<RecordDraft>, salts: Uint8Array) =>
  sealDrafts(portableCrypto, head, nowMs, commitDrafts(portableCrypto, drafts, salts))

describe("sealing", () => {
  it("makes the records of the worked example of format 1", () => {
    const [first, second] = seal(null, atMs + 0.9, [genesis, transferred], salt)
    assert.strictEqual(toHex(first!.record.hash), "e206c39a6a636e6df1baa52571c927a9fc4801e70ae33d980275831e8a9789df")
    assert.strictEqual(toHex(second!.record.hash), "48710003c5ef11a5215bdb984e6828d761fa33cdbbaa18e88b8c9d2a82aedf78")
    assert.include(
      fromUtf8(second!.record.bytes),
      `"c":"979d8259dacbc3e42283ff38f077ca73d9d1f1cde020d7c22b1ae47bcecd30a3"`
    )
    assert.deepInclude(second!.record, { seq: 1, kind: "agent.owner_transferred", agentId: "agt_example", atMs })
    assert.deepEqual(
      second!.parts.map(({ name, salt: used }) => [name, toHex(used)]),
      [["owner", "02".repeat(32)]]
    )
  })

  it("continues from a head, and never back in time", () => {
    const [first] = seal(null, atMs, [genesis], salt)
    const [second] = seal(first!.record, atMs - 5000, [transferred], salt)
    assert.strictEqual(toHex(second!.record.hash), "48710003c5ef11a5215bdb984e6828d761fa33cdbbaa18e88b8c9d2a82aedf78")
    assert.strictEqual(second!.record.atMs, atMs)
  })

  it("gives each part its salt, in order of drafts, then of parts", () => {
    const salts = Uint8Array.from({ length: 96 }, (_, n) => Math.floor(n / 32))
    const sealed = seal(null, 0, [withParts(1), withParts(0), withParts(2)], salts)
    assert.deepEqual(
      sealed.map(({ parts }) => parts.map((part) => part.salt[0])),
      [[0], [], [1, 2]]
    )
  })

  it("counts the parts of drafts", () => {
    assert.strictEqual(partCount([withParts(2), withParts(0), withParts(1), withParts(3)]), 6)
  })

  it("keeps the bytes that it was given, whatever the caller does with its arrays", () => {
    const part = { name: "args", bytes: Uint8Array.of(1, 2) }
    const salts = new Uint8Array(32).fill(3)
    const [committed] = commitDrafts(portableCrypto, [{ ...withParts(0), parts: [part] }], salts)
    part.bytes.fill(0)
    salts.fill(0)
    assert.deepEqual([...committed!.parts[0]!.bytes], [1, 2])
    assert.strictEqual(committed!.parts[0]!.salt[0], 3)
  })

  it("takes a record of the largest size, and throws at one byte more", () => {
    const head = { seq: 8, hash: new Uint8Array(32).fill(7), atMs: 0 }
    const draft = (length: number) => ({ ...withParts(0), body: { t: "x".repeat(length) } })
    const bytesOf = (length: number) => seal(head, 0, [draft(length)], salt)[0]!.record.bytes.length
    const frame = bytesOf(0)
    assert.strictEqual(bytesOf(65_536 - frame), 65_536)
    assert.throws(() => bytesOf(65_536 - frame + 1), RecordUnwritable)
  })

  it("throws where format 1 cannot hold a draft", () => {
    assert.throws(() => seal(null, 0, [{ ...genesis, body: { n: 0.5 } }], salt), RecordUnwritable)
  })
})
