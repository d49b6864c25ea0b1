/** Plans of routes on SQLite and on Postgres: recorded, dispatched under an envelope, replayed, and every lie found. */
import type { RoutesOptimize } from "@flyball/contract"
import {
  ephemeralKeys,
  Erasure,
  governorLayer,
  type GovernorServices,
  keysLayerOf,
  Reviews,
  ROUTE_COURSES,
  type StorageChoice,
  systemHost
} from "@flyball/core"
import { layerOf, Storage } from "@flyball/core/storage"
import { portableCrypto } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer, ManagedRuntime } from "effect"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { recorded } from "../../../packages/core/src/testing/recorded.ts"
import { findingsWith, governedAgent } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"
import { putPlan, storedPlan } from "../../../packages/platform/src/fleet/document.ts"
import { RoutePlans } from "../../../packages/platform/src/fleet/service.ts"
import { Tracking } from "../../../packages/platform/src/tracking/service.ts"
import { platform } from "../../../packages/platform/src/index.ts"
import { RouteJudge } from "../../../packages/rules/src/recompute/checks/routes.ts"
import { isFound, liesAbout, type Timed } from "../replay/lies.ts"
import { namedLies } from "../replay/named-lies.ts"

const database = givenDatabase({ beforeAll, afterAll })
let schemas = 0
const origin = "flyball.example/routes"
const ann = { id: `usr_${"0".repeat(25)}1` }

type Services = GovernorServices | Storage | RoutePlans | Tracking
let runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
const open = (storage: StorageChoice) => {
  const layer = governorLayer({ origin, capabilities: [platform()] }).pipe(
    Layer.provideMerge(layerOf(storage)),
    Layer.provide(keysLayerOf(ephemeralKeys()))
    // The cast: services of capabilities are not in the type of the layer.
  ) as Layer.Layer<Services, unknown>
  runtime = ManagedRuntime.make(layer)
}
const run = <A, E>(effect: Effect.Effect<A, E, Services>) => runtime.runPromise(effect)
afterEach(() => runtime.dispose())

const depot = { latitude: 52.52, longitude: 13.4 }
const problem = {
  vehicles: ["a", "b"].map((id) => ({ id, start: depot, end: depot, capacity: [3] })),
  jobs: Array.from({ length: 6 }, (_, at) => ({
    id: `j${at}`,
    location: { latitude: 52.4 + at / 20, longitude: 13.3 + (at % 3) / 10 },
    demand: [1]
  })),
  max_seconds: 1,
  seed: "s"
} as RoutesOptimize

const planned = (input: RoutesOptimize = problem) =>
  Effect.gen(function* () {
    const plans = yield* RoutePlans
    const { id } = yield* plans.optimize("ops", input, ann, 0)
    yield* plans.work
    return yield* plans.get("ops", id)
  })

const digests = new Set<string>()

