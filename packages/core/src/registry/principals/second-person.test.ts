import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Envelopes } from "../../verdicts/envelopes/service.ts"
import { Erasure } from "../../outward/erasure/service.ts"
import { ann, refunds } from "../../verdicts/evaluations/testing/refunds.ts"
import { Storage } from "../../storage/port.ts"
import { governorWorld, registered } from "../../testing/governor-world.ts"
import { Waivers } from "../../verdicts/waivers/service.ts"
import { systemHost } from "../../foundation/writer.ts"
import { secondPerson } from "./second-person.ts"
import { Principals } from "./service.ts"

const person = (subject: string) => Principals.use((principals) => principals.writerFor("https://idp.example", subject))

/** Erases who the person that was seen last is. */
const eraseLastSeen = Effect.gen(function* () {
  const [record] = yield* Storage.use((storage) =>
    storage.records({ kinds: ["principal.seen"], order: "desc", limit: 1 })
  )
  yield* Erasure.use((erasure) =>
    erasure.erase({ seq: record!.seq, name: "identity", reason: "subject_request" }, systemHost)
  )
})

const asks = (authors: ReadonlyArray<string>, writer: { readonly id: string }) =>
  Storage.use((storage) => secondPerson(storage, authors, writer))

describe("a second person", () => {
  it.effect(
    "is anybody else, until the identity of an author is erased: then only a person first seen before that",
    () =>
      Effect.gen(function* () {
        const ben = yield* person("ben")
        const eve = yield* person("eve")
        assert.deepStrictEqual(
          [yield* asks([eve.id], eve), yield* asks([eve.id], ben), yield* asks([ben.id, eve.id], eve)],
          ["one_of_them", "another", "one_of_them"]
        )
        yield* eraseLastSeen
        const again = yield* person("eve")
        assert.notStrictEqual(again.id, eve.id)
        assert.deepStrictEqual(
          [yield* asks([eve.id], again), yield* asks([ben.id, eve.id], again), yield* asks([eve.id], ben)],
          ["perhaps_them", "perhaps_them", "another"]
        )
        yield* eraseLastSeen
        assert.deepStrictEqual(
          [yield* asks([again.id], yield* person("eve")), yield* asks([again.id], ben)],
          ["perhaps_them", "another"]
        )
        assert.strictEqual(yield* asks([eve.id], ann), "another", "whom the host names itself the host tells apart")
      }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("is required by a publication and by a waiver, and is not who wrote it under an erased name", () =>
    Effect.gen(function* () {
      const envelopes = yield* Envelopes
      const waivers = yield* Waivers
      const agent = yield* registered("courier")
      const ben = yield* person("ben")
      const eve = yield* person("eve")
      const { id } = yield* envelopes.create({ name: "Refunds", agent_id: agent.id, envelope: refunds() }, eve)
      yield* eraseLastSeen
      const again = yield* person("eve")
      const refused = yield* Effect.flip(envelopes.publish(id, {}, again))
      assert.strictEqual(refused._tag, "SecondApproverRequired")
      assert.match(
        (refused as { readonly sentence?: string }).sentence ?? "",
        /first seen after that may be the same one/
      )
      yield* envelopes.publish(id, {}, ben)
      const requested = yield* waivers.request(
        id,
        {
          rule_id: "large",
          unless: [{ signal: "amount", lte: 3_000 }],
          reason: "A busy day.",
          expires_at: "1970-01-02T00:00:00.000Z"
        },
        again
      )
      yield* eraseLastSeen
      assert.strictEqual(
        (yield* Effect.flip(waivers.grant(id, requested.id, yield* person("eve"))))._tag,
        "SecondApproverRequired"
      )
      assert.strictEqual((yield* waivers.grant(id, requested.id, ben)).status, "granted")
    }).pipe(Effect.provide(governorWorld()))
  )
})
