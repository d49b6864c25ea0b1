import type { ChangeSet } from "@flyball/core/storage"
import { partCount, readyOutbox, saltBytes } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { assert, describe, it } from "vitest"
import { admitGroup } from "../admit-group.ts"
import { GroupView } from "../group-view.ts"
import { lookupsIn } from "../lookups.ts"
import { prepare } from "../prepare.ts"
import { decision } from "../testing/given-database.ts"
import { writesIn } from "../writes.ts"

const zeros = { bytes: (n: number) => new Uint8Array(n) }

/** The tables that the statements of a group name: those of its questions, and those of its rows. */
const tablesOf = (changes: ReadonlyArray<ChangeSet>) => {
  const prepared = changes.map((change) =>
    prepare(nodeCrypto, change, zeros.bytes(partCount(change.records ?? []) * saltBytes), readyOutbox(change, zeros))
  )
  const { once, state } = lookupsIn("s")(prepared)
  const view = new GroupView()
  view.head = { seq: 0, hash: nodeCrypto.sha256(zeros.bytes(1)), atMs: 0 }
  for (const { read } of state) read(view, [])
  const tables = (queries: ReadonlyArray<{ readonly sql: string }>) =>
    queries.map(({ sql }) => /(?:INSERT INTO|UPDATE|FROM|JOIN) "s"\.(\w+)/.exec(sql)?.[1])
  return {
    reads: tables([...once, ...state]),
    written: tables(writesIn("s")({ ...admitGroup(nodeCrypto, view, 1, prepared).rows, nodes: [] }))
  }
}

describe("the outbox in a group", () => {
  it("adds no statement to a group that does not use it", () => {
    const capture = Array.from({ length: 50 }, (_, n): ChangeSet => ({
      records: [decision(`${n}`), decision(`${n}+`)]
    }))
    const expected = { reads: ["once"], written: ["records", "parts", "once", "head"] }
    assert.deepEqual(tablesOf(capture), expected)
    assert.deepEqual(
      tablesOf(capture.map((change) => ({ ...change, events: [], moves: [], cancel: [], again: [] }))),
      expected
    )
  })

  it("adds the same number of statements however many ChangeSets use it", () => {
    const act: ChangeSet = { events: [{ type: "thing.made", data: {} }] }
    const expected = { reads: ["events", "document_keys"], written: ["events"] }
    assert.deepEqual(tablesOf([act]), expected)
    assert.deepEqual(tablesOf(Array.from({ length: 50 }, () => act)), expected)
  })
})
