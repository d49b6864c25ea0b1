/** Signature lines by keys that the pack itself names. */
import { describe, expect, it } from "vitest"
import { nodeCrypto } from "../../node/crypto.ts"
import { signatureLine } from "../../note/note.ts"
import { noteSigner } from "../../checkpoint/sign.ts"
import { SAMPLE_ORIGIN, sampleLog } from "../sample-packs.ts"
import { verifyPack } from "../verify-pack.ts"

const { pack, signer } = sampleLog(nodeCrypto)
const second = noteSigner(nodeCrypto, { name: SAMPLE_ORIGIN, seed: new Uint8Array(32).fill(3) })
const bad = (): string => signatureLine(SAMPLE_ORIGIN, second.keyId, new Uint8Array(64))
const judged = async (vkeys: ReadonlyArray<string>, line: (text: string) => string, hints = [second.vkey]) => {
  const { counts, exit, findings, verdicts } = await verifyPack(
    nodeCrypto,
    [await pack({ length: 3, hints, lines: [signer.line, line] })],
    { vkeys }
  )
  return [exit, verdicts.authenticity, counts.ignored_signatures, ...findings.map(({ code }) => code)]
}

describe("a line that names a hinted key and does not verify", () => {
  it("is bad, though another hinted line verifies", async () =>
    expect(await judged([], bad)).toEqual([1, "bad_signature", 0, "E_CHECKPOINT_SIG"]))
  it("is ignored beside a line by a pinned key, and where nobody hints at the key", async () => {
    expect(await judged([signer.vkey], bad)).toEqual([0, "signed_by_pinned_key", 1])
    expect(await judged([], bad, [])).toEqual([2, "signed_by_unpinned_key", 1])
  })
  it("is not what a rotation makes, where both lines verify", async () =>
    expect(await judged([], second.line)).toEqual([2, "signed_by_unpinned_key", 0]))
})
