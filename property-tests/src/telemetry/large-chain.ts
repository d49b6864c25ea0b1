/**
 * A long chain with the usage of many agents, on a SQLite file, and its figures counted while it is made: by adding up
 * what is sent, and not by reading it back.
 *
 * Its records lie on days of the past, so that a window of one day is a part of it. No background job runs meanwhile.
 */
import type { DecisionIn } from "@flyball/contract"
import { Agents, Capture, governorLayer, keysLayerOf, layerOf, Models, Storage, systemHost } from "@flyball/core"
import type { RecordDraft } from "@flyball/core/storage"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { Clock, Effect, Layer, ManagedRuntime } from "effect"
import { decisionAt } from "../../../benchmarks/decisions.ts"

/** Where a chain is made, and how long. */
export interface LargeChain {
  readonly file: string
  readonly keys: string
  /** About so many records. */
  readonly records: number
  readonly agents: number
  /** Days of the past that they are spread over. */
  readonly days: number
}

/** Figures of one agent. Costs are millionths of a millionth of a US dollar, by the model's name. */
export interface CountedAgent {
  decisions: number
  inputTokens: number
  outputTokens: number
  readonly costs: Map<string, bigint>
  readonly evaluations: { allow: number; deny: number }
  readonly reviews: { approved: number; rejected: number }
}

/** Counted figures of one day. */
export interface CountedDay {
  /** Begin of the day. Unit: milliseconds since 1970 UTC. */
  readonly fromMs: number
  /** By the agent's id. */
  readonly agents: Map<string, CountedAgent>
  /** Incidents that were released. */
  incidents: number
}

const DAY_MS = 86_400_000
/** Decisions that one call witnesses, all of one agent, and how many calls run at a time. */
const BATCH = 20
const CALLERS = 8
/** One decision of every so many batches is settled. */
const SETTLE_EVERY = 10
const EVALUATIONS = 4
const REVIEW_RECORDS = 3
const INCIDENTS_A_DAY = 20
const MODELS = ["small", "medium", "large"] as const

/** Makes the chain; answers what each day holds. */
export const makeLargeChain = async (
  { agents: agentCount, days: dayCount, file, keys, records }: LargeChain,
  say: (text: string) => void
): Promise<ReadonlyArray<CountedDay>> => {
  const firstMs = Math.floor(Date.now() / DAY_MS) * DAY_MS - dayCount * DAY_MS
  let dayMs = firstMs
  let since = performance.now()
  const nowMs = (): number => Math.floor(dayMs + performance.now() - since)
  const clock = Effect.map(Clock.Clock, (real): Clock.Clock => ({
    ...real,
    sleep: (duration) => real.sleep(duration),
    currentTimeMillisUnsafe: nowMs,
    currentTimeMillis: Effect.sync(nowMs)
  }))
  const runtime = ManagedRuntime.make(
    governorLayer().pipe(
      Layer.provideMerge(layerOf(sqliteStorage({ file }))),
      Layer.provide(keysLayerOf(dataFolder({ dir: keys }))),
      Layer.provide(Layer.effect(Clock.Clock, clock))
    )
  )
  try {
    const models = await runtime.runPromise(
      Effect.forEach(MODELS, (name, place) =>
        Models.use((service) =>
          Effect.map(service.create({ provider: "bench", name, price: priceOn(place, 0) }, systemHost), ({ id }) => id)
        )
      )
    )
    const ids = await runtime.runPromise(
      Effect.forEach(Array.from({ length: agentCount }), (_, index) =>
        Agents.use((service) =>
          Effect.map(
            service.register({ name: `bench ${index}`, org_unit: "bench" }, systemHost),
            ({ agent }) => agent.id
          )
        )
      )
    )
    const days: Array<CountedDay> = []
    const turns = Math.ceil((records - agentCount) / (BATCH + EVALUATIONS + REVIEW_RECORDS + 1 / SETTLE_EVERY))
    let turn = 0
    for (let day = 0; day < dayCount; day++) {
      dayMs = firstMs + day * DAY_MS
      since = performance.now()
      if (day > 0)
        await runtime.runPromise(
          Effect.forEach(models, (id, place) =>
            Models.use((service) => service.update(id, { price: priceOn(place, day) }, systemHost))
          )
        )
      const counted: CountedDay = { fromMs: dayMs, agents: new Map(), incidents: 0 }
      const end = Math.floor((turns * (day + 1)) / dayCount)
      await Promise.all(
        Array.from({ length: CALLERS }, async () => {
          while (turn < end) {
            const number = turn++
            await runtime.runPromise(oneTurn(number, day, ids[number % ids.length]!, counted))
          }
        })
      )
      await runtime.runPromise(Storage.use((storage) => storage.commit({ records: incidentsOn(day, ids, counted) })))
      days.push(counted)
      say(`  ${day + 1} of ${dayCount} days`)
    }
    return days
  } finally {
    await runtime.dispose()
  }
}

