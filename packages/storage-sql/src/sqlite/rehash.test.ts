import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Checkpointer, ephemeralKeys, governorLayer, keysLayerOf } from "@flyball/core"
import { type Head, layerOf, type RecordDraft, type Rehashed, Storage, type StorageApi } from "@flyball/core/storage"
import { equalBytes, foldRun, portableCrypto, RangeFolder, toHex } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { afterAll } from "vitest"
import type { Posted } from "./thread/protocol.ts"
import { RequestServer } from "./thread/serve.ts"
import { sqliteLayer, sqliteStorage } from "./storage.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-rehash-"))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0

const drafts = (count: number): ReadonlyArray<RecordDraft> =>
  Array.from({ length: count }, (_, index) => ({
    kind: "decision.witnessed",
    agentId: "agt_1",
    body: { agent_id: "agt_1", client_ref: `c${index}` },
    parts: []
  }))

/** Changes a store's file from outside, as anyone with the disk can. */
const tamper = (file: string, sql: string): void => {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

/** A governor over the store in `file`, whose calls of `rehash` are counted. */
const governed = (file: string) => {
  const counts = { folded: 0, bad: 0 }
  const counting = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) =>
      Storage.of({
        ...storage,
        rehash: (previous, to) =>
          Effect.tap(storage.rehash!(previous, to), (folded) =>
            Effect.sync(() => (folded === null ? counts.bad++ : counts.folded++))
          )
      })
    )
  ).pipe(Layer.provide(sqliteLayer({ file })))
  return {
    counts,
    layer: governorLayer({ origin: "flyball.example/test" }).pipe(
      Layer.provideMerge(Layer.mergeAll(counting, keysLayerOf(ephemeralKeys())))
    )
  }
}

const foldAll = Effect.fnUntraced(function* (storage: StorageApi, size: number, step: number) {
  const folder = new RangeFolder(portableCrypto)
  let last: Head | null = null
  for (let from = 0; from < size; from += step) {
    const folded: Rehashed | null = yield* storage.rehash!(last, Math.min(from + step, size) - 1)
    if (folded === null) return assert.fail(`nothing was said of the records from ${from}`)
    for (const { hash, level } of folded.subtrees) folder.pushSubtree(level, hash)
    last = folded.last
  }
  return { root: folder.root(size)!, last }
})

