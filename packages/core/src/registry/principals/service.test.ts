import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Erasure } from "../../outward/erasure/service.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { Storage } from "../../storage/port.ts"
import { isWriterId, systemHost } from "../../foundation/writer.ts"
import { IngestKeys } from "../ingest-keys/service.ts"
import { Principals } from "./service.ts"

const noKey = { name: null, org_unit: null, created_by: null } as const
const ada = (principals: Principals["Service"]) => principals.writerFor("https://id.example", "ada")

describe("pseudonyms", () => {
  it.effect("are one per person, also when the person comes many times at once", () =>
    Effect.gen(function* () {
      const principals = yield* Principals
      const writers = yield* Effect.all(
        Array.from({ length: 10 }, () => ada(principals)),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(writers.map(({ id }) => id)).size, 1)
      assert.isTrue(isWriterId(writers[0]!.id))
      assert.notDeepEqual(yield* principals.writerFor("https://other.example", "ada"), writers[0])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("stand in the record without the person", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* ada(yield* Principals)
      const [record] = yield* storage.records({ kinds: ["principal.seen"], limit: 1 })
      // Digests and pseudonyms are random, and a digest spells "ada" once in some thirty.
      assert.notMatch(new TextDecoder().decode(record!.bytes).replace(/[0-9a-f]{64}|usr_\w{26}/g, ""), /ada|example/)
      const [part] = yield* storage.parts([record!.seq])
      assert.strictEqual(new TextDecoder().decode(part!.bytes!), '{"issuer":"https://id.example","subject":"ada"}')
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("resolve to their person", () =>
    Effect.gen(function* () {
      const principals = yield* Principals
      const { id } = yield* ada(principals)
      const person = {
        id,
        kind: "user",
        issuer: "https://id.example",
        subject: "ada",
        ...noKey,
        erased: false
      } as const
      assert.deepStrictEqual(yield* principals.get(id), person)
      for (const unknown of [`usr_${"0".repeat(26)}`, "ada", systemHost.id])
        assert.strictEqual((yield* Effect.flip(principals.get(unknown)))._tag, "PrincipalNotFound")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("and ingest keys are both principals: a key has a name, a unit and a minter, for readers of its unit", () =>
    Effect.gen(function* () {
      const principals = yield* Principals
      const { id } = yield* IngestKeys.use((keys) => keys.mint({ name: "courier", org_unit: "ops" }, systemHost))
      assert.deepStrictEqual(yield* principals.get(id, { orgUnits: ["ops"] }), {
        id,
        kind: "key",
        issuer: null,
        subject: null,
        name: "courier",
        org_unit: "ops",
        created_by: systemHost.id,
        erased: false
      })
      const elsewhere = principals.get(id, { orgUnits: ["sales"] })
      assert.strictEqual((yield* Effect.flip(elsewhere))._tag, "PrincipalNotFound")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are new after the old one was erased", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const principals = yield* Principals
      const first = yield* ada(principals)
      const [record] = yield* storage.records({ kinds: ["principal.seen"], limit: 1 })
      yield* Erasure.use((erasure) =>
        erasure.erase({ seq: record!.seq, name: "identity", reason: "subject_request" }, systemHost)
      )
      const known = { id: first.id, kind: "user", issuer: null, subject: null, ...noKey, erased: true } as const
      assert.deepStrictEqual(yield* principals.get(first.id), known)
      assert.deepInclude((yield* storage.get("principals", first.id))?.body, { issuer: null, subject: null })
      assert.notDeepEqual(yield* ada(principals), first)
    }).pipe(Effect.provide(governorWorld()))
  )
})
