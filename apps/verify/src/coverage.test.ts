/** How much of its chain a pack holds. */
import { portableCrypto, type Report, verifyPack } from "@flyball/evidence"
import { beforeAll, describe, expect, it } from "vitest"
import { coverageSentence } from "./coverage.ts"

let empty: Report
beforeAll(async () => {
  empty = await verifyPack(portableCrypto, [])
})

const covered = (
  kind: "full" | "range" | "sparse",
  [from, to]: readonly [number, number],
  [records, size]: readonly [number, number],
  completeness: Report["verdicts"]["completeness"] = "range"
): string | null =>
  coverageSentence({
    ...empty,
    header: { created: "", filter: {}, from, generator: "", kind, to, tree_size: size },
    checkpoint: { size, rootHex: "", note: "", signers: [] },
    counts: { ...empty.counts, records },
    verdicts: { ...empty.verdicts, integrity: "ok", completeness }
  })

describe("how much of its chain a pack holds", () => {
  it("is counted in records that it has and lacks", () => {
    expect([
      covered("full", [0, 4], [5, 5]),
      covered("full", [0, 0], [1, 1]),
      covered("range", [4, 6], [3, 11]),
      covered("range", [4, 4], [1, 2]),
      covered("sparse", [0, 11], [3, 12]),
      covered("sparse", [0, 11], [0, 12])
    ]).toEqual([
      "Records 0 to 4 of a chain of 5; all of them are in this pack.",
      "Record 0 of a chain of 1; it is in this pack.",
      "Records 4 to 6 of a chain of 11; 8 are not in this pack.",
      "Record 4 of a chain of 2; 1 is not in this pack.",
      "3 of the records 0 to 11 of a chain of 12; 9 are not in this pack.",
      "None of the 12 records of the chain is in this pack."
    ])
  })

  it("is not stated of what cannot be read, is broken, or is shorter than a trusted checkpoint", () => {
    expect(coverageSentence(empty)).toBeNull()
    expect(covered("full", [0, 6], [7, 7], "truncated")).toBeNull()
  })
})
