import { assert, describe, it } from "vitest"
import { People, placeOf } from "./people.ts"

const eve = `usr_${"0".repeat(25)}1`
const again = `usr_${"0".repeat(25)}2`

/** A record in the test, with its seq. */
interface Reported {
  readonly seq: number
  readonly kind: string
  readonly body: { readonly [member: string]: string | number }
}
const seen = (seq: number, principal_id: string): Reported => ({
  seq,
  kind: "principal.seen",
  body: { kind: "user", principal_id }
})
const erased = (seq: number, target: number, name = "identity"): Reported => ({
  seq,
  kind: "part.erased",
  body: { name, reason: "subject_request", seq: target }
})
const drafted = (seq: number, writer: string): Reported => ({ seq, kind: "envelope.drafted", body: { writer } })

const after = (
  fromGenesis: boolean,
  ...chains: ReadonlyArray<readonly [before: number, ...records: ReadonlyArray<Reported>]>
): People => {
  const people = new People(fromGenesis)
  for (const [before, ...records] of chains) {
    for (const record of records) people.take({ ...record, parts: new Map() }, placeOf(record.seq, before), before)
  }
  return people
}
const verdict = (people: People, writer = again, began: ReadonlyArray<string> = [eve]): string =>
  people.problem(began, writer)?.verdict ?? "another"
const whole = (...records: ReadonlyArray<Reported>) => verdict(after(true, [0, ...records]))
const range = (...records: ReadonlyArray<Reported>) => verdict(after(false, [0, ...records]))

describe("two pseudonyms", () => {
  it("may be one person only where the second was given out after the first one's identity was erased", () => {
    assert.strictEqual(whole(seen(1, eve), erased(2, 1), seen(3, again)), "second_person_missing")
    assert.strictEqual(whole(seen(1, eve), seen(2, again), erased(3, 1)), "another")
    assert.strictEqual(whole(seen(1, again), seen(2, eve), erased(3, 2)), "another")
    assert.strictEqual(whole(seen(1, again), erased(2, 1), seen(3, eve)), "another")
    assert.strictEqual(whole(seen(1, eve), seen(2, again)), "another")
  })

  it("are distinguished by the host where it names one itself, and only an erased identity counts", () => {
    assert.strictEqual(whole(seen(1, eve), erased(2, 1)), "another")
    assert.strictEqual(whole(erased(2, 1), seen(3, again)), "another")
    assert.strictEqual(whole(seen(1, eve), erased(2, 1, "profile"), seen(3, again)), "another")
    assert.strictEqual(whole(seen(1, eve), erased(2, 2), seen(3, again)), "another")
    assert.strictEqual(verdict(after(true, [0, seen(1, eve), erased(2, 1), seen(3, again)]), "system:host"), "another")
  })

  it("keep their order through retired chains", () => {
    assert.strictEqual(
      verdict(after(true, [10, seen(1, eve), erased(9, 1)], [0, seen(1, again)])),
      "second_person_missing"
    )
    assert.strictEqual(
      verdict(after(true, [10, seen(8, again), seen(9, eve)], [0, seen(1, `usr_${"0".repeat(25)}3`), erased(2, 1)])),
      "another"
    )
    assert.strictEqual(verdict(after(true, [20, seen(9, again)], [10, seen(1, eve), erased(2, 1)])), "another")
    assert.strictEqual(
      verdict(after(true, [10, seen(1, eve)], [0, seen(1, `usr_${"0".repeat(25)}3`), erased(2, 1), seen(3, again)])),
      "another"
    )
  })

  it("are found to be one in words that this version does not know", () => {
    const people = after(true, [
      0,
      { seq: 1, kind: "principal.seen", body: { kind: "robot", principal_id: eve } },
      erased(2, 1),
      seen(3, again)
    ])
    assert.strictEqual(verdict(people), "second_person_missing")
  })
})

describe("two pseudonyms of which one was given out before a range", () => {
  it("are one where what is shown says so", () =>
    assert.strictEqual(
      range(seen(11, eve), drafted(12, eve), erased(13, 11), seen(14, again)),
      "second_person_missing"
    ))
  it("are two where the second was given out before an erasure that is shown", () =>
    assert.strictEqual(range(seen(11, eve), drafted(12, eve), erased(13, 11)), "another"))
  it("are two where the first wrote, and nobody unknown was erased between that and the other's first sight", () => {
    assert.strictEqual(range(drafted(11, eve), seen(12, again)), "another")
    assert.strictEqual(range(drafted(11, eve), seen(12, again), erased(13, 1)), "another")
    assert.strictEqual(range(erased(11, 1), drafted(12, eve), seen(13, again)), "another")
    assert.strictEqual(range(erased(11, 1), seen(12, again), drafted(13, eve)), "another")
    assert.strictEqual(range(drafted(11, eve), erased(12, 1)), "another")
  })
  it("are two where the first was seen in the range, even if another identity was erased", () => {
    assert.strictEqual(range(seen(11, eve), drafted(12, eve), erased(13, 1), seen(14, again)), "another")
    assert.strictEqual(range(seen(11, eve), seen(12, again)), "another")
  })
  it("are not known where somebody unknown was erased in between, or where the first wrote before the range", () => {
    assert.strictEqual(range(drafted(11, eve), erased(12, 1), seen(13, again)), "withheld")
    assert.strictEqual(range(seen(11, again)), "withheld")
    assert.strictEqual(range(), "withheld")
  })
  it("are distinguished by the host where it names one in words of its own", () => {
    assert.strictEqual(verdict(after(false), "system:host"), "another")
    assert.strictEqual(verdict(after(false), again, ["key_1"]), "another")
  })
})
