/** The two walks over the parts of a pack's records, from memory and from a second reading. */
import { describe, expect, it } from "vitest"
import { concatBytes, toHex, utf8 } from "../../bytes.ts"
import { nodeCrypto } from "../../node/crypto.ts"
import { encodeRecord } from "../../record/encode.ts"
import { RecordScanner } from "../../record/scan.ts"
import type { CommittedPart } from "./committed-parts.ts"
import { PartMemory, readPartsAgain } from "./committed-parts.ts"

const namesOf = (i: number): ReadonlyArray<string> =>
  i === 3 ? [] : Array.from({ length: 1 + i * 50 }, (_, n) => `p${i}_${String(n).padStart(4, "0")}`)

/** Records with many parts and with none, and with seqs up to the greatest. */
const records = [1, 2, 130, 131, 2 ** 21, 2 ** 40, 2 ** 40 + 1, 2 ** 53 - 2].map((seq, i) =>
  encodeRecord({
    at: "2026-11-21T00:00:00.000Z",
    body: {},
    kind: "decision.witnessed",
    parts: namesOf(i).map((name, n) => ({ c: toHex(nodeCrypto.sha256(Uint8Array.of(i, n % 256))), name })),
    prev: "1".repeat(64),
    seq
  })
)
const recordLines = records.map((record) => concatBytes(utf8("R "), record, utf8("\n")))

const listing = async (
  walk: Iterable<CommittedPart> | AsyncIterable<CommittedPart>
): Promise<ReadonlyArray<string>> => {
  const parts: Array<string> = []
  for await (const { commitment, name, seq } of walk) parts.push(`${seq} ${name} ${toHex(commitment)}`)
  return parts
}

describe("the parts of a pack's records", () => {
  it("are the same, in order, from memory and from a second reading in chunks of any size", async () => {
    const memory = new PartMemory()
    const scanner = new RecordScanner()
    const expected: Array<string> = []
    for (const line of recordLines) {
      expect(scanner.scan(line, 2, line.length - 1)).toBeNull()
      memory.add(scanner)
      expected.push(...scanner.parts().map(({ c, name }) => `${scanner.seq} ${name} ${c}`))
    }
    expect(expected.length).toBeGreaterThan(1024)
    expect(await listing(memory.parts())).toEqual(expected)
    const pack = concatBytes(utf8("evidence-pack/v1 a\nH {}\n"), ...recordLines, utf8("S 0 1\n"))
    for (const size of [1000, 65_536, pack.length]) {
      const chunks = Array.from({ length: Math.ceil(pack.length / size) }, (_, i) =>
        pack.subarray(i * size, (i + 1) * size)
      )
      expect(await listing(readPartsAgain(chunks))).toEqual(expected)
    }
  })

  it("end a second reading at the first line behind the records", async () => {
    for (const behind of ["D 1 a x x\n", "E 1 a 2\n", "Z 5 x\n"]) {
      const chunks = [concatBytes(recordLines[0]!, utf8(behind), recordLines[1]!)]
      expect(await listing(readPartsAgain(chunks))).toHaveLength(1)
    }
  })
})