/** A batch of decisions of one agent, with what is around it. The other records hold what telemetry reads of them. */
const oneTurn = Effect.fnUntraced(function* (number: number, day: number, agentId: string, counted: CountedDay) {
  const capture = yield* Capture
  const place = number % MODELS.length
  const decisions = Array.from({ length: BATCH }, (_, index) => ({
    ...(decisionAt(number * BATCH + index) as DecisionIn),
    model: MODELS[place]!,
    usage: { input_tokens: 1_000 + index, output_tokens: 10 + (number % 90) }
  }))
  const { receipts } = yield* capture.witness(agentId, decisions, systemHost)
  const own = agentOf(counted, agentId)
  const use = (input: number, output: number): void => {
    own.inputTokens += input
    own.outputTokens += output
    const rate = BigInt(rateOn(place, day))
    const cost = BigInt(input) * rate + BigInt(output) * 4n * rate
    own.costs.set(MODELS[place]!, (own.costs.get(MODELS[place]!) ?? 0n) + cost)
  }
  own.decisions += BATCH
  for (const { usage } of decisions) use(usage.input_tokens, usage.output_tokens)
  if (number % SETTLE_EVERY === 0) {
    // It states the whole of what was used: 7 and 3 more than its decision did.
    const { input_tokens, output_tokens } = decisions[0]!.usage
    const usage = { input_tokens: input_tokens + 7, output_tokens: output_tokens + 3 }
    yield* capture.settle(receipts[0]!.decision_id, { status: "ok", usage }, systemHost)
    use(7, 3)
  }
  const reviewId = idOf("rev", number)
  const isApproved = number % 4 > 0
  const about = (kind: string, body: RecordDraft["body"]): RecordDraft => ({
    kind,
    body: { agent_id: agentId, ...body },
    parts: [],
    agentId
  })
  yield* Storage.use((storage) =>
    storage.commit({
      records: [
        ...Array.from({ length: EVALUATIONS }, (_, index) =>
          about("evaluation.made", { outcome: index === 0 ? "deny" : "allow" })
        ),
        about("review.opened", { review_id: reviewId }),
        about("review.presented", { review_id: reviewId, writer: idOf("usr", 1) }),
        about("review.resolved", {
          review_id: reviewId,
          resolution: isApproved ? "approve" : "reject",
          ends: true,
          writer: idOf("usr", 1)
        })
      ]
    })
  )
  own.evaluations.deny++
  own.evaluations.allow += EVALUATIONS - 1
  if (isApproved) own.reviews.approved++
  else own.reviews.rejected++
})

/** Halts of single agents, released at once. */
const incidentsOn = (day: number, ids: ReadonlyArray<string>, counted: CountedDay): ReadonlyArray<RecordDraft> =>
  Array.from({ length: INCIDENTS_A_DAY }, (_, index): ReadonlyArray<RecordDraft> => {
    const activation_id = idOf("kil", day * INCIDENTS_A_DAY + index)
    counted.incidents++
    return [
      {
        kind: "kill.activated",
        body: {
          activation_id,
          target_type: "agent",
          target_id: ids[index % ids.length]!,
          response: "halt"
        },
        parts: [],
        agentId: null
      },
      { kind: "kill.released", body: { activation_id }, parts: [], agentId: null }
    ]
  }).flat()

