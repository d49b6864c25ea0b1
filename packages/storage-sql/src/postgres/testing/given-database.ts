/** Test environment of this folder: a database of its own, and a way to query it without the store. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import type { RecordDraft, StorageApi, StorageOpenFault } from "@flyball/core/storage"
import { layerOf, Storage } from "@flyball/core/storage"
import { portableCrypto, readRecord, rootOfHashes, TILE_WIDTH, toHex } from "@flyball/evidence"
import { givenDatabase as anyDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, Redacted } from "effect"
import type { Scope } from "effect"
import assert from "node:assert/strict"
import { afterAll, beforeAll } from "vitest"
import { postgresStorage } from "../postgres-choice.ts"
import { inRealTime } from "../real-time.ts"
import type { PostgresOptions, Row } from "../sessions.ts"

/** An empty database for the tests of one file. Read `url` inside tests only. */
export const givenDatabase = (): { readonly url: string } => anyDatabase({ beforeAll, afterAll })

/** Opens a store until the scope closes; each call is like another process. */
export const openStore = (options: PostgresOptions): Effect.Effect<StorageApi, StorageOpenFault, Scope.Scope> =>
  Effect.map(Layer.build(Layer.fresh(layerOf(postgresStorage(options)))), (context) =>
    Effect.runSync(Effect.provideContext(Storage, context))
  )

/** A connection behind the store's back, until the scope closes. */
export const connect = (url: string): Effect.Effect<PgConnection.PgConnection, unknown, Scope.Scope> =>
  inRealTime(PgConnection.make({ url: Redacted.make(url) }))

/** Runs one statement behind the store's back. */
export const ask = (
  url: string,
  sql: string,
  params: ReadonlyArray<unknown> = []
): Effect.Effect<ReadonlyArray<Row>, unknown> =>
  Effect.scoped(
    Effect.flatMap(connect(url), (connection) => Effect.map(connection.query(sql, params, false), ({ rows }) => rows))
  )

/** Longer than a busy machine takes for anything that tests wait for, and shorter than their limit. */
const FACT_MS = 30_000

/** Reads a fact again until it holds. Dies, and names it, where it does not within this time. Unit: milliseconds. */
export const until = Effect.fnUntraced(function* (
  what: string,
  fact: Effect.Effect<boolean, unknown>,
  withinMs = FACT_MS
): Effect.fn.Return<void, unknown> {
  for (const endsAt = performance.now() + withinMs; !(yield* fact);) {
    if (performance.now() > endsAt) return yield* Effect.die(new Error(`Not so after ${withinMs} ms: ${what}`))
    yield* Effect.yieldNow
  }
})

/** The first record of every chain here. */
export const genesis: RecordDraft = {
  kind: "chain.genesis",
  body: { hash: "sha256-rfc6962", origin: "flyball.test/postgres", vkeys: [] },
  parts: [],
  agentId: null
}

/** A decision that is written once, with a part. */
export const decision = (key: string): RecordDraft => ({
  kind: "decision.witnessed",
  body: { key },
  parts: [{ name: "args", bytes: new TextEncoder().encode(key) }],
  agentId: "agt_1",
  once: { scope: "agt_1", key, digest: toHex(portableCrypto.sha256(new TextEncoder().encode(key))) }
})

/**
 * Checks that the chain is one line without a gap, that the stored nodes are its nodes, and answers the keys of its
 * decisions in order.
 */
export const checkLine = Effect.fnUntraced(function* (storage: StorageApi) {
  const keys: Array<string> = []
  const leaves: Array<Uint8Array> = []
  let prev = "0".repeat(64)
  for (
    let page = yield* storage.records({ limit: 1000 });
    page.length > 0;
    page = yield* storage.records({ from: leaves.length, limit: 1000 })
  ) {
    for (const { seq, bytes, hash } of page) {
      const read = readRecord(bytes)
      assert.ok(read.ok, JSON.stringify(read))
      assert.deepEqual([seq, read.record.seq, read.record.prev], [leaves.length, leaves.length, prev])
      prev = toHex(portableCrypto.leafHash(bytes))
      assert.equal(toHex(hash), prev)
      leaves.push(hash)
      if (typeof read.record.body["key"] === "string") keys.push(read.record.body["key"])
    }
  }
  assert.equal((yield* storage.head)?.seq ?? -1, leaves.length - 1)
  const tiles = Array.from({ length: Math.floor(leaves.length / TILE_WIDTH) }, (_, tile) =>
    rootOfHashes(portableCrypto, leaves.slice(tile * TILE_WIDTH, (tile + 1) * TILE_WIDTH))
  )
  assert.equal(toHex(yield* storage.hashes(1, 0, 1000)), tiles.map(toHex).join(""))
  return keys
})
