/** The two ways to find a part again, from memory and from a second reading, say the same. */
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { concatBytes, toHex, utf8 } from "../bytes.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { encodeRecord } from "../record/encode.ts"
import { RecordScanner } from "../record/scan.ts"
import { Unreadable } from "./findings.ts"
import { PackReading } from "./pack-reading.ts"
import { PartLog } from "./part-log.ts"
import { rereadParts } from "./part-reread.ts"
import type { PartWalk } from "./part-walk.ts"

/** Records whose names and distances take every way of being written down. */
const records = [1, 2, 130, 131, 2 ** 21, 2 ** 40, 2 ** 40 + 1, 2 ** 53 - 2].map((seq, i) =>
  encodeRecord({
    at: "2026-11-21T00:00:00.000Z",
    body: {},
    kind: "decision.witnessed",
    parts: (i === 3
      ? []
      : Array.from({ length: 1 + i * 50 }, (_, n) =>
          `p${i}_${String(n).padStart(4, "0")}`.padEnd((n % 25) + 8, "x")
        ).sort()
    ).map((name, n) => ({ c: toHex(nodeCrypto.sha256(Uint8Array.of(i, n))), name })),
    prev: "1".repeat(64),
    seq
  })
)

const listing = async (walk: PartWalk): Promise<ReadonlyArray<string>> => {
  const parts: Array<string> = []
  while (await walk.advance())
    parts.push(`${walk.seq} ${walk.name} ${toHex(walk.bytes.subarray(walk.at, walk.at + 32))}`)
  return parts
}

const logOf = (budget: number): PartLog => {
  const log = new PartLog(budget)
  const scanner = new RecordScanner()
  for (const record of records) {
    // Behind other bytes, as in a chunk.
    const chunk = concatBytes(utf8("R "), record, utf8("\n"))
    expect(scanner.scan(chunk, 2, chunk.length - 1)).toBeNull()
    log.add(chunk, scanner)
  }
  return log
}

describe("parts seen earlier", () => {
  it("are found again in order, from memory as from a second reading", async () => {
    const log = logOf(Infinity)
    const fromMemory = await listing(log.walk())
    expect(fromMemory).toHaveLength(log.count)
    expect(log.count).toBeGreaterThan(255 * 4)
    const pack = concatBytes(
      utf8("evidence-pack/v1 a\nH {}\n"),
      ...records.map((record) => concatBytes(utf8("R "), record, utf8("\n"))),
      utf8("S 0 1\n")
    )
    for (const size of [1000, 65_536, pack.length]) {
      const chunks = Array.from({ length: Math.ceil(pack.length / size) }, (_, i) =>
        pack.subarray(i * size, (i + 1) * size)
      )
      expect(await listing(rereadParts(chunks))).toEqual(fromMemory)
    }
  })

  it("are forgotten past the budget, and still counted", () => {
    const log = logOf(20_000)
    expect([log.overflowed, log.count]).toEqual([true, logOf(Infinity).count])
  })
})

describe("a pack read twice", () => {
  const folder = new URL("../../../../fixtures/vectors/flyball-format/", import.meta.url)
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".evp"))) {
    it(`says of its parts what it says from memory: ${name}`, async () => {
      const pack = new Uint8Array(readFileSync(new URL(name, folder)))
      const read = async (partBudget: number) => {
        let readings = 0
        const reread = () => {
          readings++
          return rereadParts([pack])
        }
        const reading = new PackReading(nodeCrypto, { rootsAt: [], partBudget, reread, onRecord: null })
        reading.reader.feed(pack)
        try {
          while (reading.reader.next()) await reading.line()
          reading.end()
        } catch (cause) {
          if (!(cause instanceof Unreadable)) throw cause
        }
        const { disclosed } = reading.parts
        return {
          readings,
          said: {
            findings: reading.findings.listed(),
            disclosed,
            withheld: reading.parts.withheld(reading.partLog.count),
            erased: reading.erasures.count()
          }
        }
      }
      const [twice, once] = [await read(0), await read(Infinity)]
      expect(twice.said).toEqual(once.said)
      expect(once.readings).toBe(0)
      if (/^D |^E /m.test(Buffer.from(pack).toString("latin1")) && once.said.withheld + once.said.disclosed > 0)
        expect(twice.readings).toBe(1)
    })
  }
})
