import { assert, describe, it } from "@effect/vitest"
import { portableCrypto } from "@flyball/evidence"
import { Effect } from "effect"
import type { Storage, StorageApi, StoredRecord } from "../../storage/port.ts"
import { append, replaceStorage, session, world } from "../../testing/chain-world.ts"

/** Alters what the store answers for one record, on every way to it. */
const withRecord = (seq: number, alter: (record: StoredRecord) => StoredRecord) =>
  replaceStorage((real): Partial<StorageApi> => ({
    record: (one) =>
      Effect.map(real.record(one), (record) => (record !== null && one === seq ? alter(record) : record)),
    records: (query) =>
      Effect.map(real.records(query), (page) => page.map((record) => (record.seq === seq ? alter(record) : record)))
  }))

const withText = (record: StoredRecord, alter: (text: string) => string): StoredRecord => ({
  ...record,
  bytes: new TextEncoder().encode(alter(new TextDecoder().decode(record.bytes)))
})

/** A store of 30 records with a checkpoint, verified as `tamper` shows it. */
const verified = (
  tamper: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R | Storage>,
  from?: number,
  to?: number
) =>
  Effect.gen(function* () {
    yield* session(() => append(1, 29))
    return yield* tamper(session(({ chain }) => chain.verify(from, to), { readOnly: true }))
  }).pipe(Effect.provide(world()))

const codes = (report: { readonly findings: ReadonlyArray<{ readonly code: string; readonly seq: number | null }> }) =>
  report.findings.map(({ code, seq }) => `${code} ${seq}`)

