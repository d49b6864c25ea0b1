/**
 * Windows of breakers over a real chain, at their edges: those of a process that runs since the breakers were armed,
 * and those that another one reads from the chain as it starts, say what counting the whole chain says. For every
 * metric, on every storage.
 */
import {
  Agents,
  Breakers,
  Capture,
  ephemeralKeys,
  Evaluations,
  governorLayer,
  type GovernorServices,
  Kill,
  keysLayerOf,
  Reviews
} from "@flyball/core"
import { recordExpected } from "../../../packages/core/src/verdicts/kill/expected.ts"
import { layerOf, memoryStorage, Storage, type StorageApi, type StorageChoice } from "@flyball/core/storage"
import { parseInstant, readRecord } from "@flyball/evidence"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { seededEntropy } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { breakerKeeper } from "../../../packages/core/src/verdicts/breakers/keeper.ts"
import {
  type AgentBreakers,
  type AgentFacts,
  BREAKERS,
  CLOCK_STEP_MS,
  type MetricRecord,
  metricOf,
  READ_BACK_MS
} from "../../../packages/rules/src/index.ts"
import { naiveMetrics, WINDOW, WITHIN } from "../../../packages/rules/src/testing/naive-metrics.ts"
import { ann, begin, type Lived } from "../evaluations/governed-history.ts"
import { runs } from "../runs.ts"

const seed = 20_261_126
const histories = { memory: runs(6, 30), SQLite: runs(2, 8), Postgres: runs(1, 5) }

const database = givenDatabase({ afterAll, beforeAll })
let schemas = 0

const stores: ReadonlyArray<readonly [keyof typeof histories, () => StorageChoice]> = [
  ["memory", () => memoryStorage()],
  ["SQLite", () => sqliteStorage({ file: ":memory:" })],
  ["Postgres", () => postgresStorage({ url: database.url, schema: `windows_${++schemas}` })]
]

/** Longer than any window here reaches back, with what is allowed for clocks. Unit: milliseconds. */
const LONG_MS = 2 * READ_BACK_MS + CLOCK_STEP_MS
/** Limits that nothing here reaches: a trip would end the window. */
const YEAR = 31_622_400_000
const share = { window_ms: WINDOW, min_samples: 1_000_000, threshold_bp: 10_000 }
const MOST = Number.MAX_SAFE_INTEGER
const measures: {
  readonly [name: string]: { readonly metric: string; readonly params: { [name: string]: number | string } }
} = {
  error_rate: { metric: "error_rate", params: share },
  denial_rate: { metric: "denial_rate", params: share },
  effect_missing_rate: { metric: "effect_missing_rate", params: { ...share, within_ms: WITHIN } },
  spend: { metric: "spend", params: { meter: "spent", window_ms: WINDOW, cap: MOST } },
  spend_burn: {
    metric: "spend_burn",
    params: { budget: 1_000_000, period_ms: 10_000, long_ms: 2 * WINDOW, short_ms: WINDOW, burn_bp: 1_000_000_000 }
  },
  token_burn: { metric: "token_burn", params: { window_ms: WINDOW, cap_tokens: MOST } },
  token_burn_of_runs: { metric: "token_burn", params: { window_ms: WINDOW, cap_tokens: MOST, per: "run" } },
  action_velocity: { metric: "action_velocity", params: { window_ms: WINDOW, max_count: 1_000_000 } },
  messages: { metric: "action_velocity", params: { window_ms: WINDOW, max_count: 1_000_000, kind: "message" } },
  repeat_action: { metric: "repeat_action", params: { window_ms: WINDOW, max_identical: 1_000_000 } },
  consecutive_failures: { metric: "consecutive_failures", params: { window_ms: WINDOW, max_count: 1_000_000 } },
  heartbeat_missing: { metric: "heartbeat_missing", params: { max_silence_ms: YEAR } },
  kill_ack_missing: { metric: "kill_ack_missing", params: { max_ms: YEAR } },
  review_overturn_rate: { metric: "review_overturn_rate", params: share },
  review_backlog: { metric: "review_backlog", params: { max_open: 10_000 } },
  mcp_manifest_changed: { metric: "mcp_manifest_changed", params: { window_ms: WINDOW, max_count: 1_000 } },
  drift_score: { metric: "drift_score", params: { window_ms: WINDOW, min_alarms: 1_000 } }
}