describe.each([
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url, schema: `routes_${++schemas}` })]
])("a plan on %s", (_, storage: () => StorageChoice) => {
  beforeEach(() => open(storage()))
  const findings = (change: (record: ReplayRecord) => ReplayRecord = (record) => record) =>
    Effect.map(findingsWith(change), (found) => found.map(({ verdict }) => verdict))
  const dispatched = (said: object) => (record: ReplayRecord) =>
    record.kind === "route_plan.dispatched" ? { ...record, body: { ...record.body, ...said } } : record
  const kinds = Effect.map(recorded, (records) => records.map(({ kind }) => kind).slice(-3))
  const metres = { type: "int", min: 0, max: 10_000_000, source: "args", from: "/distance_m" } as const
  /** An agent that dispatches up to `free` metres alone, and up to `most` with a review. */
  const dispatcher = (free: number, most = 1_000_000) =>
    governedAgent({
      semantics: "envelope/1",
      signals: { metres, tool: { type: "enum", values: ["fleet.dispatch"], source: "caller" } },
      effects: { "fleet.dispatch": "write_reversible" },
      rules: [
        { id: "short", outcome: "allow", when: [{ signal: "metres", lte: free }] },
        {
          id: "long",
          outcome: "require_review",
          when: [
            { signal: "metres", gt: free },
            { signal: "metres", lte: most }
          ],
          obligations: [{ type: "reviewers", role: "dispatch", approvals: 1, ttl_ms: 3_600_000 }]
        }
      ],
      default: { outcome: "deny" }
    })
  const dispatch = (id: string, agentId: string) =>
    RoutePlans.use((plans) => plans.dispatch("ops", id, Effect.succeed(agentId), ann))
  const refused = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.map(Effect.flip(effect), ({ _tag }) => _tag)

  it("is made, recorded and replayed, with the same bytes on every store", () =>
    run(
      Effect.gen(function* () {
        const plan = yield* planned()
        assert.deepInclude(plan, { status: "completed", distance_source: "great_circle" })
        assert.deepInclude(plan.totals, { vehicles: 2, stops: 6, unassigned: 0 })
        assert.deepStrictEqual(yield* findings(), [])
        const all = (yield* recorded).map(({ kind }) => kind)
        assert.lengthOf(
          all.filter((kind) => kind === "route_plan.completed"),
          1
        )
        assert.strictEqual(digests.add(plan.plan_digest!).size, 1)
      })
    ))

  /** Where a vehicle is at its dispatch and five minutes behind it, in the north or on its plan. */
  const driven = (dispatchedAt: string, latitude: number) =>
    Tracking.use((tracking) =>
      tracking.track(
        "ops",
        [0, 300_000].map((laterMs) => ({
          vehicle_id: "a",
          at: new Date(Date.parse(dispatchedAt) + laterMs).toISOString(),
          latitude,
          longitude: 13.4
        }))
      )
    )
  const left = Storage.use(({ outbox }) => outbox.events({ limit: 100 })).pipe(
    Effect.map((events) => events.flatMap(({ data, type }) => (type === "fleet.off_plan" ? [data] : [])))
  )

  it("that is dispatched has its vehicles followed, until its places are erased", () =>
    run(
      Effect.gen(function* () {
        const storage = yield* Storage
        const { id, totals } = yield* planned()
        const { agentId } = yield* dispatcher(totals!.metres)
        const { dispatched_at: at } = yield* dispatch(id, agentId)
        assert.deepStrictEqual((yield* dispatch(id, agentId)).dispatched_at, at)
        assert.lengthOf(yield* storage.list(ROUTE_COURSES), 1)
        yield* driven(at, 53)
        const event = { plan_id: id, vehicle_id: "a", at: new Date(Date.parse(at) + 300_000).toISOString() }
        assert.deepStrictEqual(yield* left, [event])
        yield* driven(at, 53)
        assert.deepStrictEqual(yield* left, [event])
        const { seq } = (yield* recorded).find(({ kind }) => kind === "route_plan.completed")!
        yield* Erasure.use((one) => one.erase({ seq, name: "problem", reason: "subject_request" }, systemHost))
        assert.deepInclude((yield* storage.get(ROUTE_COURSES, id))!.body, { courses: [] })
        assert.isNull((yield* storage.get("route_plans", id))!.body["names"])
        yield* Tracking.use((tracking) => tracking.erase("ops", "a"))
        yield* driven(at, 53)
        assert.deepStrictEqual(yield* left, [event])
        const other = yield* planned()
        const erased = (yield* recorded).findLast(({ kind }) => kind === "route_plan.completed")!
        yield* Erasure.use((one) =>
          one.erase({ seq: erased.seq, name: "problem", reason: "subject_request" }, systemHost)
        )
        yield* dispatch(other.id, agentId)
        assert.lengthOf(yield* storage.list(ROUTE_COURSES), 1)
      })
    ))

  it("is dispatched under the agent's envelope, once", () =>
    run(
      Effect.gen(function* () {
        const other = yield* planned({ ...problem, vehicles: problem.vehicles.slice(0, 1) })
        const { id, totals } = yield* planned()
        const { agentId } = yield* dispatcher(totals!.metres)
        const first = yield* dispatch(id, agentId)
        assert.deepInclude(first, { plan_id: id, agent_id: agentId })
        assert.deepStrictEqual(yield* dispatch(id, agentId), first)
        const third = yield* governedAgent(undefined, "other")
        assert.strictEqual(yield* refused(dispatch(id, third.agentId)), "RoutePlanState")
        assert.deepStrictEqual(yield* findings(), [])
        const said = { plan_id: other.id, plan_digest: other.plan_digest!.slice(7) }
        assert.deepStrictEqual(yield* findings(dispatched(said)), ["route_mismatch"])
      })
    ))

  it("is not dispatched by an agent whose envelope denies it", () =>
    run(
      Effect.gen(function* () {
        const { id } = yield* planned()
        const { agentId } = yield* dispatcher(1, 2)
        assert.strictEqual(yield* refused(dispatch(id, agentId)), "DispatchDenied")
        assert.strictEqual(yield* refused(dispatch(id, agentId)), "DispatchDenied")
        assert.notInclude(yield* kinds, "route_plan.dispatched")
        assert.deepStrictEqual(yield* findings(), [])
      })
    ))

  it("waits for its review, and is dispatched once that approved", () =>
    run(
      Effect.gen(function* () {
        const { id } = yield* planned()
        const { agentId } = yield* dispatcher(1)
        const held = yield* Effect.flip(dispatch(id, agentId))
        assert.strictEqual(held._tag, "DispatchInReview")
        assert.strictEqual(yield* refused(dispatch(id, agentId)), "DispatchInReview")
        const ben = { writer: { id: `usr_${"0".repeat(25)}2` }, grants: "any", email: null } as const
        const { reviewId } = held as { readonly reviewId: string }
        yield* Reviews.use((reviews) => reviews.resolve(reviewId, { resolution: "approve" }, ben))
        assert.deepInclude(yield* dispatch(id, agentId), { plan_id: id, agent_id: agentId })
        assert.deepStrictEqual(yield* findings(), [])
      })
    ))

  it("that is cancelled before its search has no routes", () =>
    run(
      Effect.gen(function* () {
        const plans = yield* RoutePlans
        const { id } = yield* plans.optimize("ops", problem, ann, 0)
        const cancelled = yield* plans.cancel("ops", id, ann)
        assert.deepInclude(cancelled, { status: "cancelled", routes: null, totals: null })
        yield* plans.work
        assert.deepStrictEqual(yield* plans.get("ops", id), cancelled)
        assert.strictEqual(yield* refused(plans.cancel("ops", id, ann)), "RoutePlanState")
        assert.deepStrictEqual(yield* findings(), [])
      })
    ))

  it("that lies is found by replay, and what is not shown is withheld", () =>
    run(
      Effect.gen(function* () {
        const plans = yield* RoutePlans
        const { id, totals } = yield* planned()
        const queued = yield* plans.optimize("ops", problem, ann, 0)
        yield* plans.cancel("ops", queued.id, ann)
        yield* plans.work
        yield* dispatch(id, (yield* dispatcher(totals!.metres)).agentId)
        const storage = yield* Storage
        const times = new Map((yield* storage.records({ limit: 1_000 })).map(({ atMs, seq }) => [seq, atMs]))
        const history = (yield* recorded).map((record): Timed => ({ record, atMs: times.get(record.seq)! }))
        const of = ["route_plan.completed", "route_plan.failed", "route_plan.dispatched"]
        const accepted = new Set<string>()
        for (const at of history.keys())
          if (of.includes(history[at]!.record.kind))
            for (const { records, what } of liesAbout(history, at))
              if (!isFound(records, origin)) accepted.add(`${history[at]!.record.kind}: ${what}`)
        // How far the search came is the clock's: another seed may give the same plan, or not.
        assert.deepStrictEqual([...accepted.difference(namedLies(of))], [])
        const without = (part: string) => (record: ReplayRecord) => ({
          ...record,
          parts: new Map([...record.parts].map(([name, of]) => [name, name === part ? { state: "withheld" } : of]))
        })
        for (const part of ["plan", "problem"])
          assert.deepStrictEqual(yield* findings(without(part) as never), ["withheld"])
        const spent = new RouteJudge(portableCrypto.sha256, true, 1)
        const judged = history.flatMap(({ record }) => (record.kind === of[0] ? [spent.take(record)] : []))
        assert.deepInclude(judged[0], { verdict: "withheld", because: "budget" })
      })
    ))

  it("whose process ended fails as interrupted, once it is due", () =>
    run(
      Effect.gen(function* () {
        const plans = yield* RoutePlans
        const storage = yield* Storage
        const { id } = yield* plans.optimize("ops", problem, ann, 0)
        yield* plans.endOverdue
        assert.deepInclude(yield* plans.get("ops", id), { status: "queued" })
        const stored = storedPlan((yield* storage.get("route_plans", id))!)
        yield* storage.commit({ puts: [putPlan({ ...stored, body: { ...stored.body, dueMs: 1 } })] })
        yield* plans.endOverdue
        const { error, status } = yield* plans.get("ops", id)
        assert.deepStrictEqual([status, error!.code], ["failed", "interrupted"])
        assert.deepInclude((yield* recorded).at(-1)!.body, { code: "interrupted", writer: "policy:routes" })
        yield* plans.work
        assert.deepInclude(yield* plans.get("ops", id), { status: "failed", routes: null })
        assert.deepStrictEqual(yield* findings(), [])
      })
    ))

  it("forgets the names of vehicles and jobs that are erased, and its routes", () =>
    run(
      Effect.gen(function* () {
        const { id } = yield* planned()
        const { seq } = (yield* recorded).find(({ kind }) => kind === "route_plan.completed")!
        yield* Erasure.use((one) => one.erase({ seq, name: "problem", reason: "subject_request" }, systemHost))
        const { routes } = yield* RoutePlans.use((plans) => plans.get("ops", id))
        assert.deepStrictEqual(routes!.map(({ vehicle }) => vehicle).sort(), ["0", "1"])
        yield* Erasure.use((one) => one.erase({ seq, name: "plan", reason: "subject_request" }, systemHost))
        assert.deepInclude(yield* RoutePlans.use((plans) => plans.get("ops", id)), { routes: null, totals: null })
        assert.strictEqual(yield* refused(dispatch(id, (yield* dispatcher(1)).agentId)), "RoutePlanState")
        assert.deepStrictEqual(yield* findings(), ["withheld"])
      })
    ))
})
