import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Erasure } from "../../outward/erasure/service.ts"
import { Replay } from "../../outward/replay/service.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { systemHost as writer } from "../../foundation/writer.ts"
import { emptyMapping } from "@flyball/rules"
import { AccessMapping } from "./service.ts"

const admins = (value: string) => ({ match: { claim: "groups", value }, role: "admin", org_unit: "*" }) as const
const replayed = Effect.map(
  Replay.use(({ check }) => check),
  ({ differences }) => differences
)

describe("the access mapping", () => {
  it.effect("is empty at first, then what was set last, and replay agrees", () =>
    Effect.gen(function* () {
      const mapping = yield* AccessMapping
      assert.deepStrictEqual(yield* mapping.get, { rules: [], trust_canonical: false, version: 0 })
      assert.deepStrictEqual(
        yield* mapping.set({ rules: [admins("founders")], trust_canonical: false, if_version: 0 }, writer),
        { rules: [{ id: "r1", ...admins("founders") }], trust_canonical: false, version: 1 }
      )
      yield* mapping.set({ rules: [], trust_canonical: true }, writer)
      assert.deepStrictEqual(yield* mapping.get, { rules: [], trust_canonical: true, version: 2 })
      assert.deepStrictEqual(yield* replayed, [])
      const [record] = yield* Storage.use((storage) => storage.records({ kinds: ["mapping.changed"], limit: 1 }))
      assert.notInclude(new TextDecoder().decode(record!.bytes), "founders")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("takes one of many who read the same version", () =>
    Effect.gen(function* () {
      const mapping = yield* AccessMapping
      const tags = yield* Effect.all(
        Array.from({ length: 10 }, (_, n) =>
          mapping
            .set({ rules: [admins(`g${n}`)], trust_canonical: false, if_version: 0 }, writer)
            .pipe(Effect.match({ onSuccess: () => "taken", onFailure: ({ _tag }) => _tag }))
        ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(tags.sort(), [...Array.from({ length: 9 }, () => "MappingVersionConflict"), "taken"])
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("forgets who was in it when the part is erased; what was before it is in no document", () =>
    Effect.gen(function* () {
      const mapping = yield* AccessMapping
      yield* mapping.set({ rules: [admins("ada")], trust_canonical: false }, writer)
      yield* mapping.set({ rules: [admins("grace")], trust_canonical: false }, writer)
      const seqs = (yield* Storage.use((storage) => storage.records({ kinds: ["mapping.changed"], limit: 10 }))).map(
        ({ seq }) => seq
      )
      const erase = (seq: number) =>
        Erasure.use((erasure) => erasure.erase({ seq, name: "mapping", reason: "subject_request" }, writer))
      yield* erase(seqs[0]!)
      assert.deepInclude((yield* mapping.get).rules[0], { match: { claim: "groups", value: "grace" } })
      yield* erase(seqs[1]!)
      assert.deepStrictEqual(yield* mapping.current, emptyMapping)
      assert.deepStrictEqual(yield* replayed, [])
    }).pipe(Effect.provide(governorWorld()))
  )
})
