/**
 * The safety view, drills and the response policy on every store: what they show follows from the records, and a view
 * of 10,000 agents is fast enough to be polled.
 */
import {
  Agents,
  Capture,
  Drills,
  ephemeralKeys,
  governorLayer,
  type GovernorServices,
  Kill,
  keysLayerOf,
  Replay,
  ResponsePolicies,
  Safety,
  systemHost
} from "@flyball/core"
import { layerOf, memoryStorage, type Storage, type StorageChoice } from "@flyball/core/storage"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, Logger } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { acknowledged } from "../../../packages/core/src/verdicts/drills/testing/drilled.ts"

/** Agents of the fleet. */
const FLEET = 10_000
/** Longest time that a view may take. The goal is 200 ms on an idle host; tests run beside others. */
const MOST_MS = 2_000

const database = givenDatabase({ afterAll, beforeAll })

const within = <A>(choice: StorageChoice, inside: Effect.Effect<A, unknown, GovernorServices | Storage>): Promise<A> =>
  inside.pipe(
    Effect.provide(
      governorLayer({ origin: "flyball.example/fleet" }).pipe(
        Layer.provideMerge(layerOf(choice)),
        Layer.provide(keysLayerOf(ephemeralKeys()))
      )
    ),
    Effect.provide(Logger.layer([])),
    Effect.runPromise
  )

const stores: ReadonlyArray<readonly [string, () => StorageChoice]> = [
  ["memory", () => memoryStorage()],
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url, schema: `fleet_${++schemas}` })]
]
let schemas = 0

const starter = { id: "system:starter" }
const attester = { id: "system:attester" }

describe.each(stores)("on %s", (_, open) => {
  it("a drill is started, acknowledged, completed and attested, and replay agrees", () =>
    within(
      open(),
      Effect.gen(function* () {
        const agents = yield* Agents
        const drills = yield* Drills
        const { agent } = yield* agents.register(
          { name: "courier", org_unit: "ops", autonomy_tier: "L4", owner_name: "Ada", owner_email: "a@example.org" },
          systemHost
        )
        yield* Capture.use((capture) =>
          capture.witness(
            agent.id,
            ["a", "b"].map((instance_id) => ({
              client_ref: instance_id,
              kind: "tool_call" as const,
              action: "pay",
              status: "ok" as const,
              instance_id
            })),
            systemHost
          )
        )
        const input = { target_type: "agent", target_id: agent.id, scenario: "It pays twice.", slo_ms: 60_000 } as const
        const { activation_event, id } = yield* drills.start({ ...input, mode: "live" }, starter)
        yield* acknowledged(activation_event, agent.id, "a")
        const { result } = yield* drills.complete(id, starter)
        expect(result).toMatchObject({
          expected: 2,
          acknowledged: 1,
          missed: [{ agent_id: agent.id, instance_id: "b" }],
          met: false
        })
        yield* drills.attest(id, attester)
        const missed = yield* Safety.use((safety) => safety.view())
        expect(missed.agents).toMatchObject([{ agent_id: agent.id, drill_overdue: true }])
        const again = yield* drills.start({ ...input, mode: "live" }, starter)
        for (const instance of ["a", "b"]) yield* acknowledged(again.activation_event, agent.id, instance)
        expect((yield* drills.complete(again.id, starter)).result).toMatchObject({ expected: 2, met: true })
        yield* drills.attest(again.id, attester)
        yield* ResponsePolicies.use((policies) =>
          policies.set(
            [{ scope: "agent", target: agent.id, trigger: "breaker", response: "drain", notify: ["a@example.org"] }],
            systemHost
          )
        )
        const { agents: rows } = yield* Safety.use((safety) => safety.view())
        expect(rows).toMatchObject([{ agent_id: agent.id, halted: false, drill: false, drill_overdue: false }])
        expect((yield* Replay.use(({ check }) => check)).differences).toEqual([])
      })
    ))

  it("exactly one of several concurrent completions of a drill succeeds", () =>
    within(
      open(),
      Effect.gen(function* () {
        const { agent } = yield* Agents.use((agents) => agents.register({ name: "c", org_unit: "ops" }, systemHost))
        const drills = yield* Drills
        const input = { target_type: "agent", target_id: agent.id, scenario: "x", slo_ms: 1_000, mode: "live" } as const
        const { id } = yield* drills.start(input, starter)
        const tags = yield* Effect.all(
          Array.from({ length: 8 }, () =>
            drills
              .complete(id, starter)
              .pipe(Effect.match({ onFailure: ({ _tag }): string => _tag, onSuccess: () => "completed" }))
          ),
          { concurrency: "unbounded" }
        )
        expect(tags.sort()).toEqual([...Array.from({ length: 7 }, () => "DrillCompleted"), "completed"])
        expect((yield* Replay.use(({ check }) => check)).differences).toEqual([])
      })
    ))

  it(
    `the view of ${FLEET} agents, a halted model and a halted agent is fast enough for polling`,
    () =>
      within(
        open(),
        Effect.gen(function* () {
          const agents = yield* Agents
          const ids = yield* Effect.forEach(
            Array.from({ length: FLEET }, (_, n) => n),
            (n) =>
              Effect.map(
                agents.create(
                  {
                    name: `agent ${n}`,
                    org_unit: `unit ${n % 20}`,
                    owner_name: "Ada",
                    owner_email: "ada@example.org",
                    model_ids: [`model-${n % 7}`]
                  },
                  systemHost
                ),
                ({ id }) => id
              ),
            { concurrency: 64 }
          )
          const kill = yield* Kill
          const halt = { response: "halt", reason: "Pays twice." } as const
          yield* kill.activate({ target_type: "model", target_id: "model-3", ...halt }, systemHost)
          yield* kill.activate({ target_type: "agent", target_id: ids[0]!, ...halt }, systemHost)
          const safety = yield* Safety
          yield* safety.view()
          const beganMs = performance.now()
          const { agents: rows } = yield* safety.view()
          const tookMs = performance.now() - beganMs
          expect(rows).toHaveLength(FLEET)
          const onModel = ids.filter((_, n) => n % 7 === 3).length
          expect(rows.filter(({ halted }) => halted)).toHaveLength(onModel + 1)
          console.log(`a view of ${FLEET} took ${tookMs.toFixed(0)} ms`)
          expect(tookMs).toBeLessThan(MOST_MS)
        })
      ),
    120_000
  )
})
