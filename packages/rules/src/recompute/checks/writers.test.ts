import { assert, describe, it } from "vitest"
import { Writers } from "./writers.ts"

const key = `key_${"1".repeat(26)}`
const minted = (more: object = {}) => ({
  seq: 1,
  kind: "ingest_key.minted",
  body: { key_id: key, writer: "system:host", ...more }
})
const decision = (writer: string, capture?: string) => ({
  seq: 2,
  kind: "decision.witnessed",
  body: { writer, ...(capture === undefined ? {} : { capture }) }
})

describe("the writer of a decision that a gateway captured", () => {
  const problemOf = (...records: ReadonlyArray<Parameters<Writers["problem"]>[0]>) => {
    const writers = new Writers()
    return records.map((record) => writers.problem(record)).at(-1)
  }

  it("must be a key that was minted for mediated capture", () => {
    assert.isNull(problemOf(minted({ capture: "mediated" }), decision(key, "mediated")))
    assert.match(problemOf(minted(), decision(key, "mediated"))!, /Only the key of a gateway .* says key_1+\.$/)
  })

  it("is never a person or the host", () => {
    for (const writer of [`usr_${"1".repeat(26)}`, "system:host"])
      assert.match(problemOf(decision(writer, "mediated"))!, /Only the key of a gateway/)
  })

  it("is not checked when the key was minted in an earlier chain", () =>
    assert.isNull(problemOf(decision(key, "mediated"))))

  it("may be any writer for other capture claims", () => {
    for (const capture of ["self_reported", "framework_hook", undefined])
      assert.isNull(problemOf(minted(), decision(key, capture)))
  })
})
