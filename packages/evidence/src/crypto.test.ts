import { describe, expect, it } from "vitest"
import { concatBytes, fromHex, toHex, utf8 } from "./bytes.ts"
import { type Crypto, portableCrypto } from "./crypto.ts"
import { nodeCrypto } from "./node/crypto.ts"
import { vectorText } from "./node/vectors.ts"

const both: ReadonlyArray<Crypto> = [portableCrypto, nodeCrypto]
const some = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 197 + length) & 255)

/** `Len` in bits, `Msg`, `MD` of a NIST response file. */
const nistCases = (file: string): ReadonlyArray<{ readonly message: Uint8Array; readonly digest: string }> =>
  [...vectorText(`sha256-nist/${file}`).matchAll(/Len = (\d+)\r?\nMsg = ([0-9a-f]+)\r?\nMD = ([0-9a-f]{64})/g)].map(
    ([, bits, message, digest]) => ({
      message: fromHex(message!)!.subarray(0, Number(bits) / 8),
      digest: digest!
    })
  )

describe.each(both)("$name", (crypto) => {
  it.each([
    ["SHA256ShortMsg.rsp", 33],
    ["SHA256LongMsg.rsp", 32]
  ] as const)("makes the digests of %s", (file, count) => {
    const cases = nistCases(file)
    expect(cases).toHaveLength(count)
    for (const { digest, message } of cases) {
      expect(toHex(crypto.sha256(message))).toBe(digest)
      expect(crypto.sha256Hex(message)).toBe(digest)
      const hasher = crypto.hasher()
      hasher.update(message.subarray(0, message.length >> 1))
      hasher.update(message.subarray(message.length >> 1))
      expect(toHex(hasher.digest())).toBe(digest)
    }
  })

  it("makes the worked example's commitment and public key", () => {
    const { part, public_key, seed } = JSON.parse(vectorText("flyball-format/example.json")) as {
      part: { name: string; r: string; bytes: string; c: string }
      public_key: string
      seed: string
    }
    expect(toHex(crypto.commitment(fromHex(part.r)!, part.name, utf8(part.bytes)))).toBe(part.c)
    expect(toHex(crypto.ed25519PublicKey(fromHex(seed)!))).toBe(public_key)
  })

  it("never writes again to an array that it returned", () => {
    const [leaf, node, sum, commitment] = [
      crypto.leafHash(some(9)),
      crypto.nodeHash(some(32), some(32)),
      crypto.sha256(some(9)),
      crypto.commitment(some(32), "a", some(9))
    ]
    const before = [leaf, node, sum, commitment].map(toHex)
    crypto.leafHash(some(10))
    crypto.nodeHash(some(32), new Uint8Array(32))
    crypto.commitment(new Uint8Array(32), "b", some(9))
    expect([leaf, node, sum, commitment].map(toHex)).toEqual(before)
    expect(leaf.constructor).toBe(Uint8Array)
  })

  it("writes a hash to where it is wanted, and nowhere else", () => {
    const bytes = some(700)
    const out = new Uint8Array(40)
    crypto.sha256Into(bytes, out, 5)
    expect(out.subarray(5, 37)).toEqual(crypto.sha256(bytes))
    expect([...out.subarray(0, 5), ...out.subarray(37)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  })

  it("hashes pairs of nodes, also into the pairs themselves", () => {
    const pairs = some(64 * 9)
    const expected = Array.from({ length: 9 }, (_, i) =>
      crypto.nodeHash(pairs.slice(64 * i, 64 * i + 32), pairs.slice(64 * i + 32, 64 * i + 64))
    )
    const out = new Uint8Array(32 * 9)
    crypto.nodeHashes(pairs, 9, out)
    crypto.nodeHashes(pairs, 9, pairs)
    expect(out).toEqual(concatBytes(...expected))
    expect(pairs.subarray(0, 32 * 9)).toEqual(out)
  })

  it("joins hashes only, and salts with 32 bytes only", () => {
    expect(() => crypto.nodeHash(some(31), some(32))).toThrow(RangeError)
    expect(() => crypto.nodeHash(some(32), some(33))).toThrow(RangeError)
    expect(() => crypto.commitment(some(31), "a", some(1))).toThrow(RangeError)
  })

  it("treats malformed keys and signatures as invalid", () => {
    const seed = some(32)
    const key = crypto.ed25519PublicKey(seed)
    const signature = crypto.ed25519Sign(seed, utf8("note"))
    expect(crypto.ed25519Verify(key, utf8("note"), signature)).toBe(true)
    expect(crypto.ed25519Verify(key, utf8("Note"), signature)).toBe(false)
    expect(crypto.ed25519Verify(key.subarray(1), utf8("note"), signature)).toBe(false)
    expect(crypto.ed25519Verify(key, utf8("note"), signature.subarray(1))).toBe(false)
    expect(crypto.ed25519Verify(some(32), utf8("note"), some(64))).toBe(false)
    // S + L: the same number modulo the order, another signature.
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    const s = signature.slice(32).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n) + order
    const shifted = Uint8Array.from({ length: 32 }, (_, i) => Number((s >> BigInt(8 * i)) & 255n))
    expect(crypto.ed25519Verify(key, utf8("note"), concatBytes(signature.subarray(0, 32), shifted))).toBe(false)
  })
})

describe("portable and OpenSSL", () => {
  it("give equal bytes at every length around a block and a buffer", () => {
    for (const length of [
      0, 1, 54, 55, 56, 63, 64, 65, 119, 120, 500, 4094, 4095, 4096, 4097, 16_200, 65_535, 65_536, 65_537, 100_000
    ]) {
      const bytes = some(length)
      expect(nodeCrypto.sha256(bytes)).toEqual(portableCrypto.sha256(bytes))
      expect(nodeCrypto.leafHash(bytes)).toEqual(portableCrypto.leafHash(bytes))
      expect(nodeCrypto.leafHash(bytes)).toEqual(portableCrypto.sha256(concatBytes(Uint8Array.of(0), bytes)))
      expect(nodeCrypto.commitment(some(32), "part_name", bytes)).toEqual(
        portableCrypto.commitment(some(32), "part_name", bytes)
      )
    }
    expect(nodeCrypto.nodeHash(some(32), some(32))).toEqual(
      portableCrypto.sha256(concatBytes(Uint8Array.of(1), some(32), some(32)))
    )
    expect(nodeCrypto.nodeHash(some(32), some(32))).toEqual(portableCrypto.nodeHash(some(32), some(32)))
  })

  it("sign alike, and check each other's signatures", () => {
    for (let length = 0; length < 20; length++) {
      const seed = portableCrypto.sha256(some(length))
      const message = some(length * 7)
      const key = portableCrypto.ed25519PublicKey(seed)
      const signature = portableCrypto.ed25519Sign(seed, message)
      expect(nodeCrypto.ed25519PublicKey(seed)).toEqual(key)
      expect(nodeCrypto.ed25519Sign(seed, message)).toEqual(signature)
      expect(nodeCrypto.ed25519Verify(key, message, signature)).toBe(true)
      expect(portableCrypto.ed25519Verify(key, message, signature)).toBe(true)
    }
  })
})
