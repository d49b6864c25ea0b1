import { recordKinds } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { Writers } from "../recompute/checks/writers.ts"
import { mayWrite, serviceWriters, writersOfKinds } from "./writers-of-kinds.ts"

const id = (prefix: string): string => `${prefix}_${"0".repeat(26)}`
/** One writer of each class, and names that no version of the service writes under. */
const writers = [
  id("usr"),
  id("key"),
  "system:host",
  "breaker:spend",
  "policy:x",
  "policy:orphan",
  "policy:reviews",
  ...serviceWriters
]

describe("the writers of kinds", () => {
  it("are listed for each kind whose records name a writer, and for no other", () =>
    assert.deepStrictEqual(
      Object.keys(writersOfKinds).sort(),
      recordKinds
        .filter(({ body }) => body.some(({ name }) => name === "writer"))
        .map(({ kind }) => kind)
        .sort()
    ))

  it("are a closed list: of each kind somebody may write, and a rule that nobody knows may not", () => {
    for (const kind of Object.keys(writersOfKinds)) {
      assert.isTrue(writers.some((writer) => mayWrite(kind, writer)) || kind.startsWith("ingest_key."), kind)
      for (const writer of ["policy:x", "policy:", "system:kill2".slice(0, 11)])
        assert.strictEqual(mayWrite(kind, writer), (writersOfKinds[kind] as ReadonlyArray<string>).includes(writer))
    }
  })

  it.each(Object.keys(writersOfKinds))("are held against %s, each writer by its class", (kind) => {
    for (const writer of writers) {
      const found = new Writers().problem({ seq: 1, kind, body: { writer, capture: "self_reported" } })
      assert.strictEqual(found === null, mayWrite(kind, writer), `${kind} by ${writer}: ${found}`)
    }
  })
})
