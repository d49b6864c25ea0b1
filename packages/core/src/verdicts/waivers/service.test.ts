import { assert, describe, it } from "@effect/vitest"
import type { InvalidInput } from "@flyball/contract"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ann, ask, ben, governedAgent, recomputed } from "../evaluations/testing/refunds.ts"
import { governorWorld } from "../../testing/governor-world.ts"
import { MAX_WAIVERS_IN_FORCE, Waivers } from "./service.ts"

const request = (envelopeId: string, unless: ReadonlyArray<unknown>, expiresAt = "1970-01-03T00:00:00.000Z") =>
  Waivers.use((waivers) =>
    waivers.request(envelopeId, { rule_id: "large", unless, reason: "A busy day.", expires_at: expiresAt }, ann)
  )

const grant = (envelopeId: string, id: string) => Waivers.use((waivers) => waivers.grant(envelopeId, id, ben))

const notOk = Effect.map(recomputed, (found) => found.filter(({ verdict }) => verdict !== "ok"))

describe("waivers beside each other", () => {
  it.effect("hold as many at a time as the record of an evaluation has room for; one that ended makes room", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const waiting = yield* request(envelopeId, [{ signal: "amount", lte: 99 }])
      for (let at = 0; at < MAX_WAIVERS_IN_FORCE; at++)
        yield* grant(
          envelopeId,
          (yield* request(envelopeId, [{ signal: "amount", lte: at + 1 }], "1970-01-02T00:00:00.000Z")).id
        )
      assert.strictEqual(
        (yield* Effect.flip(request(envelopeId, [{ signal: "amount", lte: 98 }])))._tag,
        "InvalidInput"
      )
      assert.strictEqual((yield* Effect.flip(grant(envelopeId, waiting.id)))._tag, "InvalidInput")
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 10 })).outcome, "allow_with_notice")
      assert.deepStrictEqual(yield* notOk, [])
      yield* TestClock.setTime(86_400_000)
      assert.strictEqual((yield* grant(envelopeId, waiting.id)).status, "granted")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are refused where all of them together leave nothing to decide on, and what holds stays in force", () =>
    Effect.gen(function* () {
      const { agentId, envelopeId } = yield* governedAgent()
      const islands = (from: number) => [
        {
          any: Array.from({ length: 40 }, (_, at) => ({
            signal: "amount",
            between: [from + 20 * at, from + 20 * at + 2]
          }))
        }
      ]
      const first = yield* request(envelopeId, islands(3_000))
      const second = yield* request(envelopeId, islands(5_000))
      yield* grant(envelopeId, first.id)
      const refused = yield* Effect.flip(grant(envelopeId, second.id))
      assert.strictEqual(refused._tag, "InvalidInput")
      assert.match(String(refused), /too large to evaluate/)
      assert.strictEqual((yield* ask(agentId, { tool: "refund", amount: 10 })).outcome, "allow_with_notice")
      assert.strictEqual((yield* Effect.flip(request(envelopeId, islands(7_000))))._tag, "InvalidInput")
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("are no longer than a part of theirs may be", () =>
    Effect.gen(function* () {
      const { envelopeId } = yield* governedAgent()
      const long = Array.from({ length: 60 }, (_, at) => ({
        any: Array.from({ length: 60 }, () => ({ signal: "amount", lte: at }))
      }))
      assert.isAbove(JSON.stringify(long).length, 65_536)
      assert.match(String(yield* Effect.flip(request(envelopeId, long))), /65536 bytes/)
    }).pipe(Effect.provide(governorWorld()))
  )

  it.effect("end within 90 days, and a refusal names the requested time", () =>
    Effect.gen(function* () {
      const { envelopeId } = yield* governedAgent()
      for (const expiresAt of ["1970-01-01T00:00:00.000Z", "1970-04-01T00:00:00.001Z"]) {
        const refused = yield* Effect.flip(request(envelopeId, [{ signal: "amount", lte: 99 }], expiresAt))
        assert.deepInclude((refused as InvalidInput).detail[0], {
          loc: ["body", "expires_at"],
          type: "value_error",
          input: expiresAt
        })
      }
      const both = yield* Effect.flip(request(envelopeId, [{ signal: "amonut", lte: 99 }], "1970-01-01T00:00:00.000Z"))
      assert.deepStrictEqual(
        (both as InvalidInput).detail.map(({ loc }) => loc[1]),
        ["unless", "expires_at"]
      )
      assert.strictEqual(
        (yield* request(envelopeId, [{ signal: "amount", lte: 99 }], "1970-04-01T00:00:00.000Z")).status,
        "requested"
      )
    }).pipe(Effect.provide(governorWorld()))
  )
})
