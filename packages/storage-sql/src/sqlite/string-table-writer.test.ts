import { DatabaseSync } from "node:sqlite"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { migrate } from "./migrate.ts"
import { StringTableWriter } from "./string-table-writer.ts"

const open = () => {
  const db = new DatabaseSync(":memory:")
  migrate(db)
  return {
    db,
    writer: new StringTableWriter(db),
    rows: () =>
      db
        .prepare("SELECT id, text FROM word ORDER BY id")
        .all()
        .map((row) => [row["id"] as number, row["text"] as string] as const)
  }
}

const id = (digits: number, prefix = "agt_"): string => prefix + String(digits).padStart(26, "0")

/**
 * Ids in and out of order, of two prefixes; texts that only resemble ids, below, between and after them; other words.
 */
const texts = fc.oneof(
  fc.nat({ max: 60 }).map((digits) => id(digits)),
  fc.nat({ max: 5 }).map((digits) => id(digits, "whk_")),
  fc.constantFrom(
    "agt_",
    "agt_zzz",
    id(30).toUpperCase(),
    `${id(30)}x`,
    id(30).slice(0, -1),
    "agt_é",
    "agt~",
    "profile",
    "decision.witnessed",
    ""
  )
)
const acts = fc.oneof(
  { weight: 30, arbitrary: texts.map((text) => ({ act: "intern" as const, text })) },
  { weight: 5, arbitrary: texts.map((text) => ({ act: "find" as const, text })) },
  {
    weight: 3,
    arbitrary: fc.constantFrom({ act: "commit" as const }, { act: "rollback" as const }, { act: "flush" as const })
  }
)

describe("new strings", () => {
  it("have one number each, as in the table after a commit, and none after a rollback", () => {
    fc.assert(
      fc.property(fc.array(acts, { maxLength: 200 }), (steps) => {
        const { db, rows, writer } = open()
        let committed = new Map(rows().map(([number, text]) => [text, number]))
        let now = new Map(committed)
        db.exec("BEGIN")
        for (const step of steps) {
          switch (step.act) {
            case "intern": {
              const number = writer.intern(step.text)
              assert.equal(number, now.get(step.text) ?? Math.max(...now.values()) + 1)
              now.set(step.text, number)
              break
            }
            case "find":
              assert.equal(writer.find(step.text), now.get(step.text) ?? null)
              break
            case "flush":
              writer.flush()
              break
            case "commit":
              writer.flush()
              db.exec("COMMIT")
              assert.deepEqual(
                rows(),
                [...now].map(([text, number]) => [number, text])
              )
              for (const [text, number] of now) assert.equal(writer.text(number), text)
              committed = new Map(now)
              db.exec("BEGIN")
              break
            case "rollback":
              db.exec("ROLLBACK")
              writer.forget()
              now = new Map(committed)
              db.exec("BEGIN")
          }
        }
      }),
      { numRuns: 300, seed: 20_261_126 }
    )
  })

  it("are buffered when they are ids above all others of their prefix, and looked up otherwise", () => {
    const { db, rows, writer } = open()
    const before = rows().length
    db.exec("BEGIN")
    for (const digits of [5, 7, 6]) writer.intern(id(digits))
    assert.equal(rows().length, before)
    writer.flush()
    assert.equal(rows().length, before + 3)
    const known = writer.intern(id(7))
    writer.forget()
    // Not behind all: it was there, and is found.
    assert.equal(writer.intern(id(7)), known)
    assert.equal(writer.intern(id(4)), before + 4)
    assert.equal(rows().length, before + 4)
    for (let digits = 8; digits < 28; digits++) writer.intern(id(digits))
    // As many as fill a call.
    assert.equal(rows().length, before + 24)
    db.exec("ROLLBACK")
  })
})
