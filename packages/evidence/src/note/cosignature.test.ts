/** Cosignatures and inclusion proofs of real logs: Sigsum proofs, and the log part of Sigstore bundles. */
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { fromBase64, fromHex, toBase64, utf8 } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { verifyEd25519 } from "../ed25519/strict.ts"
import { verifyInclusion } from "../merkle/verify.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { parseNote } from "./note.ts"
import { verifyNote } from "./verify-note.ts"
import type { Vkey } from "./vkey.ts"
import { signatureType } from "./vkey.ts"
import { parseGeneralCheckpoint } from "../checkpoint/checkpoint.ts"
import { cosignatureMessage, readCosignature, writeCosignature } from "./cosignature.ts"

const folder = new URL("../../../../fixtures/vectors/", import.meta.url)
const hex = (digits: string): Uint8Array => fromHex(digits)!
const sha256Hex = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

describe("real Sigsum proofs", () => {
  const { keys, proofs } = JSON.parse(readFileSync(new URL("sigsum-proofs/proofs.json", folder), "utf8")) as {
    readonly keys: Record<string, string>
    readonly proofs: ReadonlyArray<{
      readonly id: string
      readonly proof: string
      readonly message_utf8: string
      readonly submit_key_hex: string
    }>
  }
  /** Sigsum names keys by their SHA-256. */
  const keyOfHash = new Map(Object.values(keys).map((key) => [sha256Hex(hex(key)), hex(key)]))

  for (const one of proofs) {
    for (const crypto of [portableCrypto, nodeCrypto]) {
      it(`${one.id}, ${crypto.name}`, () => {
        const lines = one.proof
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => line.split("=") as [string, string])
        const value = (name: string): string => lines.find(([label]) => label === name)![1]
        const values = (name: string): ReadonlyArray<string> =>
          lines.filter(([label]) => label === name).map(([, text]) => text)
        const [size, root, logHash] = [Number(value("size")), hex(value("root_hash")), value("log")]
        const text = utf8(`sigsum.org/v1/tree/${logHash}\n${size}\n${toBase64(root)}\n`)
        expect(verifyEd25519(crypto, keyOfHash.get(logHash)!, text, hex(value("signature")))).toBe(true)

        let known = 0
        for (const line of values("cosignature")) {
          const [keyHash, time, signature] = line.split(" ") as [string, string, string]
          const key = keyOfHash.get(keyHash)
          if (key === undefined) continue
          known++
          expect(verifyEd25519(crypto, key, cosignatureMessage(Number(time), text), hex(signature))).toBe(true)
          expect(verifyEd25519(crypto, key, cosignatureMessage(Number(time) + 1, text), hex(signature))).toBe(false)
        }
        expect(known).toBeGreaterThan(0)

        // The message that was submitted is the hash of the data; the leaf commits to the hash of that.
        const checksum = crypto.sha256(crypto.sha256(utf8(one.message_utf8)))
        const leafSignature = hex(value("leaf").split(" ").at(-1)!)
        const leaf = crypto.leafHash(Buffer.concat([checksum, leafSignature, crypto.sha256(hex(one.submit_key_hex))]))
        const proof = values("node_hash").map(hex)
        const seq = Number(value("leaf_index"))
        expect(verifyInclusion(crypto, { seq, size, leaf, proof, root })).toBe(true)
        expect(verifyInclusion(crypto, { seq: seq - 1, size, leaf, proof, root })).toBe(false)
      })
    }
  }
})

interface RekorCase {
  readonly name: string
  readonly expect: "pass" | "fail"
  readonly tlogs: ReadonlyArray<{
    readonly baseUrl: string
    readonly publicKey: { readonly rawBytes: string; readonly keyDetails: string }
    readonly logId: { readonly keyId: string }
  }>
  readonly tlogEntries: ReadonlyArray<{
    readonly canonicalizedBody: string
    readonly inclusionProof?: {
      readonly logIndex?: string
      readonly rootHash: string
      readonly treeSize: string
      readonly hashes?: ReadonlyArray<string>
      readonly checkpoint?: { readonly envelope?: string }
    }
  }>
}

describe("the log part of Sigstore bundles", () => {
  const cases = readFileSync(new URL("rekor-bundles/tlog-entries.ndjson", folder), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RekorCase)

  /** The Ed25519 keys of a case as C2SP keys; a log's key name is the host of its address. */
  const keysOf = (one: RekorCase): ReadonlyArray<Vkey> =>
    one.tlogs
      .filter((log) => log.publicKey.keyDetails === "PKIX_ED25519")
      .map((log) => ({
        name: new URL(log.baseUrl).host,
        keyId: fromBase64(log.logId.keyId)!.subarray(0, 4),
        type: signatureType.ed25519,
        publicKey: fromBase64(log.publicKey.rawBytes)!.subarray(-32)
      }))

  /** Everything that a bundle's log part promises; null when the note carries no line that we can judge. */
  const holds = (one: RekorCase, crypto: typeof nodeCrypto): boolean | null => {
    const keys = keysOf(one)
    let judged: boolean | null = null
    for (const entry of one.tlogEntries) {
      const proof = entry.inclusionProof
      if (proof?.checkpoint?.envelope === undefined) return false
      const note = parseNote(utf8(proof.checkpoint.envelope))
      if (!note.ok) return false
      const signatures = verifyNote(crypto, note.note, keys)
      if (signatures.bad.length > 0) return false
      const checkpoint = parseGeneralCheckpoint(note.note.text)
      if (!checkpoint.ok) return false
      const { root, size } = checkpoint.checkpoint
      const proven =
        toBase64(root) === proof.rootHash &&
        String(size) === proof.treeSize &&
        verifyInclusion(crypto, {
          seq: BigInt(proof.logIndex ?? "0"),
          size,
          leaf: crypto.leafHash(fromBase64(entry.canonicalizedBody)!),
          proof: (proof.hashes ?? []).map((hash) => fromBase64(hash)!),
          root
        })
      if (!proven) return false
      judged = signatures.verified.length > 0 ? true : judged
    }
    return judged
  }

  it("are complete", () => expect(cases).toHaveLength(14))

  for (const one of cases) {
    for (const crypto of [portableCrypto, nodeCrypto]) {
      it(`${one.name} (${one.expect}), ${crypto.name}`, () => {
        const outcome = holds(one, crypto)
        // null: the note is signed by ECDSA alone. Its line is ignored; the tree's part was checked all the same.
        if (one.expect === "pass") expect(outcome).not.toBe(false)
        else expect(outcome).not.toBe(true)
      })
    }
  }

  it("hold Ed25519 notes among them, good and bad", () => {
    expect(cases.filter((one) => holds(one, nodeCrypto) === true).length).toBeGreaterThan(0)
  })
})

describe("the payload of a cosignature", () => {
  it("is a time and a signature, and nothing else", () => {
    const signature = new Uint8Array(64).fill(7)
    const payload = writeCosignature(1_679_315_147, signature)
    expect(readCosignature(payload)).toMatchObject({ timeS: 1_679_315_147, signature })
    expect(readCosignature(payload.subarray(1))).toBeNull()
    expect(readCosignature(Buffer.concat([payload, Buffer.of(0)]))).toBeNull()
    expect(readCosignature(new Uint8Array(72).fill(0xff))).toBeNull()
  })
})
