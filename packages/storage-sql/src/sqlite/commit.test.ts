import type { ChangeSet, RecordDraft } from "@flyball/core/storage"
import { assert, describe, it } from "vitest"
import { ChainWriter } from "./commit.ts"
import { packParts, readParts } from "./rows.ts"
import { openWriter } from "./testing/open-writer.ts"

const open = () => {
  const { db, reader, ...writer } = openWriter()
  const commit = (...changes: ReadonlyArray<ChangeSet>) => writer.commit(...changes).answers
  const [genesis] = commit({
    expectEmpty: true,
    records: [{ kind: "chain.genesis", body: {}, parts: [], agentId: null }]
  })
  assert.equal(genesis?._tag, "Committed")
  return { db, commit, reader }
}

const draft = (bytes = 0, more: Partial<RecordDraft> = {}): RecordDraft => ({
  kind: "decision.witnessed",
  body: {},
  parts: bytes === 0 ? [] : [{ name: "args", bytes: new Uint8Array(bytes) }],
  agentId: null,
  ...more
})
const once = (key: string, digit = "a") => ({ scope: "agt_1", key, digest: digit.repeat(64) })

const tags = (answers: ReadonlyArray<{ readonly _tag: string }>) => answers.map(({ _tag }) => _tag)

describe("ChainWriter", () => {
  it("gives each ChangeSet a transaction of its own when one fails unexpectedly", () => {
    const { commit, db, reader } = open()
    db.exec(
      "CREATE TRIGGER bad BEFORE INSERT ON part WHEN length(NEW.bytes) = 13 BEGIN SELECT RAISE(ABORT, " +
        "'unforeseen'); END"
    )
    const answers = commit(
      { records: [draft(1)] },
      { records: [draft(2), draft(13)] },
      { records: [draft(3, { agentId: "agt_new" })] }
    )
    assert.deepEqual(tags(answers), ["Committed", "Failed", "Committed"])
    assert.equal(reader.head()?.seq, 2)
    assert.deepEqual(
      readParts(packParts(reader.parts([0, 1, 2, 3]))).map(({ seq, bytes }) => [seq, bytes?.length]),
      [
        [1, 1],
        [2, 3]
      ]
    )
    assert.deepEqual(tags(commit({ records: [draft()] })), ["Committed"])
  })

  it("treats a part without salt or bytes as corruption, unless a record proves its erasure", () => {
    const { commit, db, reader } = open()
    commit({ records: [draft(1)] }, { records: [draft(2)] })
    db.exec("UPDATE part SET erased_by = 3, salt = NULL, bytes = NULL WHERE id < 64")
    const read = () =>
      readParts(packParts(reader.parts([2, 1]))).map(({ erasedBy, salt, seq }) => [seq, salt?.length, erasedBy])
    assert.deepEqual(read(), [
      [1, undefined, 3],
      [2, 32, null]
    ])
    for (const lost of ["salt = NULL", "bytes = NULL", "salt = x'00', bytes = x''"]) {
      db.exec(`UPDATE part SET ${lost} WHERE id >= 64`)
      assert.throws(read, /part of record 2/)
    }
  })

  it("reports that nothing was written when the disk is full, and continues once there is space", () => {
    const { commit, db, reader } = open()
    db.exec(`PRAGMA max_page_count = ${(db.prepare("PRAGMA page_count").get()!["page_count"] as number) + 4}`)
    const answers = commit({ records: [draft(1_000_000)] }, { records: [draft(10)] })
    assert.deepEqual(answers[0], {
      _tag: "Failed",
      fault: { _tag: "Unavailable", reason: "the disk is full; free some space", wrote: "no" }
    })
    assert.equal(answers[1]?._tag, "Committed")
    db.exec("PRAGMA max_page_count = 100000")
    assert.deepEqual(tags(commit({ records: [draft(1_000_000)] })), ["Committed"])
    assert.equal(reader.head()?.seq, 2)
  })

  it("frees the idempotency keys of a refused ChangeSet", () => {
    const { commit, reader } = open()
    commit({ records: [draft(0, { once: once("taken") })] })
    const [refused] = commit({
      records: [
        draft(0, { once: once("free") }),
        draft(0, { once: once("taken", "b") }),
        draft(0, { once: once("free", "b") })
      ]
    })
    assert.deepEqual(refused, {
      _tag: "Refused",
      conflicts: [
        { _tag: "IdempotencyKey", index: 1, scope: "agt_1", key: "taken", seq: 1 },
        { _tag: "IdempotencyKey", index: 2, scope: "agt_1", key: "free", seq: -1 }
      ]
    })
    assert.deepEqual(
      reader.once("agt_1", ["free", "taken"]).map(({ key }) => key),
      ["taken"]
    )
    assert.deepEqual(tags(commit({ records: [draft(0, { once: once("free", "b") })] })), ["Committed"])
  })

  it("leaves no string in the table for a ChangeSet whose expectations fail", () => {
    const { commit, db } = open()
    const count = () => db.prepare("SELECT count(*) AS n FROM word").get()!["n"]
    const before = count()
    const [refused] = commit({
      expects: [{ collection: "unheard_of", id: "x", version: 3 }],
      puts: [{ collection: "new", id: "x", expectedVersion: 1, body: {}, unique: { name: "n" } }]
    })
    assert.equal(refused?._tag, "Refused")
    assert.equal(count(), before)
  })

  it("refuses to append to a chain with a gap", () => {
    const { commit, db } = open()
    commit({ records: [draft(), draft(), draft()] })
    db.exec("DELETE FROM record WHERE seq = 2")
    assert.throws(() => new ChainWriter(db), /record 2 is missing/)
  })
})
