/**
 * The log of a process that was killed, as the next one finds it: what was answered as erased is in it still, and must
 * not stay.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { layerOf, Storage, type StorageApi } from "@flyball/core/storage"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { afterAll } from "vitest"
import { sqliteStorage } from "./storage.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-log-"))
afterAll(() => rmSync(folder, { recursive: true }))

const SECRET = "what she said to the support desk on Monday"

const using = <A, E>(file: string, use: (storage: StorageApi) => Effect.Effect<A, E>) =>
  Effect.flatMap(Storage, use).pipe(Effect.provide(layerOf(sqliteStorage({ file, busyTimeoutMs: 0 }))))

/** Copies the files as a SIGKILL at this moment leaves them. */
const killed = (file: string, left: string): void => {
  for (const end of ["", "-wal"]) copyFileSync(`${file}${end}`, `${left}${end}`)
}

const holds = (file: string): boolean => existsSync(file) && readFileSync(file).includes(SECRET)

const spoken = Effect.fnUntraced(function* (storage: StorageApi) {
  yield* storage.commit({ expectEmpty: true, records: [{ kind: "chain.genesis", body: {}, parts: [], agentId: null }] })
  yield* storage.commit({
    records: [
      { kind: "decision.witnessed", body: {}, parts: [{ name: "args", bytes: Buffer.from(SECRET) }], agentId: "agt_1" }
    ]
  })
})

const erase = (storage: StorageApi) =>
  storage.commit({
    records: [{ kind: "part.erased", body: { name: "args", reason: "retention", seq: 1 }, parts: [], agentId: null }],
    erase: [{ seq: 1, name: "args" }]
  })

describe("a write-ahead log found at the start", () => {
  it.effect("is emptied before the store opens, after an erasure that a reader kept from emptying it", () =>
    Effect.gen(function* () {
      const [file, left] = [join(folder, "held.db"), join(folder, "held-left.db")]
      yield* using(
        file,
        Effect.fnUntraced(function* (storage) {
          yield* spoken(storage)
          const reader = new DatabaseSync(file, { readOnly: true })
          reader.exec("BEGIN; SELECT count(*) FROM part")
          yield* erase(storage)
          killed(file, left)
          reader.close()
        })
      )
      assert.isTrue(holds(`${left}-wal`), "the premise: the log of the killed process holds it")
      yield* using(left, (storage) =>
        Effect.map(storage.head, (head) => {
          assert.strictEqual(head?.seq, 2)
          assert.deepEqual([holds(left), holds(`${left}-wal`)], [false, false])
        })
      )
    })
  )

  it.effect("is emptied even when its frames are obsolete", () =>
    Effect.gen(function* () {
      const [file, left] = [join(folder, "over.db"), join(folder, "over-left.db")]
      yield* using(
        file,
        Effect.fnUntraced(function* (storage) {
          yield* spoken(storage)
          const other = new DatabaseSync(file)
          other.exec("PRAGMA secure_delete = ON; DELETE FROM part; PRAGMA wal_checkpoint(RESTART)")
          other.close()
          killed(file, left)
        })
      )
      assert.deepEqual([holds(left), holds(`${left}-wal`)], [false, true], "the premise: only the log holds it")
      yield* using(left, (storage) =>
        Effect.map(storage.head, () =>
          assert.deepEqual([holds(left), holds(`${left}-wal`), statSync(`${left}-wal`).size], [false, false, 0])
        )
      )
    })
  )
})
