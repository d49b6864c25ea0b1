import type { ChangeSet } from "@flyball/core/storage"
import { LIST_UNITS } from "@flyball/core/storage"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { openWriter, tags } from "./testing/open-writer.ts"

const put = (id: string, expectedVersion: number | null, name: string, collection = "agents") => ({
  collection,
  id,
  expectedVersion,
  body: { name },
  unique: { name },
  keys: { unit: "u" }
})

describe("documents of one batch", () => {
  it("are visible to later ChangeSets of the batch: their versions, and their unique values", () => {
    const { commit, reader, rollbacks } = openWriter()
    const { answers } = commit(
      { puts: [put("a", 0, "first")] },
      { puts: [put("a", 0, "other")] },
      { puts: [put("b", 0, "first")] },
      { expects: [{ collection: "agents", id: "a", version: 1 }], puts: [put("b", 0, "second")] },
      { puts: [put("first", 0, "first", "models")] }
    )
    assert.deepEqual(tags({ answers }), ["Committed", "Refused", "Refused", "Committed", "Committed"])
    assert.deepEqual(answers[1], {
      _tag: "Refused",
      conflicts: [{ _tag: "Version", collection: "agents", id: "a", expected: 0, found: 1 }]
    })
    assert.deepEqual(answers[2], {
      _tag: "Refused",
      conflicts: [{ _tag: "Unique", collection: "agents", key: "name", value: "first", id: "a" }]
    })
    assert.deepEqual(
      reader.list("agents", "", null, LIST_UNITS).map(({ body, id, version }) => [id, version, body]),
      [
        ["a", 1, '{"name":"first"}'],
        ["b", 1, '{"name":"second"}']
      ]
    )
    // Else the tables would have found it, and each ChangeSet had a transaction of its own.
    assert.equal(rollbacks(), 0)
  })

  it("may be changed by later ChangeSets of the batch, which can take their unique values", () => {
    const { commit, reader, rollbacks } = openWriter()
    assert.deepEqual(
      tags(
        commit(
          { puts: [put("a", 0, "old")] },
          { puts: [put("a", 1, "new")] },
          { puts: [put("b", 0, "old")] },
          { puts: [put("a", null, "newest")] },
          { puts: [put("c", null, "new")] }
        )
      ),
      new Array(5).fill("Committed")
    )
    assert.deepEqual(
      ["old", "new", "newest"].map((name) =>
        reader.find("agents", "name", name).map(({ id, version }) => [id, version])
      ),
      [[["b", 1]], [["c", 1]], [["a", 3]]]
    )
    assert.equal(reader.find("agents", "unit", "u").length, 3)
    assert.equal(rollbacks(), 0)
  })

  it("are all written, in any number", () => {
    const { commit, reader } = openWriter()
    for (const count of [1, 7, 19, 20, 21, 64]) {
      const { answers } = commit(
        ...Array.from({ length: count }, (_, index) => ({ puts: [put(`${count}-${index}`, 0, `${count} ${index}`)] }))
      )
      assert.equal(answers.filter(({ _tag }) => _tag === "Committed").length, count)
      for (const index of [0, count - 1])
        assert.deepEqual(
          reader.find("agents", "name", `${count} ${index}`).map(({ id }) => id),
          [`${count}-${index}`]
        )
    }
    assert.equal(reader.list("agents", "", null, LIST_UNITS).length, 132)
  })

  it("are classified as new or existing in any order of ids, across batches, deletions and failures", () => {
    const ids = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom("agt_1", "agt_2", "b", "c") },
      { weight: 1, arbitrary: fc.constantFrom("é", "\u{ffff}", "\u{1f600}") }
    )
    const kinds = [
      [8, "new"],
      [8, "any"],
      [2, "delete"],
      [1, "fail"]
    ] as const
    const change = fc.record({
      kind: fc.oneof(...kinds.map(([weight, kind]) => ({ weight, arbitrary: fc.constant(kind) }))),
      id: ids
    })
    fc.assert(
      fc.property(fc.array(fc.array(change, { minLength: 1, maxLength: 6 }), { maxLength: 8 }), (batches) => {
        const { commit, db, rollbacks } = openWriter()
        db.exec(
          "CREATE TRIGGER bad BEFORE INSERT ON document WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, " +
            "'unforeseen'); END"
        )
        const versions = new Map<string, number>()
        let names = 0
        for (const batch of batches) {
          const expected: Array<string> = []
          const sent = batch.map(({ id, kind }): ChangeSet => {
            const version = versions.get(id) ?? 0
            if (kind === "fail") {
              expected.push("Failed")
              return { puts: [put("bad", 0, `n${names++}`)] }
            }
            if (kind === "delete") {
              expected.push(version === 0 ? "Refused" : "Committed")
              versions.delete(id)
              return { deletes: [{ collection: "agents", id, version: Math.max(version, 1) }] }
            }
            expected.push(kind === "new" && version > 0 ? "Refused" : "Committed")
            if (kind === "any" || version === 0) versions.set(id, version + 1)
            return { puts: [put(id, kind === "new" ? 0 : null, `n${names++}`)] }
          })
          const before = rollbacks()
          assert.deepEqual(tags(commit(...sent)), expected)
          // Else the tables would have found it.
          if (!expected.includes("Failed")) assert.equal(rollbacks(), before)
        }
        db.close()
      }),
      { numRuns: 1_000, seed: 20_261_126 }
    )
  })

  it("leave nothing behind when their batch fails, and their numbers are reused", () => {
    const { commit, db, reader } = openWriter()
    db.exec(
      "CREATE TRIGGER bad BEFORE INSERT ON document WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, 'unforeseen'); END"
    )
    assert.deepEqual(
      tags(commit({ puts: [put("a", 0, "a")] }, { puts: [put("bad", 0, "b")] }, { puts: [put("c", 0, "c")] })),
      ["Committed", "Failed", "Committed"]
    )
    assert.deepEqual(tags(commit({ puts: [put("d", 0, "b")] })), ["Committed"])
    assert.deepEqual(
      reader.list("agents", "", null, LIST_UNITS).map(({ id }) => id),
      ["a", "c", "d"]
    )
    assert.deepEqual(
      db
        .prepare("SELECT doc FROM document ORDER BY doc")
        .all()
        .map(({ doc }) => doc),
      [1, 2, 3]
    )
  })
})

