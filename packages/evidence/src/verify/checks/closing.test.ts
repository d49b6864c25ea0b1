/** The text of N: which of its lines differ, and what that is called. */
import { describe, expect, it } from "vitest"
import { nodeCrypto } from "../../node/crypto.ts"
import { sampleLog } from "../sample-packs.ts"
import { verifyPack } from "../verify-pack.ts"

const { note, pack, signer } = sampleLog(nodeCrypto)
const closedWith = async (closing: (text: string) => string) => {
  const { exit, findings, verdicts } = await verifyPack(nodeCrypto, [await pack({ length: 3, closing })], {
    vkeys: [signer.vkey]
  })
  return [exit, verdicts.integrity, verdicts.authenticity, ...findings.map(({ code }) => code)]
}

describe("a closing note", () => {
  it("whose name alone differs, in any way, is of another origin", async () => {
    for (const name of [
      "flyball.example/sample/evidence-pack/v2",
      "flyball.example/sample",
      "flyball.example/other/evidence-pack/v1",
      "x"
    ]) {
      expect(await closedWith((text) => text.replace(/^.*\n/, `${name}\n`)), name).toEqual([
        1,
        "broken",
        "signed_by_pinned_key",
        "E_ORIGIN"
      ])
    }
  })

  it("is none where it is about something else", async () => {
    expect(await closedWith((text) => text.replace("/v1\n3\n", "/v2\n4\n"))).toEqual([
      1,
      "ok",
      "bad_signature",
      "E_PACK_SIG"
    ])
    expect(await closedWith(() => note({ length: 3 }).split("\n\n")[0]! + "\n")).toEqual([
      1,
      "ok",
      "bad_signature",
      "E_PACK_SIG"
    ])
  })
})
