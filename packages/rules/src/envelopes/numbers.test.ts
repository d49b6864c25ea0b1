import { assert, describe, it } from "vitest"
import type { JsonMap } from "../records/record.ts"
import { EnvelopeNumbers } from "./numbers.ts"

const record = (kind: string, more: JsonMap = {}, seq = 0) => ({ kind, seq, body: { envelope_id: "env_1", ...more } })
const drafted = (revision: number, version: number) => record("envelope.drafted", { revision, version })
const published = (version: number) => record("envelope.published", { version })
const erased = record("part.erased", { seq: 1, name: "envelope" })
const wrong = (numbers: EnvelopeNumbers, ...records: ReadonlyArray<ReturnType<typeof record>>) =>
  records
    .map((one) => numbers.take(one))
    .map((found) => (found === null ? null : `${found.member} ${found.expected}, ${found.found}`))

describe("revision and version numbers of an envelope", () => {
  it("count every draft, publication and withdrawal", () => {
    const life = [
      drafted(1, 1),
      drafted(2, 1),
      published(1),
      drafted(4, 2),
      record("envelope.withdrawn"),
      drafted(6, 2),
      published(2)
    ]
    assert.deepStrictEqual(
      wrong(new EnvelopeNumbers(true), ...life),
      life.map(() => null)
    )
  })

  it("may or may not count an erasure, which may concern another envelope", () => {
    for (const revision of [2, 3])
      assert.deepStrictEqual(wrong(new EnvelopeNumbers(true), drafted(1, 1), erased, drafted(revision, 1)), [
        null,
        null,
        null
      ])
    assert.deepStrictEqual(wrong(new EnvelopeNumbers(true), drafted(1, 1), erased, drafted(4, 1)), [
      null,
      null,
      "revision 2 to 3, 4"
    ])
  })

  it("count the erasure of a withdrawal's reason, and of no other reason", () => {
    const withdrawn = record("envelope.withdrawn", {}, 7)
    const without = (seq: number) => record("part.erased", { seq, name: "reason" })
    const life = (seq: number) => [drafted(1, 1), published(1), withdrawn, without(seq), drafted(5, 2)]
    assert.isNull(wrong(new EnvelopeNumbers(true), ...life(7)).at(-1))
    assert.strictEqual(wrong(new EnvelopeNumbers(true), ...life(6)).at(-1), "revision 4, 5")
  })

  it("are reported once when wrong, and later numbers are compared with the wrong ones", () => {
    assert.deepStrictEqual(
      wrong(new EnvelopeNumbers(true), drafted(1, 1), drafted(7, 3), drafted(8, 3), published(3)),
      [null, "version 1, 3", null, null]
    )
  })

  it("are unknown before the first record of a range, and checked after the first one in it", () => {
    assert.deepStrictEqual(
      wrong(new EnvelopeNumbers(false), drafted(9, 4), drafted(10, 4), published(4), drafted(13, 5)),
      [null, null, null, "revision 12, 13"]
    )
    assert.deepStrictEqual(wrong(new EnvelopeNumbers(false), published(4), drafted(13, 5), drafted(12, 5)), [
      null,
      null,
      "revision 14, 12"
    ])
    const numbers = new EnvelopeNumbers(true)
    numbers.take(drafted(1, 1))
    numbers.forget()
    assert.deepStrictEqual(wrong(numbers, drafted(9, 4)), [null])
  })
})
