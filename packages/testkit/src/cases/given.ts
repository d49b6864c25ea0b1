/** The drafts that cases are made of, and the questions that many of them ask. */
import assert from "node:assert/strict"
import type {
  ChangeSet,
  Conflict,
  DocumentPut,
  EventDraft,
  JsonObject,
  PartDraft,
  RecordDraft,
  StorageApi,
  StoredRecord
} from "@flyball/core/storage"
import { WEBHOOKS } from "@flyball/core/storage"
import { formatInstant, portableCrypto, readRecord, toHex, utf8 } from "@flyball/evidence"
import { Cause, Effect, Exit } from "effect"

/** The first record of every chain in the cases. */
export const genesis: RecordDraft = {
  kind: "chain.genesis",
  body: { hash: "sha256-rfc6962", origin: "flyball.test/cases", vkeys: [] },
  parts: [],
  agentId: null
}

/** Opens the chain. */
export const begin = (storage: StorageApi) => storage.commit({ expectEmpty: true, records: [genesis] })

/** A record about nothing much. */
export const draft = (body: JsonObject = {}, more: Partial<RecordDraft> = {}): RecordDraft => ({
  kind: "decision.witnessed",
  body,
  parts: [],
  agentId: null,
  ...more
})

/** `count` drafts with bodies `{"n":0}`, `{"n":1}` … */
export const drafts = (count: number, more: Partial<RecordDraft> = {}): ReadonlyArray<RecordDraft> =>
  Array.from({ length: count }, (_, n) => draft({ n }, more))

/** A part made of text. */
export const part = (name: string, text: string): PartDraft => ({ name, bytes: utf8(text) })

/** A put of a new document by default. */
export const put = (id: string, body: JsonObject = {}, more: Partial<DocumentPut> = {}): DocumentPut => ({
  collection: "things",
  id,
  expectedVersion: 0,
  body,
  ...more
})

/** An event about nothing much. */
export const event = (data: JsonObject = {}, type = "thing.made"): EventDraft => ({ type, data })

/** A put of a new endpoint that wants these types. */
export const endpoint = (
  id: string,
  types: ReadonlyArray<string> = ["thing.made"],
  more: Partial<DocumentPut> = {}
): DocumentPut => ({
  collection: WEBHOOKS,
  id,
  expectedVersion: 0,
  body: {},
  keys: Object.fromEntries(types.map((type) => [`on:${type}`, "yes"])),
  ...more
})

/** A once digest: one hex digit, 64 times. */
export const digest = (digit: string): string => digit.repeat(64)

/** A draft with a once key. */
export const idempotentDraft = (key: string, digit: string, body: JsonObject = {}): RecordDraft =>
  draft(body, { once: { scope: "agt_1", key, digest: digest(digit) } })

/** A record that says that a part was erased. */
export const erasedDraft = (seq: number, name: string): RecordDraft =>
  draft({ name, reason: "data_subject_request", seq }, { kind: "part.erased" })

/** Commits, and answers the conflicts that refused it. */
export const refused = (storage: StorageApi, change: ChangeSet): Effect.Effect<ReadonlyArray<Conflict>, unknown> =>
  Effect.map(Effect.flip(storage.commit(change)), (error) => {
    assert.equal(error._tag, "StorageConflict")
    return error._tag === "StorageConflict" ? error.conflicts : []
  })

/** Runs, and checks that it died: a bug of its caller, not a fault of the store. */
export const dies = (effect: Effect.Effect<unknown, unknown>, what: string): Effect.Effect<void> =>
  Effect.map(Effect.exit(effect), (exit) => {
    assert.ok(
      Exit.isFailure(exit) && Cause.hasDies(exit.cause),
      `${what} should be a defect, but ${Exit.isFailure(exit) ? "was a failure" : "was done"}.`
    )
  })

/** Every record, in order, in pages as large as they may be. */
export const allRecords = Effect.fnUntraced(function* (storage: StorageApi) {
  const records: Array<StoredRecord> = []
  for (;;) {
    const page: ReadonlyArray<StoredRecord> = yield* storage.records({ from: records.length, limit: 1000 })
    records.push(...page)
    if (page.length < 1000) return records
  }
})

/**
 * Checks the whole chain by its bytes: form, seq, prev, at, hash, the commitment of every part that is there, and the
 * head. Answers its length.
 */
export const checkChain = Effect.fnUntraced(function* (storage: StorageApi) {
  const records = yield* allRecords(storage)
  let prev = "0".repeat(64)
  let atMs = 0
  for (const [index, stored] of records.entries()) {
    const read = readRecord(stored.bytes)
    assert.ok(read.ok, `record ${index} is not in form: ${JSON.stringify(read)}`)
    const { record } = read
    assert.deepEqual([stored.seq, record.seq, record.prev, record.kind], [index, index, prev, stored.kind])
    assert.equal(record.at, formatInstant(stored.atMs))
    assert.ok(stored.atMs >= atMs, `record ${index} is older than the one before`)
    prev = toHex(portableCrypto.leafHash(stored.bytes))
    atMs = stored.atMs
    assert.equal(toHex(stored.hash), prev)
    for (const found of yield* storage.parts([index])) {
      if (found.erasedBy !== null) continue
      const stated = record.parts.find(({ name }) => name === found.name)
      assert.equal(
        toHex(portableCrypto.commitment(found.salt, found.name, found.bytes)),
        stated?.c,
        `part ${found.name} of record ${index}`
      )
    }
  }
  const head = yield* storage.head
  const last = records.at(-1)
  assert.equal(head?.seq, last?.seq)
  assert.equal(head === null ? undefined : toHex(head.hash), last === undefined ? undefined : toHex(last.hash))
  assert.equal(head?.atMs, last?.atMs)
  return records.length
})