const idOf = (prefix: string, number: number): string => `${prefix}_${String(number).padStart(26, "0")}`

const agentOf = ({ agents }: CountedDay, id: string): CountedAgent => {
  const known = agents.get(id)
  if (known !== undefined) return known
  const none: CountedAgent = {
    decisions: 0,
    inputTokens: 0,
    outputTokens: 0,
    costs: new Map(),
    evaluations: { allow: 0, deny: 0 },
    reviews: { approved: 0, rejected: 0 }
  }
  agents.set(id, none)
  return none
}

/** Prices change every ten days. */
const priceOn = (place: number, day: number) => ({
  input_micro_usd_per_mtok: rateOn(place, day),
  output_micro_usd_per_mtok: 4 * rateOn(place, day)
})
const rateOn = (place: number, day: number): number => (place + 1) * 100_000 + Math.floor(day / 10) * 7_000

/** Differences between what a window of whole days was counted to hold and what an answer says; empty when none. */
export const differencesFrom = (days: ReadonlyArray<CountedDay>, answer: UsageAnswer): ReadonlyArray<string> => {
  const expected = new Map<string, unknown>()
  const agents = new Map<string, Array<CountedAgent>>()
  for (const day of days) for (const [id, one] of day.agents) agents.set(id, [...(agents.get(id) ?? []), one])
  for (const [id, parts] of agents) {
    const sum = (of: (one: CountedAgent) => number): number => parts.reduce((total, one) => total + of(one), 0)
    const costs = new Map<string, bigint>()
    for (const one of parts) for (const [name, cost] of one.costs) costs.set(name, (costs.get(name) ?? 0n) + cost)
    expected.set(id, {
      decisions: sum((one) => one.decisions),
      input_tokens: sum((one) => one.inputTokens),
      output_tokens: sum((one) => one.outputTokens),
      // Rounded once for each agent and model.
      cost_micro_usd: [...costs.values()].reduce((total, cost) => total + Number((cost + 500_000n) / 1_000_000n), 0),
      allow: sum((one) => one.evaluations.allow),
      deny: sum((one) => one.evaluations.deny),
      approved: sum((one) => one.reviews.approved),
      rejected: sum((one) => one.reviews.rejected)
    })
  }
  const found = new Map<string, unknown>(
    answer.agents.map(({ agent_id, cost_micro_usd, decisions, evaluations, input_tokens, output_tokens, reviews }) => [
      agent_id,
      {
        decisions,
        input_tokens,
        output_tokens,
        cost_micro_usd,
        allow: evaluations["allow"],
        deny: evaluations["deny"],
        approved: reviews.approved,
        rejected: reviews.rejected
      }
    ])
  )
  const incidents = days.reduce((total, day) => total + day.incidents, 0)
  return [
    ...[...new Set([...expected.keys(), ...found.keys()])].flatMap((id) => {
      const [counted, answered] = [JSON.stringify(expected.get(id)), JSON.stringify(found.get(id))]
      return counted === answered ? [] : [`${id}: counted ${counted}, answered ${answered}`]
    }),
    ...(incidents === answer.incident.count
      ? []
      : [`incidents: counted ${incidents}, answered ${answer.incident.count}`])
  ]
}

/** Members of GET /bound/telemetry/usage that are compared. */
export interface UsageAnswer {
  readonly agents: ReadonlyArray<{
    readonly agent_id: string
    readonly decisions: number
    readonly input_tokens: number
    readonly output_tokens: number
    readonly cost_micro_usd: number | null
    readonly evaluations: { readonly [outcome: string]: number }
    readonly reviews: { readonly approved: number; readonly rejected: number }
  }>
  readonly incident: { readonly count: number }
}
