import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "vitest"
import { migrate } from "./migrate.ts"
import { StringTable } from "./string-table.ts"

/** Words 3 to 22 beside the two that are always there. */
const texts = ["", ",", "a,b", "\u{1f600}", "é\n", ...Array.from({ length: 15 }, (_, n) => `agt_${n}`)]
const given = () => {
  const db = new DatabaseSync(":memory:")
  migrate(db)
  texts.forEach((text, index) => db.prepare("INSERT INTO word (id, text) VALUES (?, ?)").run(3 + index, text))
  const strings = new StringTable(db)
  return { db, strings, textsFrom: (ids: ReadonlyArray<number>) => ids.map((id) => strings.text(id)) }
}
const ids = texts.map((_, index) => 3 + index)

describe("strings that are learned together", () => {
  it("stay cached, even when the table changes", () => {
    const { db, textsFrom, strings } = given()
    strings.learn([0, ...ids])
    db.exec("UPDATE word SET text = 'other' || id")
    assert.deepEqual(textsFrom(ids), texts)
  })

  it("are read one by one when they are few or far apart", () => {
    const { db, textsFrom, strings } = given()
    strings.learn(ids.slice(0, 7))
    db.exec("INSERT INTO word (id, text) VALUES (1000, 'far')")
    strings.learn([...ids, 1000])
    db.exec("UPDATE word SET text = 'other' || id")
    assert.deepEqual(textsFrom([3, 22, 1000]), ["other3", "other22", "other1000"])
  })

  it("are not read together when one contains the separator", () => {
    const { db, textsFrom, strings } = given()
    db.exec("UPDATE word SET text = 'x' || char(0) || 'y' WHERE id = 9")
    strings.learn(ids)
    db.exec("UPDATE word SET text = 'back' WHERE id = 9")
    assert.deepEqual(textsFrom([8, 9, 10]), ["agt_0", "back", "agt_2"])
  })
})
