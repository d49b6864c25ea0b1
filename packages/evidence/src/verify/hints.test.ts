/** Keys that a pack hints at, usable and not. */
import { describe, expect, it } from "vitest"
import { utf8 } from "../bytes.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { keyIdOf, parseVkey, signatureType, type Vkey } from "../note/vkey.ts"
import { Hints } from "./hints.ts"
import { SAMPLE_ORIGIN, sampleLog } from "./sample-packs.ts"
import { verifyPack } from "./verify-pack.ts"

const { pack, signer } = sampleLog(nodeCrypto)
const otherId = signer.vkey.replace(`+${signer.keyIdHex}+`, "+00000000+")

describe("a hint with the right key and another key id", () => {
  it("does not stand in the way of the right one", async () => {
    for (const hints of [[otherId], [otherId, signer.vkey], [signer.vkey, otherId]]) {
      expect(await verifyPack(nodeCrypto, [await pack({ length: 3, hints })])).toMatchObject({ exit: 2, findings: [], verdicts: { authenticity: "signed_by_unpinned_key" } })
    }
  })
})

describe("hints without number", () => {
  const vkey = (n: number): Vkey => {
    const publicKey = nodeCrypto.sha256(utf8(`${n}`))
    return { name: SAMPLE_ORIGIN, keyId: keyIdOf(nodeCrypto, SAMPLE_ORIGIN, signatureType.ed25519, publicKey), type: signatureType.ed25519, publicKey }
  }
  const last = parseVkey(signer.vkey)
  const lastOf = (count: number): boolean => {
    const hints = new Hints(nodeCrypto)
    for (let n = 0; n < count; n++) hints.add(vkey(n), SAMPLE_ORIGIN)
    if (last.ok) hints.add(last.vkey, SAMPLE_ORIGIN)
    return hints.vkeys.at(-1)!.publicKey.join() === signer.publicKey.join()
  }

  it("are looked at up to 256 keys", () => expect([lastOf(255), lastOf(256)]).toEqual([true, false]))
})