/** One act. Numbers choose. */
interface Act {
  readonly what: number
  readonly a: number
  readonly b: number
  /** How far the clock goes before it: at the edges of windows. Unit: milliseconds. */
  readonly after: number
}

const act: fc.Arbitrary<Act> = fc.record({
  what: fc.nat(10),
  a: fc.nat(63),
  b: fc.nat(63),
  after: fc.constantFrom(0, 0, 1, 499, 500, 501, 999, 1_000, 1_001)
})
const question = fc.record({
  of: fc.nat(30),
  asOf: fc.nat(8),
  edge: fc.constantFrom(-1, 0, 1),
  whole: fc.constantFrom(0, 1, 2)
})
type Question = typeof question extends fc.Arbitrary<infer A> ? A : never

const facts: AgentFacts = { isActive: true, orphanedSinceMs: null, firstBadSeq: null }
const DIGESTS = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`)
const statuses = ["ok", "error", "error", "intended", "intended", "denied", "unknown"] as const

/** Answers reviews. */
const reviewer = { writer: { id: `usr_${"0".repeat(25)}4` }, grants: "any" as const, email: null }

/** Ids of what a history made, for its later acts. */
interface Done {
  readonly evaluationIds: Array<string>
  readonly open: Array<string>
  readonly reviews: Array<string>
  activation: string | null
  refs: number
}

const doing = ({ a, b, what }: Act, agentId: string, done: Done) =>
  Effect.gen(function* () {
    const ref = `w-${done.refs++}`
    const usage = {
      cost_micro_usd: [0, 1, 400, 2 ** 20][a % 4]!,
      input_tokens: [0, 7, 2 ** 40][b % 3]!,
      output_tokens: [0, 3][a % 2]!
    }
    const instance_id = `i${b % 2}`
    const evaluationId = done.evaluationIds.at(-1 - (b % 4))
    switch (what) {
      case 0:
      case 1:
      case 2: {
        const status = statuses[a % statuses.length]!
        const { receipts } = yield* Capture.use((capture) =>
          capture.witness(
            agentId,
            [
              {
                client_ref: ref,
                kind: b % 3 === 0 ? "message" : "tool_call",
                action: "pay",
                status,
                usage,
                ...(b % 4 === 0 ? {} : { run_id: `r${b % 2}` }),
                ...(a % 3 === 0 ? { instance_id } : {}),
                ...(evaluationId === undefined ? {} : { evaluation_id: evaluationId })
              }
            ],
            ann
          )
        )
        if (status === "intended") done.open.push(receipts[0]!.decision_id)
        return
      }
      case 3: {
        const id = done.open.splice(a % Math.max(1, done.open.length), 1)[0]
        if (id === undefined) return
        const actual = b % 3 === 0 ? {} : { actual: [{ meter: "spent", amount: b }] }
        yield* Capture.use((capture) =>
          capture.settle(id, { status: a % 2 === 0 ? "ok" : "error", usage, ...actual }, ann)
        )
        return
      }
      case 4:
      case 5:
      case 6: {
        const digest = DIGESTS[b % 3]
        const { id } = yield* Evaluations.use((evaluations) =>
          evaluations.evaluate(
            {
              agent_id: agentId,
              client_ref: ref,
              signals: a % 5 === 0 ? { tool: "steal" } : { tool: "pay", amount: a },
              run_id: ref,
              instance_id,
              ...(digest === undefined ? {} : { action_digest: digest })
            },
            ann
          )
        )
        done.evaluationIds.push(id)
        return
      }
      case 7:
        if (evaluationId !== undefined) yield* Evaluations.use(({ void: takeBack }) => takeBack(evaluationId, {}, ann))
        return
      case 8:
        // What comes first in a run sets the latch that asks for a review of what comes next.
        for (const unusual of [true, false]) {
          const { id, review_id } = yield* Evaluations.use((evaluations) =>
            evaluations.evaluate(
              {
                agent_id: agentId,
                client_ref: `${ref}-${unusual}`,
                signals: { tool: "pay", amount: 1, unusual },
                run_id: ref,
                action_digest: DIGESTS[b % 2]!
              },
              ann
            )
          )
          // Not one that was opened before, and may be answered.
          if (review_id?.slice(4) === id.slice(4)) done.reviews.push(review_id)
        }
        if (a % 2 === 0) return
      // Answered at once.
      case 9: {
        const id = done.reviews.splice(a % Math.max(1, done.reviews.length), 1)[0]
        const resolution = (["approve", "reject", "amend"] as const)[b % 3]!
        if (id !== undefined)
          yield* Reviews.use((reviews) => reviews.resolve(id, { resolution, reason: "seen" }, reviewer))
        return
      }
      default: {
        const { activation } = done
        if (activation === null) {
          const { activation_event: id } = yield* Kill.use((kill) =>
            kill.activate({ target_type: "agent", target_id: agentId, response: "drain", reason: "A test." }, ann)
          )
          done.activation = id
          yield* recordExpected
        } else if (a % 3 === 0) {
          yield* Kill.use((kill) =>
            kill.ack({ activation_event: activation, agent_id: agentId, instance_id, stopped: b % 3 === 0 }, ann)
          )
        } else {
          done.activation = null
          yield* Kill.use((kill) => kill.release({ activation_event: activation, reason: "A test." }, ann))
        }
      }
    }
  })

/** The agent's part of the chain, as metrics read it, by reading all of it. */
const chainOf = Effect.fnUntraced(function* (storage: StorageApi, agentId: string) {
  const found: Array<MetricRecord> = []
  const activations = new Map<unknown, MetricRecord["body"]>()
  for (let from = 0; ;) {
    const page = yield* storage.records({ from, limit: 1_000 })
    for (const { agentId: of, atMs, bytes, kind, seq } of page) {
      const read = readRecord(bytes)
      const body = read.ok ? read.record.body : {}
      if (kind === "kill.activated") activations.set(body["activation_id"], body)
      if (kind === "kill.expected") {
        const part = (yield* storage.parts([seq])).find(({ name }) => name === "expected")
        const expected = JSON.parse(
          part?.bytes == null ? "[]" : new TextDecoder().decode(part.bytes)
        ) as ReadonlyArray<{
          readonly agent_id: string
          readonly instance_id: string
        }>
        const instances = expected.flatMap((one) => (one.agent_id === agentId ? [one.instance_id] : []))
        const activation = activations.get(body["activation_id"])!
        const at = parseInstant(String(activation["activated_at"]))!
        found.push({ seq, atMs: at, kind, body: { ...activation, ...body }, instances })
      } else if (of === agentId || kind === "kill.released") found.push({ seq, atMs, kind, body })
    }
    if (page.length < 1_000) return found
    from = page.at(-1)!.seq + 1
  }
})

/** Records of somebody else, so many that windows are not read from where they begin. */
const crowd = Effect.fnUntraced(function* (agentId: string, count: number, name: string) {
  for (let at = 0; at < count; at += 300)
    yield* Capture.use((capture) =>
      capture.witness(
        agentId,
        Array.from({ length: 300 }, (_, index) => ({
          client_ref: `${name}-${at + index}`,
          kind: "tool_call" as const,
          action: "pay",
          status: "error" as const
        })),
        ann
      )
    )
})

const within = <A>(choice: StorageChoice, inside: Effect.Effect<A, unknown, GovernorServices | Storage>): Promise<A> =>
  inside.pipe(
    Effect.provide(
      governorLayer({ origin: "flyball.example/windows" }).pipe(
        Layer.provideMerge(layerOf(choice)),
        Layer.provide(keysLayerOf(ephemeralKeys())),
        Layer.provide(seededEntropy(seed))
      )
    ),
    Effect.provide([TestClock.layer(), seededEntropy(`ids ${seed}`)]),
    Effect.runPromise
  )

/** A store in which nothing else is armed: how far back its window is read is up to this breaker alone. */
const withOneBreaker = (storage: StorageApi, breakerId: string): StorageApi => ({
  ...storage,
  find: (collection, key, value) =>
    Effect.map(storage.find(collection, key, value), (found) =>
      collection === BREAKERS ? found.filter(({ id }) => id === breakerId) : found
    )
})

const compare = (before: ReadonlyArray<Act>, later: ReadonlyArray<Act>, questions: ReadonlyArray<Question>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const lived: Lived = { agents: [], evaluationIds: [], verdicts: new Map() }
    yield* begin(1, lived)
    const { agentId } = lived.agents[0]!
    const { agent: other } = yield* Agents.use((agents) => agents.register({ name: "other", org_unit: "ops" }, ann))
    const armed = new Map<string, string>()
    for (const [name, measure] of Object.entries(measures)) {
      const { id } = yield* Breakers.use((breakers) =>
        breakers.arm(agentId, { ...measure, name, mode: "shadow", enabled: true }, ann)
      )
      armed.set(name, id)
    }
    const running = breakerKeeper(storage)
    yield* running.of(agentId, yield* storage.asOf)
    const done: Done = { evaluationIds: [], open: [], reviews: [], activation: null, refs: 0 }
    const acting = (acts: ReadonlyArray<Act>) =>
      Effect.forEach(acts, (one) => Effect.andThen(TestClock.adjust(one.after), Effect.exit(doing(one, agentId, done))))
    const agree = Effect.gen(function* () {
      const asOf = yield* storage.asOf
      const chain = yield* chainOf(storage, agentId)
      const kept = (yield* running.of(agentId, asOf))!
      const cold = new Map<string, AgentBreakers>()
      for (const id of armed.values())
        cold.set(id, (yield* breakerKeeper(withOneBreaker(storage, id)).of(agentId, asOf))!)
      for (const { asOf: back, edge, of, whole } of questions) {
        const named = chain.at(-1 - (of % chain.length))!
        const ms = Math.max(named.atMs + whole * WINDOW + edge, asOf.ms - WINDOW)
        const seq = Math.max(asOf.seq - back, chain.findLast(({ atMs }) => atMs < asOf.ms - WINDOW)?.seq ?? 0)
        for (const [name, id] of armed) {
          const start = kept.startOf(id)!
          if (start.seq > seq) continue
          const { metric, params } = measures[name]!
          const counted = naiveMetrics[metric]!(
            params,
            chain.filter((one) => one.seq > start.seq && one.seq <= seq),
            { ms, seq },
            start
          )
          for (const [which, watched] of Object.entries({ running: kept, cold: cold.get(id)! })) {
            const { tripped, ...reading } = watched.read(id, { ms, seq }, facts)!
            expect({ which, name, ms, seq, tripped, ...reading }).toEqual({
              which,
              name,
              ms,
              seq,
              tripped: false,
              ...counted
            })
          }
        }
      }
    })
    yield* acting(before)
    yield* agree
    // Far enough that windows are read from their reach, and more than once what is past is let go of.
    yield* TestClock.adjust(LONG_MS)
    yield* crowd(other.id, 2_100, "crowd")
    yield* crowd(agentId, 300, "burst")
    yield* acting(later)
    yield* agree
    yield* TestClock.adjust(WINDOW)
    yield* agree
    // Silent for longer than any window reaches.
    yield* TestClock.adjust(LONG_MS)
    yield* crowd(other.id, 300, "late")
    yield* agree
  })

describe.each(stores)("on %s", (name, open) => {
  it("cold windows, running windows and a count of the chain agree", { timeout: 300_000 }, () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(act, { minLength: 10, maxLength: 40, size: "max" }),
        fc.array(act, { minLength: 10, maxLength: 60, size: "max" }),
        fc.array(question, { minLength: 4, maxLength: 8 }),
        (before, later, questions) => within(open(), compare(before, later, questions))
      ),
      { numRuns: histories[name], seed, endOnFailure: true }
    )
  )
})

it("every metric that reads records is covered", () => {
  const used = new Set(Object.values(measures).map(({ metric }) => metric))
  expect(Object.keys(naiveMetrics).filter((metric) => !used.has(metric))).toEqual([])
  for (const metric of used) expect(metricOf(metric)).not.toBeNull()
})
