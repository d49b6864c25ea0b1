import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, assert, describe, it, vi } from "vitest"
import { Checkpoints } from "./wal-checkpointer.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-checkpoints-"))
afterAll(() => rmSync(folder, { recursive: true }))

/** A database whose log holds `write(n)` pages more each time. */
const open = (name: string) => {
  const file = join(folder, name)
  const db = new DatabaseSync(file, { timeout: 0 })
  db.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; CREATE TABLE t (b)")
  const probe = db.prepare("PRAGMA wal_checkpoint(NOOP)")
  return {
    db,
    file,
    write: (pages: number) => db.prepare("INSERT INTO t VALUES (zeroblob(?))").run(pages * 4096),
    log: () => probe.get() as { log: number; checkpointed: number }
  }
}

describe("Checkpoints", () => {
  it("copies the log back above a size, so that it starts over", () => {
    const { db, log, write } = open("easy.db")
    const checkpoints = new Checkpoints(db, { easy: 50, bound: 1000 })
    write(30)
    checkpoints.committed()
    assert.equal(log().checkpointed, 0)
    let largest = 0
    for (let n = 0; n < 20; n++) {
      write(30)
      checkpoints.committed()
      largest = Math.max(largest, log().log)
    }
    checkpoints.close()
    assert.isAtMost(largest, 150)
    db.close()
  })

  it("checks the log once commits together exceed a size, even when each is small", () => {
    const { db, log, write } = open("small.db")
    const checkpoints = new Checkpoints(db, { easy: 50, bound: 1000 })
    write(60)
    checkpoints.committed(1_000)
    assert.equal(log().checkpointed, 0)
    for (let n = 0; n < 40; n++) checkpoints.committed(1_000)
    assert.isAtLeast(log().checkpointed, 60)
    checkpoints.close()
    db.close()
  })

  it("restarts the log above its limit as soon as no reader blocks it, and appends until then", () => {
    const { db, file, log, write } = open("bound.db")
    const restarts = vi.fn()
    const prepare = db.prepare.bind(db)
    vi.spyOn(db, "prepare").mockImplementation((sql) => {
      const statement = prepare(sql)
      if (sql.includes("RESTART")) vi.spyOn(statement, "get").mockImplementation(() => (restarts(), prepare(sql).get()))
      return statement
    })
    const checkpoints = new Checkpoints(db, { easy: 50, bound: 200 })
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec("BEGIN; SELECT count(*) FROM t")
    for (let n = 0; n < 10; n++) {
      write(30)
      checkpoints.committed()
    }
    assert.isAtLeast(log().log, 300)
    // Not at each batch: every failed attempt waits as long as the connection's timeout.
    assert.equal(restarts.mock.calls.length, 2)
    reader.exec("ROLLBACK")
    write(60)
    checkpoints.committed()
    assert.equal(restarts.mock.calls.length, 3)
    write(1)
    assert.isAtMost(log().log, 10)
    checkpoints.close()
    reader.close()
    db.close()
  })

  it("waits once for a reader that holds a snapshot, then only briefly, so that commits continue", () => {
    vi.useFakeTimers()
    const { db, file, log, write } = open("patience.db")
    db.exec("PRAGMA busy_timeout = 40")
    const waits: Array<[statement: string, ms: unknown]> = []
    const prepare = db.prepare.bind(db)
    const waiting = () => prepare("PRAGMA busy_timeout").get()!["timeout"]
    vi.spyOn(db, "prepare").mockImplementation((sql) => {
      const statement = prepare(sql)
      const [name] = /RESTART|TRUNCATE/.exec(sql) ?? []
      if (name !== undefined)
        vi.spyOn(statement, "get").mockImplementation(() => (waits.push([name, waiting()]), prepare(sql).get()))
      return statement
    })
    const checkpoints = new Checkpoints(db, { easy: 50, bound: 100 })
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec("BEGIN; SELECT count(*) FROM t")
    for (let n = 0; n < 4; n++) {
      write(60)
      checkpoints.committed()
    }
    assert.deepEqual(waits.splice(0), [
      ["RESTART", 40],
      ["RESTART", 20],
      ["RESTART", 20]
    ])
    checkpoints.erased()
    vi.advanceTimersByTime(250)
    checkpoints.erased()
    assert.deepEqual(waits.splice(0), [
      ["TRUNCATE", 40],
      ["TRUNCATE", 20],
      ["TRUNCATE", 20],
      ["TRUNCATE", 20]
    ])
    assert.equal(waiting(), 40)
    reader.exec("ROLLBACK")
    vi.advanceTimersByTime(100)
    assert.equal(log().log, 0)
    checkpoints.erased()
    assert.deepEqual(waits.splice(0).at(-1), ["TRUNCATE", 40])
    checkpoints.close()
    vi.useRealTimers()
    reader.close()
    db.close()
  })

  it("does not mistake steady commits for a pause", () => {
    vi.useFakeTimers()
    const { db, log, write } = open("steady.db")
    const checkpoints = new Checkpoints(db)
    for (let n = 0; n < 20; n++) {
      write(1)
      checkpoints.committed()
      vi.advanceTimersByTime(90)
      assert.equal(log().checkpointed, 0)
    }
    vi.advanceTimersByTime(1000)
    assert.equal(log().checkpointed, log().log)
    checkpoints.close()
    vi.useRealTimers()
    db.close()
  })

  it("copies the log back in a pause, and empties it after an erasure as soon as it can", () => {
    vi.useFakeTimers()
    const { db, file, log, write } = open("idle.db")
    const checkpoints = new Checkpoints(db)
    write(3)
    checkpoints.committed()
    assert.equal(log().checkpointed, 0)
    vi.advanceTimersByTime(1000)
    assert.equal(log().checkpointed, log().log)
    const reader = new DatabaseSync(file, { readOnly: true })
    write(3)
    reader.exec("BEGIN; SELECT count(*) FROM t")
    checkpoints.erased()
    assert.isAtLeast(log().log, 3)
    reader.exec("ROLLBACK")
    vi.advanceTimersByTime(1000)
    assert.equal(log().log, 0)
    checkpoints.close()
    vi.useRealTimers()
    reader.close()
    db.close()
  })
})
