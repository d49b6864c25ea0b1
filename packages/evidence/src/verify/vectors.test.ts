/** The packs of the format's own vectors, good and bad, through the whole verifier, with both crypto libraries. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { portableCrypto } from "../crypto.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { packContent } from "../node/decompress.ts"
import { detectCompression } from "../pack/compression.ts"
import { bytesSource } from "../pack/byte-source.ts"
import { verifyPackFile } from "../node/verify-pack-file.ts"
import { verifyPack } from "./verify-pack.ts"

const folder = new URL("../../../../fixtures/vectors/flyball-format/", import.meta.url)
const read = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(name, folder)))

interface PackCase {
  readonly file: string
  readonly about: string
  readonly args: { readonly vkey: string; readonly trusted_checkpoint?: string }
  readonly expect: {
    readonly exit: ReadonlyArray<number>
    readonly verdicts: Record<string, string>
    readonly findings_any: ReadonlyArray<string>
  }
}

const { packs } = JSON.parse(readFileSync(new URL("example.json", folder), "utf8")) as {
  readonly packs: ReadonlyArray<PackCase>
}

describe("the packs of the format's vectors", () => {
  it("are complete", () => expect(packs).toHaveLength(19))

  for (const pack of packs) {
    const trusted = pack.args.trusted_checkpoint
    const options = { vkeys: [pack.args.vkey], ...(trusted === undefined ? {} : { trustedCheckpoint: read(trusted) }) }
    for (const crypto of [portableCrypto, nodeCrypto]) {
      it(`${pack.file} (${pack.about}), ${crypto.name}`, async () => {
        const source = bytesSource(read(pack.file))
        const content = packContent(source, await detectCompression(source))
        const report = await verifyPack(crypto, content, options)
        expect(pack.expect.exit, JSON.stringify(report.findings)).toContain(report.exit)
        expect(report.verdicts).toMatchObject(pack.expect.verdicts)
        const codes = report.findings.map((finding) => finding.code)
        if (pack.expect.findings_any.length > 0)
          expect(
            codes.some((code) => pack.expect.findings_any.includes(code)),
            codes.join()
          ).toBe(true)
        else expect(codes).toEqual([])
      })
    }

    it(`${pack.file} as a file, and in chunks of every small size, says the same`, async () => {
      const {
        file: _file,
        roots: _roots,
        ...whole
      } = await verifyPackFile(new URL(pack.file, folder).pathname, options)
      const source = bytesSource(read(pack.file))
      const content: Array<Uint8Array> = []
      for await (const chunk of packContent(source, await detectCompression(source))) content.push(chunk.slice())
      const bytes = Buffer.concat(content)
      for (const size of [1, 7, 64, 1000]) {
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size)
        )
        const { file: _none, roots: _all, ...cut } = await verifyPack(nodeCrypto, chunks, options)
        expect(cut).toEqual(whole)
      }
    })
  }
})