describe("documents of a batch that fails before they are written", () => {
  it("are not written with the next batch", () => {
    const { commit, db, reader } = openWriter()
    db.exec("CREATE TRIGGER bad BEFORE INSERT ON part BEGIN SELECT RAISE(ABORT, 'unforeseen'); END")
    commit({ expectEmpty: true, records: [{ kind: "chain.genesis", body: {}, parts: [], agentId: null }] })
    const spoilt = {
      records: [
        { kind: "decision.witnessed", body: {}, parts: [{ name: "args", bytes: new Uint8Array(1) }], agentId: null }
      ]
    }
    assert.deepEqual(tags(commit({ puts: [put("a", 0, "a")] }, { ...spoilt, puts: [put("b", 0, "b")] })), [
      "Committed",
      "Failed"
    ])
    assert.deepEqual(tags(commit({ puts: [put("b", 0, "b")] })), ["Committed"])
    assert.deepEqual(
      reader.list("agents", "", null, LIST_UNITS).map(({ id }) => id),
      ["a", "b"]
    )
  })
})

describe("the webhooks that the writer has in memory", () => {
  const reported = (commit: ReturnType<typeof openWriter>["commit"], type: string) =>
    commit({ events: [{ type, data: {} }] }).hasDeliveries
  const webhook = (expectedVersion: number, keys: { readonly [key: string]: string }) => ({
    collection: "webhooks",
    id: "whk_1",
    expectedVersion,
    body: {},
    keys
  })
  const wants = { "on:agent.registered": "yes" }

  it("are invalidated when one changes, even in a batch that also adds an event", () => {
    const { commit } = openWriter()
    assert.isFalse(reported(commit, "agent.registered"))
    commit({ puts: [webhook(0, wants)] })
    assert.isTrue(reported(commit, "agent.registered"))
    assert.isFalse(reported(commit, "agent.updated"))
    commit({ puts: [webhook(1, {})] })
    assert.isFalse(reported(commit, "agent.registered"))
    assert.isTrue(
      commit({ puts: [webhook(2, wants)] }, { events: [{ type: "agent.registered", data: {} }] }).hasDeliveries
    )
  })

  it("do not count deliveries of a ChangeSet that failed", () => {
    const { commit, db } = openWriter()
    db.exec(
      "CREATE TRIGGER bad BEFORE INSERT ON document WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, 'unforeseen'); END"
    )
    commit({ puts: [webhook(0, wants)] })
    const event = { events: [{ type: "agent.registered", data: {} }] }
    const failed = commit({ puts: [put("bad", 0, "a")], ...event }, { puts: [put("b", 0, "b")] })
    assert.deepEqual([tags(failed), failed.hasDeliveries], [["Failed", "Committed"], false])
    assert.isTrue(commit({ puts: [put("bad", 0, "a")] }, { puts: [put("c", 0, "c")], ...event }).hasDeliveries)
  })

  it("keep ids of events ascending, with and without subscribers", () => {
    const { commit, db } = openWriter()
    const some = () => ({
      events: [
        { type: "agent.registered", data: {} },
        { type: "agent.updated", data: {} }
      ]
    })
    const rows = () =>
      db
        .prepare("SELECT n FROM event ORDER BY id")
        .all()
        .map(({ n }) => n)
    commit(some(), some())
    assert.deepEqual(rows(), [1, 2, 3, 4])
    commit({ puts: [webhook(0, wants)] }, { events: [{ type: "agent.updated", data: {} }] }, some(), some())
    assert.deepEqual(rows(), [1, 2, 3, 4, 5, 6, 7, 8, 9])
    assert.equal(db.prepare("SELECT count(*) AS n FROM delivery d JOIN event e ON e.n = d.event").get()!["n"], 2)
  })
})
