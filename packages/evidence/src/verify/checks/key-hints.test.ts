/** Keys that a pack hints at, usable and not. */
import { describe, expect, it } from "vitest"
import { utf8 } from "../../bytes.ts"
import { nodeCrypto } from "../../node/crypto.ts"
import { noteSigner } from "../../checkpoint/sign.ts"
import { formatVkey, parseVkey } from "../../note/vkey.ts"
import { KeyHints } from "./key-hints.ts"
import { SAMPLE_ORIGIN, sampleLog, type SamplePlan } from "../sample-packs.ts"
import { verifyPack } from "../verify-pack.ts"

const { pack, signer } = sampleLog(nodeCrypto)
const otherId = signer.vkey.replace(`+${signer.keyIdHex}+`, "+00000000+")

describe("a hint with the right key and another key id", () => {
  it("does not stand in the way of the right one", async () => {
    for (const hints of [[otherId], [otherId, signer.vkey], [signer.vkey, otherId]]) {
      expect(await verifyPack(nodeCrypto, [await pack({ length: 3, hints })])).toMatchObject({
        exit: 2,
        findings: [],
        verdicts: { authenticity: "signed_by_unpinned_key" }
      })
    }
  })
})

describe("a hint that is no vkey", () => {
  const hinted = async (...hints: ReadonlyArray<string>) =>
    verifyPack(nodeCrypto, [await pack({ length: 3, hints: [signer.vkey, ...hints] })], { vkeys: [signer.vkey] })
  const words = [
    "hello",
    "hello world",
    "a+b",
    `${SAMPLE_ORIGIN}+0000+AAAA`,
    `${signer.vkey}=`,
    "+".repeat(100_000),
    "\u202e",
    " ",
    "  x"
  ]

  it("is ignored, and listed with its line", async () => {
    for (const word of words) {
      const { exit, findings, not_checked: sentences } = await hinted(word)
      expect([exit, findings, sentences]).toEqual([
        0,
        [],
        ["1 key hint (K, line 5) was ignored: no vkey can be read there."]
      ])
    }
    expect((await hinted(...words)).not_checked).toEqual([
      "9 key hints (K, line 5, 6, 7, 8, 9, 10, 11, 12, 13) were ignored: no vkey can be read there."
    ])
  })

  it("is refused with a carriage return, as every other line", async () => {
    expect(await hinted(`${signer.vkey}\r`)).toMatchObject({ exit: 3, findings: [{ code: "E_FORMAT", line: 5 }] })
  })
})

describe("the keys of a chain that rotated often", () => {
  const other = (n: number): string => formatVkey(SAMPLE_ORIGIN, nodeCrypto.sha256(utf8(`${n}`)))
  const others = Array.from({ length: 600 }, (_, n) => other(n))
  const seen = async (plan: Partial<SamplePlan>) => {
    const {
      exit,
      findings,
      not_checked: sentences,
      verdicts
    } = await verifyPack(nodeCrypto, [await pack({ length: 3, ...plan })])
    expect([exit, findings]).toEqual([2, []])
    return [
      verdicts.authenticity,
      sentences
        .filter((sentence) => sentence.includes("not read"))
        .map((sentence) => sentence.slice(0, sentence.indexOf(" ")))
    ]
  }

  it("tell who signed, wherever in the chain the key was named", async () => {
    for (const count of [0, 1, 255, 256, 257, 300, 600]) {
      expect(await seen({ length: count + 2, keys: [...others.slice(0, count), signer.vkey] })).toEqual([
        "signed_by_unpinned_key",
        []
      ])
      expect(await seen({ length: count + 2, keys: [signer.vkey, ...others.slice(0, count)] })).toEqual([
        "signed_by_unpinned_key",
        []
      ])
    }
  })

  it("name the closing key where another signed the checkpoint: of a K line, or of the latest 256", async () => {
    const second = noteSigner(nodeCrypto, { name: SAMPLE_ORIGIN, seed: new Uint8Array(32).fill(3) })
    const closed = (keys: ReadonlyArray<string>, hints: ReadonlyArray<string> = []) =>
      seen({ length: keys.length, keys, hints, lines: [second.line] })
    expect(await closed([...others.slice(0, 300), second.vkey, signer.vkey])).toEqual(["signed_by_unpinned_key", []])
    expect(await closed([signer.vkey, second.vkey, ...others.slice(0, 255)])).toEqual(["signed_by_unpinned_key", []])
    expect(await closed([signer.vkey, second.vkey, ...others.slice(0, 300)], [signer.vkey])).toEqual([
      "signed_by_unpinned_key",
      []
    ])
    // Named again is named late.
    expect(
      await closed([signer.vkey, second.vkey, ...others.slice(0, 200), signer.vkey, ...others.slice(200, 300)])
    ).toEqual(["signed_by_unpinned_key", []])
  })

  it("are reported as not read where one of them may have signed", async () => {
    const second = noteSigner(nodeCrypto, { name: SAMPLE_ORIGIN, seed: new Uint8Array(32).fill(3) })
    expect(
      await seen({ length: 258, keys: [signer.vkey, second.vkey, ...others.slice(0, 256)], lines: [second.line] })
    ).toEqual(["unsigned", ["1"]])
    expect(
      await seen({ length: 302, keys: [signer.vkey, second.vkey, ...others.slice(0, 300)], lines: [second.line] })
    ).toEqual(["unsigned", ["45"]])
  })

  it("are kept in bounded number, though checkpoints name them all", () => {
    const hints = new KeyHints(nodeCrypto)
    const named = Array.from({ length: 700 }, (_, n) => other(n))
      .map((text) => parseVkey(text))
      .flatMap((read) => (read.ok ? [read.vkey] : []))
    for (let at = 0; at < named.length; at += 100)
      hints.expect({
        text: "",
        textBytes: utf8(""),
        signatures: named.slice(at, at + 100).map(({ keyId, name }) => ({ keyId, name, signature: new Uint8Array(64) }))
      })
    for (const vkey of named) hints.addRecorded(vkey, SAMPLE_ORIGIN)
    expect([hints.vkeys.length, hints.passedOver]).toEqual([576, 124])
  })
})
