/** Migration 6: reviews that an older version put get the keys that lists read. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { layerOf, Storage, type StorageApi, type StorageChoice } from "@flyball/core/storage"
import { type ReviewDocument, reviewKeys, REVIEWS } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { afterAll } from "vitest"
import { ask, givenDatabase } from "./postgres/testing/given-database.ts"
import { postgresStorage } from "./postgres/postgres-choice.ts"
import { sqliteStorage } from "./sqlite/storage.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-migrate-reviews-"))
afterAll(() => rmSync(folder, { recursive: true }))
const database = givenDatabase()

const review = (more: Partial<ReviewDocument>): ReviewDocument => ({
  agentId: "agt_1",
  evaluationId: "evl_1",
  actionDigest: "0a",
  question: null,
  reason: null,
  matchedRule: "large",
  layers: [],
  needs: [],
  twoPerson: false,
  requestedBy: "key_1",
  openedAtMs: 1_800_000_000_000,
  expiresAtMs: 1_900_000_000_000,
  ended: null,
  claimedBy: null,
  leaseUntilMs: null,
  approvals: [],
  resolution: null,
  resolvedAtMs: null,
  resolvedBy: [],
  cancelCause: null,
  activationId: null,
  consumedBy: null,
  consumedResult: null,
  ...more
})

const reviews: { readonly [id: string]: ReviewDocument } = {
  rev_a: review({}),
  rev_b: review({ claimedBy: "usr_1", leaseUntilMs: 5, openedAtMs: 999 }),
  rev_c: review({ ended: "resolved", agentId: "agt_2" }),
  rev_d: review({ ended: "expired", claimedBy: "usr_1" }),
  rev_e: review({ ended: "cancelled", expiresAtMs: 7 }),
  rev_f: review({ expiresAtMs: 7 })
}

const using = <A, E>(choice: StorageChoice, use: (storage: StorageApi) => Effect.Effect<A, E>) =>
  Effect.flatMap(Storage, use).pipe(Effect.provide(Layer.fresh(layerOf(choice))))

/** As an older version put them, with a document of another collection under a key of the same name. */
const asBefore = (choice: StorageChoice) =>
  using(choice, (storage) =>
    storage.commit({
      puts: [
        ...Object.entries(reviews).map(([id, body]) => ({
          collection: REVIEWS,
          id,
          expectedVersion: 0,
          body,
          keys: { agent_id: body.agentId, ...(body.ended === null ? { state: "live" } : {}) }
        })),
        { collection: "agents", id: "agt_1", expectedVersion: 0, body: {}, keys: { state: "live", status: "active" } }
      ]
    })
  )

/** Every look-up key that is left in the store, by collection and document. */
const keysOf = (choice: StorageChoice) =>
  using(
    choice,
    Effect.fnUntraced(function* (storage) {
      const found: { [address: string]: { [key: string]: string } } = {}
      for (const [collection, ids] of [
        [REVIEWS, Object.keys(reviews)],
        ["agents", ["agt_1"]]
      ] as const)
        for (const id of ids) {
          const own: { [key: string]: string } = (found[`${collection}/${id}`] = {})
          for (const key of ["agent_id", "state", "status", "agent_status", "claimed", "ends"])
            for (const value of valuesOf(id, key))
              if ((yield* storage.find(collection, key, value)).some((one) => one.id === id)) own[key] = value
          for (const key of ["status", "agent_status", "claimed", "ends"])
            assert.strictEqual(
              (yield* storage.range(collection, key, { limit: 100 })).some((one) => one.id === id),
              own[key] !== undefined,
              `${collection}/${id} is found by a value of ${key} that no plan writes`
            )
        }
      return found
    })
  )

/** Values that a document may have under a key, by an older version or this one. */
const valuesOf = (id: string, key: string): ReadonlyArray<string> => {
  const body = reviews[id]
  const made = body === undefined ? undefined : reviewKeys(id, body)[key]
  return ["agt_1", "agt_2", "live", "active", ...(made === undefined ? [] : [made])]
}

const expected = {
  ...Object.fromEntries(
    Object.entries(reviews).map(([id, body]) => {
      // Of a later schema.
      const { action: _, ...keys } = reviewKeys(id, body)
      return [`${REVIEWS}/${id}`, keys]
    })
  ),
  "agents/agt_1": { state: "live", status: "active" }
}

describe("reviews of schema 5", () => {
  it.live("have on SQLite the keys of schema 6 after the migration", () =>
    Effect.gen(function* () {
      const file = join(folder, "store.db")
      const choice = sqliteStorage({ file })
      yield* asBefore(choice)
      const db = new DatabaseSync(file)
      db.exec(
        "DROP INDEX record_kind; DROP INDEX record_agent_kind; CREATE INDEX record_governance ON record (seq, kind) " +
          "WHERE kind > 2; PRAGMA user_version = 5; PRAGMA wal_checkpoint(TRUNCATE)"
      )
      db.close()
      assert.deepStrictEqual(yield* keysOf(choice), expected)
    })
  )

  it.live("have on Postgres the keys of schema 6 after the migration", () =>
    Effect.gen(function* () {
      const choice = postgresStorage({ url: database.url })
      yield* asBefore(choice)
      yield* ask(database.url, "DROP INDEX flyball.records_kind, flyball.records_agent_kind")
      yield* ask(database.url, "CREATE INDEX records_governance ON flyball.records (seq, kind)")
      yield* ask(database.url, "DELETE FROM flyball.migrations WHERE id > 5")
      yield* ask(database.url, "UPDATE flyball.head SET oldest_writer = 5")
      assert.deepStrictEqual(yield* keysOf(choice), expected)
      assert.deepStrictEqual(yield* ask(database.url, "SELECT oldest_writer FROM flyball.head"), [{ oldest_writer: 6 }])
    })
  )
})
