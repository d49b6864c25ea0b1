/** Every published Ed25519 case, with both libraries: they must say the same. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { fromHex, toHex } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { isStrictPublicKey, verifyEd25519 } from "./strict.ts"

const folder = new URL("../../../../fixtures/vectors/ed25519/", import.meta.url)
const text = (name: string): string => readFileSync(new URL(name, folder), "utf8")
const hex = (digits: string): Uint8Array => fromHex(digits)!

for (const crypto of [portableCrypto, nodeCrypto]) {
  describe(`strict Ed25519, ${crypto.name}`, () => {
    it("makes and accepts the signatures of RFC 8032", () => {
      const cases = JSON.parse(text("rfc8032.json")) as ReadonlyArray<
        Record<"secret" | "public" | "message" | "signature", string>
      >
      expect(cases).toHaveLength(3)
      for (const one of cases) {
        expect(crypto.ed25519PublicKey(hex(one.secret))).toEqual(hex(one.public))
        expect(crypto.ed25519Sign(hex(one.secret), hex(one.message))).toEqual(hex(one.signature))
        expect(verifyEd25519(crypto, hex(one.public), hex(one.message), hex(one.signature))).toBe(true)
      }
    })

    it("makes and accepts the signatures of sign.input", () => {
      const lines = text("sign-input.txt").trim().split("\n")
      expect(lines).toHaveLength(64)
      for (const line of lines) {
        const [secret, publicKey, message, signed] = line.split(":") as [string, string, string, string]
        const signature = hex(signed.slice(0, 128))
        expect(crypto.ed25519Sign(hex(secret.slice(0, 64)), hex(message))).toEqual(signature)
        expect(verifyEd25519(crypto, hex(publicKey), hex(message), signature)).toBe(true)
      }
    })

    it("says what Wycheproof says", () => {
      const { testGroups } = JSON.parse(text("wycheproof-ed25519.json")) as {
        readonly testGroups: ReadonlyArray<{
          readonly publicKey: { readonly pk: string }
          readonly tests: ReadonlyArray<{
            readonly tcId: number
            readonly msg: string
            readonly sig: string
            readonly result: string
          }>
        }>
      }
      const tests = testGroups.flatMap((group) => group.tests.map((test) => ({ ...test, pk: group.publicKey.pk })))
      expect(tests).toHaveLength(76)
      const wrong = tests.filter(
        (test) => verifyEd25519(crypto, hex(test.pk), hex(test.msg), hex(test.sig)) !== (test.result === "valid")
      )
      expect(wrong.map((test) => test.tcId)).toEqual([])
    })

    it("accepts of the edge cases what the strict libraries accept", () => {
      const { cases } = JSON.parse(text("speccheck.json")) as {
        readonly cases: ReadonlyArray<{
          readonly index: number
          readonly message: string
          readonly pub_key: string
          readonly signature: string
          readonly accepted_by: Record<string, boolean>
        }>
      }
      expect(cases).toHaveLength(6)
      for (const one of cases) {
        expect(verifyEd25519(crypto, hex(one.pub_key), hex(one.message), hex(one.signature)), `case ${one.index}`).toBe(
          one.accepted_by["LibSodium"]
        )
      }
    })

    it("refuses lengths that are none", () => {
      const key = crypto.ed25519PublicKey(new Uint8Array(32).fill(1))
      const signature = crypto.ed25519Sign(new Uint8Array(32).fill(1), new Uint8Array(0))
      expect(verifyEd25519(crypto, key, new Uint8Array(0), signature)).toBe(true)
      for (const length of [0, 63, 65]) {
        const other = new Uint8Array(length)
        other.set(signature.subarray(0, Math.min(length, 64)))
        expect(verifyEd25519(crypto, key, new Uint8Array(0), other)).toBe(false)
      }
      expect(verifyEd25519(crypto, key.subarray(1), new Uint8Array(0), signature)).toBe(false)
    })
  })
}

describe("a library that accepts everything", () => {
  const lax = { ...nodeCrypto, ed25519Verify: () => true }
  const key = nodeCrypto.ed25519PublicKey(new Uint8Array(32).fill(1))
  const good = nodeCrypto.ed25519Sign(new Uint8Array(32).fill(1), new Uint8Array(0))
  const verify = (publicKey: Uint8Array, signature: Uint8Array): boolean =>
    verifyEd25519(lax, publicKey, new Uint8Array(0), signature)
  const withS = (digits: string): Uint8Array => Uint8Array.from([...good.subarray(0, 32), ...hex(digits)])
  const L = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"

  it("still gets no S from the order of the group on", () => {
    expect(verify(key, withS("ec" + L.slice(2)))).toBe(true)
    expect(verify(key, withS(L))).toBe(false)
    expect(verify(key, withS("f".repeat(64)))).toBe(false)
    expect(verify(key, withS("00".repeat(31) + "11"))).toBe(false)
  })

  it("still gets no small-order or non-canonical key or R", () => {
    for (const point of [
      "00".repeat(32),
      "01" + "00".repeat(31),
      "ff".repeat(31) + "7f",
      "ee" + "ff".repeat(30) + "7f",
      "ed" + "ff".repeat(31)
    ]) {
      expect(verify(hex(point), good)).toBe(false)
      expect(verify(key, Uint8Array.from([...hex(point), ...good.subarray(32)]))).toBe(false)
    }
  })
})

describe("a strict public key", () => {
  const littleEndian = (value: bigint, sign: 0 | 1): Uint8Array =>
    Uint8Array.from(
      { length: 32 },
      (_, i) => Number((value >> BigInt(8 * i)) & 0xffn) | (i === 31 && sign === 1 ? 0x80 : 0)
    )
  const p = 2n ** 255n - 19n
  const order8 = [
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
  ]

  it("is not one of the points of small order, with either sign and in every encoding", () => {
    for (const sign of [0, 1] as const) {
      for (const y of [0n, 1n, p - 1n, p, p + 1n])
        expect(isStrictPublicKey(littleEndian(y, sign)), `y = ${y}`).toBe(false)
    }
    for (const digits of order8) {
      const key = hex(digits)
      expect(isStrictPublicKey(key)).toBe(false)
      key[31]! |= 0x80
      expect(isStrictPublicKey(key)).toBe(false)
    }
  })

  it("is not one of the eight points that SPEC.md lists", () => {
    const page = readFileSync(new URL("../../SPEC.md", import.meta.url), "utf8")
    const listed = [...page.matchAll(/^    ([0-9a-f]{64})    order [1248]$/gm)].map(([, digits]) => digits!)
    const points = [
      ...[0n, 1n, p - 1n].map((y) => toHex(littleEndian(y, 0))),
      toHex(littleEndian(0n, 1)),
      ...order8.flatMap((digits) => [digits, digits.slice(0, 62) + (digits.endsWith("05") ? "85" : "fa")])
    ]
    expect(listed.toSorted()).toEqual(points.toSorted())
    for (const digits of listed) expect(isStrictPublicKey(hex(digits)), digits).toBe(false)
  })

  it("has y below p", () => {
    for (let above = 0n; above < 19n; above++) expect(isStrictPublicKey(littleEndian(p + above, 1))).toBe(false)
    expect(isStrictPublicKey(littleEndian(p - 2n, 0))).toBe(true)
    expect(isStrictPublicKey(littleEndian(2n, 0))).toBe(true)
  })
})