describe("verifying a chain", () => {
  it.effect("finds nothing in an untouched one", () =>
    Effect.gen(function* () {
      const report = yield* verified((effect) => effect)
      assert.deepStrictEqual(codes(report), [])
      assert.deepStrictEqual(
        [report.ok, report.checked, report.from, report.to, report.first_bad_seq],
        [true, 30, 0, 29, null]
      )
      assert.deepStrictEqual(report.checkpoint, { tree_size: 30, root_hash: report.head.root_hash, ok: true })
    })
  )

  it.effect("checks a stretch of it, against the same checkpoint", () =>
    Effect.gen(function* () {
      const report = yield* verified((effect) => effect, 7, 1_000)
      assert.deepStrictEqual(
        [report.ok, report.checked, report.from, report.to, report.checkpoint?.ok],
        [true, 23, 7, 29, true]
      )
    })
  )

  it.effect("refuses to start behind the head", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(verified((effect) => effect, 30)))._tag, "InvalidInput")
    })
  )

  it.effect("finds a changed byte, and the record that no longer follows", () =>
    Effect.gen(function* () {
      const report = yield* verified(
        withRecord(9, (record) => withText(record, (text) => text.replace('"c9"', '"c8"')))
      )
      assert.strictEqual(report.first_bad_seq, 9)
      assert.includeMembers(codes(report), ["E_HASH 9", "E_PREV 10", "E_TILE 9", "E_ROOT null"])
      assert.deepStrictEqual([report.ok, report.checkpoint?.ok], [false, false])
    })
  )

  it.effect("finds a changed byte whose hash was made again", () =>
    Effect.gen(function* () {
      const report = yield* verified(
        withRecord(29, (record) => {
          const changed = withText(record, (text) => text.replace('"c29"', '"c28"'))
          return { ...changed, hash: portableCrypto.leafHash(changed.bytes) }
        })
      )
      assert.deepStrictEqual(codes(report), ["E_TILE 29", "E_ROOT null"])
    })
  )

  it.effect("finds a time that goes back", () =>
    Effect.gen(function* () {
      const report = yield* verified(
        withRecord(9, (record) =>
          withText(record, (text) => text.replace("1970-01-01T00:00:00.000Z", "1969-12-31T23:59:59.999Z"))
        )
      )
      assert.include(codes(report), "E_TIME 9")
    })
  )

  it.effect("finds bytes in another form", () =>
    Effect.gen(function* () {
      assert.include(
        codes(yield* verified(withRecord(3, (record) => withText(record, (text) => text.replace(",", ", "))))),
        "E_NONCANONICAL 3"
      )
    })
  )

  it.effect("finds a record that is gone, and one put in its place", () =>
    Effect.gen(function* () {
      const gone = replaceStorage((real) => ({
        records: (query) => Effect.map(real.records(query), (page) => page.filter(({ seq }) => seq !== 5))
      }))
      assert.include(codes(yield* verified(gone)), "E_SEQ 5")
      const swapped = replaceStorage((real) => ({
        records: (query) =>
          Effect.map(real.records(query), (page) =>
            page.map((record) => (record.seq === 5 ? { ...page.find(({ seq }) => seq === 6)!, seq: 5 } : record))
          )
      }))
      assert.includeMembers(codes(yield* verified(swapped)), ["E_SEQ 5", "E_PREV 5"])
    })
  )

  it.effect("finds a missing tail", () =>
    Effect.gen(function* () {
      const cut = replaceStorage((real) => ({
        records: (query) => Effect.map(real.records(query), (page) => page.filter(({ seq }) => seq < 20))
      }))
      assert.include(codes(yield* verified(cut)), "E_SEQ 20")
    })
  )

  it.effect("finds an index column that would hide a record from a filter", () =>
    Effect.gen(function* () {
      const lied = yield* verified(
        withRecord(4, (record) => ({ ...record, kind: "capture.gap", agentId: "agt_two", atMs: record.atMs + 1 }))
      )
      assert.deepStrictEqual(codes(lied), ["E_COLUMN 4", "E_COLUMN 4", "E_COLUMN 4"])
    })
  )

  it.effect("finds a changed part, a missing one, a strange one, and an erasure that no record tells of", () =>
    Effect.gen(function* () {
      const withParts = (
        alter: (parts: ReadonlyArray<Effect.Success<ReturnType<StorageApi["parts"]>>[number]>) => typeof parts
      ) => verified(replaceStorage((real) => ({ parts: (seqs) => Effect.map(real.parts(seqs), alter) })))
      assert.deepStrictEqual(
        codes(
          yield* withParts((parts) =>
            parts.map((part) => (part.seq === 8 && part.bytes !== null ? { ...part, bytes: new Uint8Array(3) } : part))
          )
        ),
        ["E_PART_MISMATCH 8"]
      )
      assert.deepStrictEqual(codes(yield* withParts((parts) => parts.filter(({ seq }) => seq !== 8))), [
        "E_PART_UNEXPLAINED 8"
      ])
      assert.deepStrictEqual(
        codes(yield* withParts((parts) => parts.map((part) => (part.seq === 8 ? { ...part, seq: 7 } : part)))),
        ["E_PART_UNEXPLAINED 8", "E_PART_MISMATCH 7"]
      )
      assert.deepStrictEqual(
        codes(
          yield* withParts((parts) =>
            parts.map((part) =>
              part.seq === 8 ? { seq: 8, name: part.name, salt: null, bytes: null, erasedBy: 12 } : part
            )
          )
        ),
        ["E_PART_UNEXPLAINED 8"]
      )
    })
  )

  it.effect("accepts an erasure that was recorded", () =>
    Effect.gen(function* () {
      yield* append0
      const report = yield* session(({ chain, erasure }) =>
        Effect.andThen(
          erasure.erase({ seq: 2, name: "args", reason: "subject_request" }, { id: "system:test" }),
          chain.verify()
        )
      )
      assert.deepStrictEqual(codes(report), [])
    }).pipe(Effect.provide(world()))
  )

  it.effect("finds a checkpoint that was forged or signed by nobody", () =>
    Effect.gen(function* () {
      const withNote = (alter: (note: string) => string) =>
        replaceStorage((real) => ({
          get: (collection, id) =>
            Effect.map(real.get(collection, id), (document) =>
              document !== null && id === "latest"
                ? { ...document, body: { ...document.body, note: alter(String(document.body["note"])) } }
                : document
            )
        }))
      assert.deepStrictEqual(codes(yield* verified(withNote((note) => note.replace("\n30\n", "\n31\n")))), [
        "E_CHECKPOINT_SIG null"
      ])
      assert.deepStrictEqual(
        codes(yield* verified(withNote((note) => note.replace(/— .*\n$/, "— somebody AAAAAAAA\n")))),
        ["E_CHECKPOINT_SIG null"]
      )
    })
  )

  it.effect("recomputes stored tree hashes of every level, also in a stretch that starts inside a tile", () =>
    Effect.gen(function* () {
      yield* session(() => Effect.forEach([0, 1, 2], (page) => append(page * 500 + 1, page * 500 + 500)))
      const codesOf = (from?: number) =>
        Effect.map(
          session(({ chain }) => chain.verify(from), { readOnly: true }),
          codes
        )
      // Opening checks the root too, so the hash is spoilt after it.
      const spoilt = (level: number, index: number, from?: number) => {
        let open = false
        const wrong = replaceStorage((real) => ({
          hashes: (at, first, count) =>
            Effect.map(real.hashes(at, first, count), (bytes) => {
              if (open && at === level && index >= first && index < first + count) bytes[(index - first) * 32]! ^= 1
              return bytes
            })
        }))
        return wrong(
          session(
            ({ chain }) =>
              Effect.suspend(() => {
                open = true
                return Effect.map(chain.verify(from), (report) =>
                  codes(report).filter((code) => code.startsWith("E_TILE"))
                )
              }),
            { readOnly: true }
          )
        )
      }
      assert.deepStrictEqual(yield* codesOf(), [])
      assert.deepStrictEqual(yield* codesOf(700), [])
      assert.deepStrictEqual(yield* spoilt(0, 1_499), ["E_TILE 1499"])
      assert.deepStrictEqual(yield* spoilt(1, 0), ["E_TILE 0"])
      assert.deepStrictEqual(yield* spoilt(1, 4), ["E_TILE 1024"])
      assert.deepStrictEqual(yield* spoilt(1, 3, 700), ["E_TILE 768"])
      assert.deepStrictEqual(yield* spoilt(1, 2, 700), [], "records 512 to 767 are not all in the stretch")
    }).pipe(Effect.provide(world()))
  )
})

const append0 = session(() => append(1, 4))
