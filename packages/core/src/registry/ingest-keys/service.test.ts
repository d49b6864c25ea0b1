import { assert, describe, it } from "@effect/vitest"
import { formatInstant, portableCrypto } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { governorWorld } from "../../testing/governor-world.ts"
import { Storage } from "../../storage/port.ts"
import { systemHost } from "../../foundation/writer.ts"
import { keyDigest } from "./key-text.ts"
import { USE_RESOLUTION_MS } from "../keys/last-used.ts"
import { IngestKeys } from "./service.ts"

const minted = (more: { readonly expires_at?: string } = {}) =>
  IngestKeys.use((keys) => keys.mint({ name: "ci", org_unit: "ops", ...more }, systemHost))
const authenticated = (token: string) => IngestKeys.use((keys) => keys.authenticate(token))
const refused = (token: string) => Effect.map(Effect.flip(authenticated(token)), (refusal) => refusal._tag)

describe("ingest keys", () => {
  it.effect("are shown once, and authenticate for their org unit from then on", () =>
    Effect.gen(function* () {
      const { key, ...shown } = yield* minted()
      assert.deepInclude(shown, {
        name: "ci",
        org_unit: "ops",
        hint: keyDigest(portableCrypto, key).slice(0, 8),
        max_autonomy_tier: "L1",
        created_by: "system:host",
        revoked_at: null,
        expires_at: null,
        last_used_at: null
      })
      assert.deepStrictEqual(yield* authenticated(key), { writer: { id: shown.id }, orgUnit: "ops", maxTier: "L1" })
      const [listed] = yield* IngestKeys.use((keys) => keys.list)
      assert.deepStrictEqual({ ...listed!, last_used_at: null }, shown)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are kept nowhere but as their digest", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const { key, id } = yield* minted()
      const characters = Array.from({ length: key.length - 4 - 5 }, (_, at) => key.slice(4 + at, 10 + at))
      const records = yield* storage.records({ limit: 100 })
      const parts = yield* storage.parts(records.map(({ seq }) => seq))
      const kept = [...records.map(({ bytes }) => bytes), ...parts.flatMap(({ bytes }) => bytes ?? [])].map((bytes) =>
        new TextDecoder().decode(bytes)
      )
      const all = JSON.stringify([kept, yield* storage.get("ingest_keys", id)])
      assert.deepStrictEqual(
        ["fbk_", ...characters].filter((text) => all.includes(text)),
        []
      )
      assert.strictEqual((yield* storage.get("ingest_keys", id))?.body["digest"], keyDigest(portableCrypto, key))
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are refused when they are unknown, misspelt, or not a key", () =>
    Effect.gen(function* () {
      const { key } = yield* minted()
      const last = key.at(-1) === "A" ? "B" : "A"
      for (const token of ["", "x", key.slice(0, -1), key.slice(0, -1) + last, `fbk_${"a".repeat(43)}`, `${key} `])
        assert.strictEqual(yield* refused(token), "Unauthorized")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are refused once they are revoked; revoking twice is revoking", () =>
    Effect.gen(function* () {
      const keys = yield* IngestKeys
      const { id, key } = yield* minted()
      yield* TestClock.setTime(5_000)
      const revoked = yield* keys.revoke(id, systemHost)
      assert.strictEqual(revoked.revoked_at, formatInstant(5_000))
      assert.strictEqual(yield* refused(key), "Unauthorized")
      yield* TestClock.setTime(9_000)
      assert.deepStrictEqual(yield* keys.revoke(id, systemHost), revoked)
      assert.lengthOf(yield* Storage.use((storage) => storage.records({ kinds: ["ingest_key.revoked"], limit: 10 })), 1)
      for (const other of ["nonsense", `key_${"0".repeat(26)}`])
        assert.strictEqual((yield* Effect.flip(keys.revoke(other, systemHost)))._tag, "IngestKeyNotFound")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are refused from the millisecond of their expiry on", () =>
    Effect.gen(function* () {
      const { key } = yield* minted({ expires_at: formatInstant(10_000) })
      yield* TestClock.setTime(9_999)
      yield* authenticated(key)
      yield* TestClock.setTime(10_000)
      assert.strictEqual(yield* refused(key), "Unauthorized")
      assert.strictEqual((yield* Effect.flip(minted({ expires_at: formatInstant(10_000) })))._tag, "InvalidInput")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("say when they were used last, at most a minute late, with one write a minute", () =>
    Effect.gen(function* () {
      const { id, key } = yield* minted()
      const lastUsed = IngestKeys.use((keys) => Effect.map(keys.list, ([one]) => one?.last_used_at))
      const version = Storage.use((storage) =>
        Effect.map(storage.get("ingest_key_uses", id), (document) => document?.version)
      )
      assert.isNull(yield* lastUsed)
      yield* authenticated(key)
      yield* TestClock.adjust(USE_RESOLUTION_MS - 1)
      yield* authenticated(key)
      assert.deepStrictEqual([yield* lastUsed, yield* version], [formatInstant(0), 1])
      yield* TestClock.adjust(1)
      yield* authenticated(key)
      assert.deepStrictEqual([yield* lastUsed, yield* version], [formatInstant(USE_RESOLUTION_MS), 2])
    }).pipe(Effect.provide(governorWorld()))
  )
})
