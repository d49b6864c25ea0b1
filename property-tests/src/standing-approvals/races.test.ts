/**
 * Standing approvals under races: on every store, and with two hosts of one store, exactly as many evaluations are let
 * through as there were left, and replay agrees.
 */
import {
  type GovernorServices,
  Agents,
  Envelopes,
  ephemeralKeys,
  Evaluations,
  governorLayer,
  keysLayerOf,
  Replay,
  Reviews,
  StandingApprovals,
  systemHost
} from "@flyball/core"
import { layerOf, memoryStorage, type Storage, type StorageChoice } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { type Context, Effect, Layer, Logger } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll, expect, it } from "vitest"
import { refunds } from "../replay-verdicts/bounded-world.ts"
import { runs } from "../runs.ts"

const database = givenDatabase({ beforeAll, afterAll })
const person = (n: number) => ({ id: `usr_${"0".repeat(25)}${n}` })
const host = { id: `key_${"0".repeat(25)}3` }
let stores = 0

const governor = (choice: StorageChoice, keys = keysLayerOf(ephemeralKeys())) =>
  governorLayer({ origin: "flyball.example/races" }).pipe(
    Layer.provideMerge(layerOf(choice)),
    Layer.provide(keys),
    Layer.fresh
  )

type Services = GovernorServices | Storage
/** Runs with one governor, or with two over one store. */
const within = <A>(
  choice: StorageChoice,
  hosts: 1 | 2,
  inside: (hosts: ReadonlyArray<Context.Context<Services>>) => Effect.Effect<A, unknown>
): Promise<A> =>
  Effect.scoped(
    Effect.gen(function* () {
      // One set of keys: the second host signs for the same chain.
      const keys = Layer.succeedContext(yield* Layer.build(keysLayerOf(ephemeralKeys())))
      const opened: Array<Context.Context<Services>> = []
      for (let n = 0; n < hosts; n++) opened.push(yield* Layer.build(governor(choice, keys)))
      return yield* inside(opened)
    })
  ).pipe(Effect.provide(Logger.layer([])), Effect.runPromise)

/** An agent with a standing approval of so many refunds. */
const approved = (count: number) =>
  Effect.gen(function* () {
    const agents = yield* Agents
    const envelopes = yield* Envelopes
    const { agent } = yield* agents.register(
      { name: `refunds ${stores++}`, org_unit: "support", owner_name: "Ada", owner_email: "ada@example.org" },
      systemHost
    )
    const rules = (refunds()["rules"] as ReadonlyArray<{ readonly id: string }>).filter(({ id }) => id !== "cap")
    const { id } = yield* envelopes.create(
      { name: "Refunds", agent_id: agent.id, envelope: refunds({ rules, meters: {} }) },
      person(1)
    )
    yield* envelopes.publish(id, {}, person(2))
    yield* agents.update(agent.id, { autonomy_tier: "L2" }, person(2))
    yield* agents.activate(agent.id, person(2))
    const first = yield* ask(agent.id, "first")
    yield* Reviews.use((reviews) =>
      reviews.resolve(
        first.review_id!,
        { resolution: "approve", reason: "Seen." },
        { writer: person(4), grants: "any", email: null }
      )
    )
    const approvals = yield* StandingApprovals
    const standing = yield* approvals.propose(
      {
        review_id: first.review_id!,
        pins: [{ path: "/signals/amount", at_most: 5_000 }],
        count,
        expires_at: new Date(Date.now() + 3_600_000).toISOString(),
        reason: "Known refunds"
      },
      person(4)
    )
    yield* approvals.grant(standing.id, person(5))
    return { agentId: agent.id, standingId: standing.id }
  })

const ask = (agentId: string, client_ref: string) => {
  const signals = { tool: "refund", amount: 5_000, untrusted: false }
  return Evaluations.use((evaluations) =>
    evaluations.evaluate({ agent_id: agentId, client_ref, signals, args: signals, run_id: "run" }, host)
  )
}

const act = fc.record({
  count: fc.integer({ min: 1, max: 4 }),
  asks: fc.integer({ min: 1, max: 7 }),
  /** Revoked after so many turns of the loop; not at all above the number of evaluations. */
  revoke: fc.nat(12)
})

it.each([
  ["memory", 1, () => memoryStorage(), runs(8, 60)],
  ["SQLite", 1, () => sqliteStorage({ file: ":memory:" }), runs(3, 20)],
  ["Postgres, two hosts", 2, () => postgresStorage({ url: database.url, schema: `sap_${++stores}` }), runs(4, 30)]
] as const)(
  "a standing approval allows no more uses than are left, with a concurrent revocation, on %s",
  { timeout: 240_000 },
  async (_, hosts, open, numRuns) => {
    await fc.assert(
      fc.asyncProperty(act, async ({ asks, count, revoke }) => {
        const found = await within(open(), hosts, (contexts) => {
          const on = (n: number) => contexts[n % contexts.length]!
          return Effect.gen(function* () {
            const { agentId, standingId } = yield* Effect.provide(approved(count), on(0))
            const isRevoked = revoke < asks
            const [made] = yield* Effect.all(
              [
                Effect.forEach(
                  Array.from({ length: asks }, (_, n) => n),
                  (n) => Effect.provide(ask(agentId, `ask-${n}`), on(n)),
                  { concurrency: "unbounded" }
                ),
                isRevoked
                  ? Effect.andThen(
                      Effect.forEach(Array.from({ length: revoke }), () => Effect.yieldNow),
                      Effect.ignore(
                        Effect.provide(
                          StandingApprovals.use((approvals) => approvals.revoke(standingId, {}, person(2))),
                          on(1)
                        )
                      )
                    )
                  : Effect.void
              ],
              { concurrency: "unbounded" }
            )
            const last = yield* Effect.provide(
              StandingApprovals.use((approvals) => approvals.get(standingId)),
              on(1)
            )
            const after = yield* Effect.provide(ask(agentId, "after"), on(0))
            const { differences } = yield* Effect.provide(
              Effect.flatMap(Replay, ({ check }) => check),
              on(0)
            )
            return { made, last, after, differences, isRevoked }
          })
        })
        const allowed = found.made.filter(({ outcome }) => outcome === "allow").length
        expect(found.made.filter(({ outcome }) => outcome === "require_review").length).toBe(asks - allowed)
        expect(found.last.left).toBe(count - allowed)
        expect(allowed).toBeLessThanOrEqual(count)
        if (!found.isRevoked) expect(allowed).toBe(Math.min(count, asks))
        expect(found.after.outcome).toBe(
          found.last.left > 0 && found.last.status !== "revoked" ? "allow" : "require_review"
        )
        expect(found.differences).toEqual([])
      }),
      { numRuns, seed: 22 }
    )
  }
)
