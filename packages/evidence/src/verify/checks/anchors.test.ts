/** Which cosignatures count, and what makes a trusted checkpoint one. */
import { describe, expect, it } from "vitest"
import { nodeCrypto } from "../../node/crypto.ts"
import { signatureLine } from "../../note/note.ts"
import { cosigner } from "../../checkpoint/sign.ts"
import { sampleLog } from "../sample-packs.ts"
import { type VerifyOptions, verifyPack } from "../verify-pack.ts"

const NOW_S = 1_795_219_200
const { note, pack, signer } = sampleLog(nodeCrypto)
const witness = (n: number, timeS: number) =>
  cosigner(nodeCrypto, { name: `w${n}.example`, seed: new Uint8Array(32).fill(n), timeS })
const [old, fresh] = [witness(1, 1_700_000_000), witness(2, NOW_S - 60)]
const cosigned = await pack({ length: 4, lines: [signer.line, old.line, fresh.line] })
const policy = (quorum: string): string =>
  [
    `log ${signer.vkey}`,
    `witness w1 ${old.vkey}`,
    `witness w2 ${fresh.vkey}`,
    "group both all w1 w2",
    `quorum ${quorum}`,
    ""
  ].join("\n")
const codes = async (options: VerifyOptions, bytes = cosigned) => {
  const { exit, findings, verdicts } = await verifyPack(nodeCrypto, [bytes], options)
  return [exit, verdicts.anchoring, ...findings.map(({ code }) => code)]
}
const withinAnHour = { maxAgeMs: 3_600_000, nowMs: NOW_S * 1000 }

describe("a cosignature by a witness outside the quorum", () => {
  it("says nothing about age, in the policy or given beside it", async () => {
    expect(await codes({ policy: policy("w1"), ...withinAnHour })).toEqual([2, "stale", "E_STALE"])
    const one = policy("w1")
      .replace(/^witness w2 .*\n/m, "")
      .replace(/^group .*\n/m, "")
    expect(await codes({ policy: one, vkeys: [fresh.vkey], ...withinAnHour })).toEqual([2, "stale", "E_STALE"])
    expect(await codes({ policy: policy("w2"), ...withinAnHour })).toEqual([0, "witnessed"])
    expect(await codes({ policy: policy("both"), ...withinAnHour })).toEqual([0, "witnessed"])
  })

  it("witnesses nothing where the quorum asks for nobody", async () => {
    expect(await codes({ policy: policy("none") })).toEqual([0, "none"])
    expect(await codes({ policy: policy("none"), ...withinAnHour })).toEqual([2, "none", "E_STALE"])
  })
})

describe("a witness's key that is given by itself and in the policy", () => {
  it("counts towards the quorum", async () =>
    expect(await codes({ policy: policy("w1"), vkeys: [old.vkey] })).toEqual([0, "witnessed"]))
})

describe("a trusted checkpoint where only a witness is pinned", () => {
  const plain = { length: 4 }
  const trusting = async (...lines: ReadonlyArray<(text: string) => string>) =>
    codes({ vkeys: [old.vkey], trustedCheckpoint: note(plain, 3, [signer.line, ...lines]) }, await pack(plain))

  it("is not believed with a line that names it and does not verify", async () => {
    const unsigned = () => signatureLine(old.name, old.keyId, new Uint8Array(72))
    expect(await trusting(unsigned)).toEqual([1, "none", "E_KEY_UNKNOWN", "E_CHECKPOINT_SIG"])
  })

  it("is believed as given without such a line", async () => {
    expect(await trusting()).toEqual([2, "consistent_with_trusted_checkpoint", "E_KEY_UNKNOWN"])
    expect(await trusting(old.line)).toEqual([2, "consistent_with_trusted_checkpoint", "E_KEY_UNKNOWN"])
  })
})

describe("a pinned witness that did not cosign", () => {
  const pinned = async (lines: ReadonlyArray<(text: string) => string>, ...witnesses: ReadonlyArray<string>) => {
    const bytes = await pack({ length: 4, lines: [signer.line, ...lines] })
    return verifyPack(nodeCrypto, [bytes], { vkeys: [signer.vkey, ...witnesses] })
  }

  it("is a finding of its own, with its name, and status 2", async () => {
    const report = await pinned([old.line], old.vkey, fresh.vkey)
    expect(report).toMatchObject({
      exit: 2,
      verdicts: { integrity: "ok", authenticity: "signed_by_pinned_key", anchoring: "witnessed" }
    })
    expect(report.findings).toEqual([
      {
        code: "E_KEY_UNKNOWN",
        line: 3,
        seq: null,
        expected: `a cosignature by the pinned witness ${fresh.name}`,
        found: "none"
      }
    ])
    const none = await pinned([], old.vkey, fresh.vkey, fresh.vkey)
    expect(none.findings.map(({ expected }) => expected.split(" ").at(-1))).toEqual([old.name, fresh.name])
  })

  it("is none where it did, under either of its keys, or badly", async () => {
    expect(await pinned([old.line, fresh.line], old.vkey, fresh.vkey)).toMatchObject({ exit: 0, findings: [] })
    const successor = cosigner(nodeCrypto, { name: old.name, seed: new Uint8Array(32).fill(7), timeS: NOW_S })
    expect(await pinned([successor.line], old.vkey, successor.vkey)).toMatchObject({ exit: 0, findings: [] })
    const bad = () => signatureLine(old.name, old.keyId, new Uint8Array(72))
    expect((await pinned([bad], old.vkey)).findings.map(({ code }) => code)).toEqual(["E_CHECKPOINT_SIG"])
  })

  it("is named where a policy asks for it, and is not missed where the quorum is reached", async () => {
    const bytes = await pack({ length: 4, lines: [signer.line, old.line] })
    const unmet = await verifyPack(nodeCrypto, [bytes], { policy: policy("both") })
    expect(unmet).toMatchObject({ exit: 2, findings: [] })
    expect(unmet.not_checked[0]).toMatch(/1 of 2 known witnesses .*\. No cosignature by w2\.$/)
    expect(await verifyPack(nodeCrypto, [bytes], { policy: policy("w1") })).toMatchObject({ exit: 0, findings: [] })
  })
})
