import { DatabaseSync } from "node:sqlite"
import type { RecordQuery } from "@flyball/core/storage"
import { assert, describe, it } from "vitest"
import { ChainReader } from "./chain-reader.ts"
import { migrate } from "./migrate.ts"

const length = 45_000

/** A long chain of common records, with a settled one every 10,000 and an erasure near each end. */
const open = () => {
  const db = new DatabaseSync(":memory:")
  migrate(db)
  const prepare = db.prepare.bind(db)
  db.prepare = (sql) => {
    prepared.push(sql)
    return prepare(sql)
  }
  db.exec(
    `INSERT INTO word (id, text) VALUES (3, 'part.erased'), (4, 'agt_1'), (5, 'kill.activated'), (6, 'review.opened')`
  )
  db.exec(`WITH RECURSIVE n(seq) AS (SELECT 0 UNION ALL SELECT seq + 1 FROM n WHERE seq < ${length - 1})
    INSERT INTO record SELECT seq, iif(seq IN (7, 44990), 3, iif(seq % 10000 = 5000, 2, 1)), iif(seq % 3 = 0, 4,
    NULL), 0, zeroblob(32), zeroblob(1) FROM n`)
  return { db, reader: new ChainReader(db) }
}

/** Statements that were prepared. */
const prepared: Array<string> = []

/** Seqs found, and how many times the search let others go first. */
const search = (
  reader: ChainReader,
  query: Partial<RecordQuery>
): readonly [seqs: ReadonlyArray<number>, pauses: number] => {
  const slices = reader.records({ limit: 1000, ...query })
  for (let pauses = 0; ; pauses++) {
    const { done, value } = slices.next()
    if (done === true) return [value.rows.map(([seq]) => seq), pauses]
  }
}

describe("ChainReader", () => {
  const { db, reader } = open()

  /** How SQLite runs the statement of a query. */
  const planOf = (query: Partial<RecordQuery>): ReadonlyArray<string> => {
    prepared.length = 0
    search(new ChainReader(db), query)
    const sql = prepared.find((one) => one.includes("hash || bytes"))!
    return db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String(row["detail"]))
  }

  it("searches a common kind in slices, both ways", () => {
    const settled = [5000, 15000, 25000, 35000]
    assert.deepEqual(search(reader, { kinds: ["decision.settled"] }), [settled, 2])
    assert.deepEqual(search(reader, { kinds: ["decision.settled"], order: "desc" }), [settled.toReversed(), 2])
    assert.deepEqual(search(reader, { kinds: ["decision.settled"], limit: 2 }), [[5000, 15000], 0])
    assert.deepEqual(search(reader, { kinds: ["decision.settled", "part.erased"], from: 8, to: 24_999 }), [
      [5000, 15000],
      1
    ])
    assert.deepEqual(search(reader, { kinds: ["decision.settled"], agentId: "agt_1", order: "desc" }), [[15000], 2])
  })

  it("finds rare kinds by their index, in one query", () => {
    assert.deepEqual(search(reader, { kinds: ["part.erased"] }), [[7, 44_990], 0])
    assert.deepEqual(search(reader, { kinds: ["part.erased"], order: "desc", limit: 1 }), [[44_990], 0])
    assert.deepEqual(search(reader, { kinds: ["part.erased"], agentId: "agt_1" }), [[], 0])
    assert.deepEqual(search(reader, { kinds: ["never.written"] }), [[], 0])
    assert.deepEqual(search(reader, { agentId: "agt_none" }), [[], 0])
  })

  it("reads a page from either end without reading the rest", () => {
    assert.deepEqual(search(reader, { limit: 2, order: "desc" }), [[44_999, 44_998], 0])
    assert.deepEqual(search(reader, { limit: 2, from: 44_998 }), [[44_998, 44_999], 0])
    assert.deepEqual(search(reader, { limit: 2, from: 45_000 }), [[], 0])
  })

  it("walks an index for each rare kind, and merges the walks without sorting them", () => {
    const own = "SEARCH record USING COVERING INDEX record_kind (kind=? AND rowid>? AND rowid<?)"
    const ofAgent = "SEARCH record USING COVERING INDEX record_agent_kind (agent=? AND kind=? AND rowid>? AND rowid<?)"
    for (const order of ["asc", "desc"] as const)
      for (const [agent, walk] of [
        [{}, own],
        [{ agentId: "agt_1" }, ofAgent]
      ] as const) {
        const plan = planOf({ ...agent, order, kinds: ["part.erased", "kill.activated", "review.opened"] })
        assert.lengthOf(
          plan.filter((step) => step === walk),
          3
        )
        assert.lengthOf(
          plan.filter((step) => /SCAN|TEMP B-TREE/.test(step)),
          0,
          plan.join("\n")
        )
      }
  })
})