describe("rehashing records in the reader thread", () => {
  it.effect("handles records of new agents and records of no agent", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const records = Array.from({ length: 600 }, (_, index): RecordDraft => {
        const agentId = index % 3 === 0 ? null : `agt_${index % 2 === 0 ? "x" : ""}${index}`
        return {
          kind: index % 5 === 0 ? "policy.noted" : "decision.witnessed",
          agentId,
          body: agentId === null ? { n: index } : { agent_id: agentId },
          parts: []
        }
      })
      yield* storage.commit({
        expectEmpty: true,
        records: [
          { kind: "chain.genesis", agentId: null, body: { origin: "flyball.example/test" }, parts: [] },
          ...records
        ]
      })
      const { last } = yield* foldAll(storage, 601, 1_000)
      assert.isTrue(equalBytes(last!.hash, (yield* storage.head)!.hash))
    }).pipe(Effect.provide(sqliteLayer({ file: join(folder, `agents-${files++}.db`) })))
  )

  it.effect("equals the fold of the record hashes, in steps of any size", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* storage.commit({
        expectEmpty: true,
        records: [
          { kind: "chain.genesis", agentId: null, body: { origin: "flyball.example/test" }, parts: [] },
          ...drafts(600)
        ]
      })
      const expected = new RangeFolder(portableCrypto)
      for (const { hash, level } of foldRun(portableCrypto, 0, yield* storage.hashes(0, 0, 601), 601))
        expected.pushSubtree(level, hash)
      for (const step of [1_000, 250, 77]) {
        const { last, root } = yield* foldAll(storage, 601, step)
        assert.isTrue(equalBytes(root, expected.root(601)!), `stretches of ${step}`)
        const head = (yield* storage.head)!
        assert.deepStrictEqual([last?.seq, last?.atMs, toHex(last!.hash)], [head.seq, head.atMs, toHex(head.hash)])
      }
      assert.isNull(yield* storage.rehash!((yield* storage.head)!, 700))
    }).pipe(Effect.provide(layerOf(sqliteStorage({ file: ":memory:" }))))
  )

  it.effect("answers other reads between its slices", () => {
    const file = join(folder, `${files++}.db`)
    return Effect.gen(function* () {
      const storage = yield* Storage
      yield* storage.commit({
        expectEmpty: true,
        records: [
          { kind: "chain.genesis", agentId: null, body: { origin: "flyball.example/test" }, parts: [] },
          ...drafts(999)
        ]
      })
      const answered: Array<number> = []
      const server = new RequestServer((replies) =>
        replies.forEach(({ id }) => {
          answered.push(id)
          waiting.get(id)?.()
        })
      )
      const waiting = new Map<number, () => void>()
      const answerTo = (id: number, ...posted: ReadonlyArray<Posted>) =>
        Effect.promise(
          () =>
            new Promise<void>((done) => {
              waiting.set(id, done)
              server.serve(posted)
            })
        )
      server.serve([{ id: 0, request: { op: "open", role: "reader", file, busyTimeoutMs: 1_000, small: false } }])
      // Loads the code that folds.
      yield* answerTo(1, { id: 1, request: { op: "rehash", previous: null, to: 0 } })
      yield* answerTo(
        2,
        { id: 2, request: { op: "rehash", previous: null, to: 999 } },
        { id: 3, request: { op: "head" } }
      )
      assert.deepStrictEqual(answered, [0, 1, 3, 2])
      server.close()
    }).pipe(Effect.provide(sqliteLayer({ file })))
  })

  const signing = (sql: string | null) => {
    const file = join(folder, `${files++}.db`)
    const { counts, layer } = governed(file)
    return Effect.gen(function* () {
      const storage = yield* Storage
      const checkpointer = yield* Checkpointer
      yield* checkpointer.now
      yield* storage.commit({ records: drafts(700) })
      if (sql !== null) tamper(file, sql)
      const signed = yield* Effect.result(checkpointer.now)
      // Closing tries once more.
      return { counts: { ...counts }, signed }
    }).pipe(Effect.provide(layer))
  }

  it.effect("checks the new records of a store in a file before they are signed for", () =>
    Effect.gen(function* () {
      const { counts, signed } = yield* signing(null)
      assert.strictEqual(signed._tag, "Success")
      assert.deepStrictEqual(counts, { folded: 1, bad: 0 })
    })
  )

  for (const [what, sql, expected] of [
    [
      "a byte of a record",
      "UPDATE record SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"c300\"', '\"c3OO\"') AS BLOB) WHERE seq " +
        "BETWEEN 200 AND 400",
      /record 30\d is not valid \(E_HASH\)/
    ],
    ["a stored hash", "UPDATE record SET hash = zeroblob(32) WHERE seq = 500", /record 500 is not valid \(E_HASH\)/],
    ["a record's column", "UPDATE record SET at_ms = at_ms + 1 WHERE seq = 90", /record 90 is not valid \(E_COLUMN\)/],
    ["a row that is gone", "DELETE FROM record WHERE seq = 400", /record 400 is not valid|record 400 is missing/],
    [
      "bytes that moved to the next row",
      `CREATE TEMP TABLE t AS SELECT CAST(a.hash || a.bytes || b.hash AS BLOB) AS joined, length(a.bytes) AS n
        FROM record a, record b WHERE a.seq = 300 AND b.seq = 301;
      UPDATE record SET hash = substr(joined, 1, 31), bytes = substr(joined, 32, n) FROM t
      WHERE seq = 300; UPDATE record SET hash = substr(joined, 32 + n) FROM t WHERE seq = 301`,
      /record 300 is not valid \(E_HASH\)/
    ],
    [
      "removed records whose bytes are in an earlier hash",
      `CREATE TEMP TABLE t AS SELECT CAST(group_concat(CAST(hash || bytes AS BLOB), '') AS BLOB) AS joined FROM record
        WHERE seq BETWEEN 256 AND 511;
      UPDATE record SET hash = CASE seq WHEN 256 THEN joined ELSE x'' END, bytes = zeroblob(length(bytes)) FROM t
      WHERE seq BETWEEN 256 AND 511`,
      /record 256 is not valid \(E_HASH\)/
    ],
    [
      "a hash in a tile",
      "UPDATE tile SET hashes = zeroblob(length(hashes)) WHERE level = 1",
      /stored tree hashes do not fold/
    ]
  ] as const) {
    it.effect(`finds a change made behind the store, and signs nothing: ${what}`, () =>
      Effect.gen(function* () {
        const { counts, signed } = yield* signing(sql)
        assert.match(
          signed._tag === "Failure" ? `${signed.failure._tag}: ${signed.failure.message}` : "it was signed",
          new RegExp(`StorageCorrupt.*${expected.source}`)
        )
        assert.strictEqual(counts.bad, what === "a hash in a tile" ? 0 : 1)
      })
    )
  }
})
