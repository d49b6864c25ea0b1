/** A store with a chain of many records, and every list of it as a call whose rows are counted. */
import {
  Agents,
  Capture,
  Chain,
  Drills,
  Envelopes,
  ephemeralKeys,
  Evaluations,
  governorLayer,
  type GovernorServices,
  IngestKeys,
  keysLayerOf,
  Kill,
  layerOf,
  Models,
  Packs,
  Provenance,
  Reviews,
  Safety,
  StandingApprovals,
  Storage,
  systemHost,
  Webhooks
} from "@flyball/core"
import type { JsonObject, RecordDraft, StorageApi } from "@flyball/core/storage"
import { readRecord } from "@flyball/evidence"
import { sqliteStorage } from "@flyball/storage-sql"
import { Effect, Layer, ManagedRuntime } from "effect"
import { decisionAt } from "../../../benchmarks/decisions.ts"
import { type FilledReview, fillQueue } from "../../../packages/core/src/verdicts/reviews/testing/fill-queue.ts"
import { ask, governedAgent } from "../../../packages/core/src/verdicts/evaluations/testing/refunds.ts"

/** Records of one commit: decisions and evaluations in turn; reviews are a twentieth more. */
const TOGETHER = 1_000
/** One agent for so many records. */
const RECORDS_AN_AGENT = 100
const DAY_MS = 86_400_000

/** A store that was filled, open with a governor over it and without its jobs. */
export interface Filled {
  readonly records: number
  /** The agent of nearly all records, and one of few, which lie at the begin of the chain. */
  readonly busy: string
  readonly quiet: string
  readonly envelopeId: string
  /** Seq in the middle of the chain. */
  readonly middle: number
  readonly rowsRead: () => number
  /** Runs a list, and counts what it shows. */
  readonly count: (ask: Listing) => Promise<number>
  readonly close: () => Promise<void>
}

type Listing = Effect.Effect<unknown, unknown, GovernorServices | Storage>

/** Count of a page that read all that one may, has nothing to show, and names where to continue. */
export const CONTINUES = -1

/** A list with one filter. `isOfRegistry`: it grows with the number of agents or envelopes, not with the chain. */
export interface ListCall {
  readonly name: string
  readonly ask: Listing
  readonly isOfRegistry?: boolean
}

/** Makes a store of about so many records, and opens it. */
export const fillStore = async (file: string, records: number): Promise<Filled> => {
  let rows = 0
  const counted = Layer.effect(
    Storage,
    Effect.map(Storage, (storage) => countedStorage(storage, (count) => (rows += count)))
  )
  const runtime = ManagedRuntime.make(
    governorLayer({ origin: "flyball.example/lists" }).pipe(
      Layer.provideMerge(counted.pipe(Layer.provide(layerOf(sqliteStorage({ file }))))),
      Layer.provide(keysLayerOf(ephemeralKeys()))
    )
  )
  const filled = await runtime.runPromise(fill(records))
  return {
    ...filled,
    rowsRead: () => rows,
    count: (listing) =>
      runtime.runPromise(
        Effect.map(listing, (found) => (Array.isArray(found) ? found.length : 1)).pipe(
          Effect.catchIf(isContinuing, () => Effect.succeed(CONTINUES))
        )
      ),
    close: () => runtime.dispose()
  }
}

const isContinuing = (error: unknown): boolean => (error as { readonly _tag?: unknown })._tag === "InvalidInput"

const countedStorage = (storage: StorageApi, read: (rows: number) => void): StorageApi => {
  const counted =
    <Args extends ReadonlyArray<unknown>, A, E>(call: (...args: Args) => Effect.Effect<A, E>) =>
    (...args: Args): Effect.Effect<A, E> =>
      Effect.tap(call(...args), (found) => Effect.sync(() => read(Array.isArray(found) ? found.length : 1)))
  return Storage.of({
    ...storage,
    get: counted(storage.get),
    find: counted(storage.find),
    range: counted(storage.range),
    list: counted(storage.list),
    record: counted(storage.record),
    records: counted(storage.records),
    parts: counted(storage.parts),
    once: counted(storage.once)
  })
}

const fill = Effect.fnUntraced(function* (records: number) {
  const storage = yield* Storage
  const { agentId: busy, envelopeId } = yield* governedAgent()
  const { agent } = yield* Agents.use((agents) =>
    agents.register(
      { name: "quiet", org_unit: "elsewhere", owner_name: "Ada", owner_email: "ada@example.org" },
      systemHost
    )
  )
  const quiet = agent.id
  yield* Provenance.use((provenance) => provenance.add(quiet, { kind: "model", name: "m" }, systemHost))
  const activation = { target_type: "agent", target_id: quiet, reason: "an old halt" } as const
  const person = { id: `usr_${"0".repeat(25)}4` }
  yield* Kill.use((kill) => kill.activate({ ...activation, response: "notify" }, person))
  for (const agentId of [quiet, busy])
    yield* Capture.use((capture) => capture.witness(agentId, [decisionAt(0) as never], systemHost))
  yield* ask(busy, { tool: "refund", amount: 1 })
  const reviewed = yield* ask(busy, { tool: "refund", amount: 5_000 }, { args: {} })
  yield* Effect.forEach(
    Array.from({ length: Math.ceil(records / RECORDS_AN_AGENT) }),
    (_, index) => Agents.use((agents) => agents.register({ name: `bench ${index}`, org_unit: "bench" }, systemHost)),
    { concurrency: 32, discard: true }
  )
  const decision = yield* copyOf(storage, busy, "decision.witnessed", false)
  const evaluation = yield* copyOf(storage, busy, "evaluation.made", true)
  const nowMs = (yield* storage.asOf).ms
  const review = (number: number): FilledReview => ({
    openedAtMs: nowMs - 1_000_000 + number,
    expiresAtMs: nowMs + DAY_MS,
    ...(number === 0
      ? { ended: "cancelled" }
      : number === 1
        ? { claimedBy: person.id, leaseUntilMs: nowMs + DAY_MS }
        : number === 2
          ? { agentId: quiet }
          : { ended: ([null, "resolved", null, "expired"] as const)[number % 4]! })
  })
  let reviews = 0
  for (let seq = (yield* storage.asOf).seq; seq < records; seq = (yield* storage.asOf).seq) {
    const count = Math.min(TOGETHER, records - seq)
    yield* storage.commit({
      records: Array.from({ length: count }, (_, n) => (n % 2 === 0 ? decision(seq + n) : evaluation(seq + n)))
    })
    yield* fillQueue(
      storage,
      reviewed.review_id!,
      Array.from({ length: Math.ceil(count / 20) }, () => review(reviews++))
    )
  }
  const { seq } = yield* storage.asOf
  return { records: seq + 1, busy, quiet, envelopeId, middle: seq >> 1 }
})

/** Makes drafts like the last record of a kind. Decisions are of runs of their own. */
const copyOf = Effect.fnUntraced(function* (storage: StorageApi, agentId: string, kind: string, withParts: boolean) {
  const [record] = yield* storage.records({ agentId, kinds: [kind], order: "desc", limit: 1 })
  const read = readRecord(record!.bytes)
  if (!read.ok) throw new Error(`The record ${record!.seq} cannot be read.`)
  const body = read.record.body as JsonObject
  const parts = (withParts ? yield* storage.parts([record!.seq]) : []).flatMap(({ bytes, name }) =>
    bytes === null ? [] : [{ name, bytes }]
  )
  return (number: number): RecordDraft => ({
    kind,
    agentId,
    body: kind === "decision.witnessed" ? { ...body, run_id: `run ${number}` } : body,
    parts
  })
})

/** Every list, with each filter: those that match nothing, or the oldest entry alone, and a page of the middle. */
export const listCalls = ({ busy, envelopeId, middle, quiet }: Filled): ReadonlyArray<ListCall> => {
  const elsewhere = { orgUnits: ["elsewhere"] }
  const nowhere = { orgUnits: ["nowhere"] }
  const limit = 100
  const chain = (query: Parameters<StorageApi["records"]>[0]) => Storage.use((storage) => storage.records(query))
  return [
    { name: "records of the chain", ask: chain({ limit, order: "desc" }) },
    { name: "records of the chain, from the middle", ask: chain({ limit, order: "desc", to: middle }) },
    { name: "records of a kind of which there are few", ask: chain({ limit, kinds: ["kill.activated"] }) },
    {
      name: "records of a kind and an agent, none",
      ask: chain({ limit, kinds: ["kill.released", "kill.acknowledged"], agentId: busy, order: "desc" })
    },
    { name: "records of an agent of few", ask: chain({ limit, agentId: quiet, order: "desc" }) },
    ...timelines([busy, quiet], middle),
    ...(
      [
        ["", {}],
        [", from the middle", { before: middle }],
        [", of a run of the oldest", { run_id: "run 12" }],
        [", of an action that nobody did", { action: "nothing.at_all" }]
      ] as const
    ).map(([filter, query]) => ({
      name: `decisions${filter}`,
      ask: Capture.use((capture) => capture.list(busy, { limit, ...query }))
    })),
    { name: "decisions of an agent of few", ask: Capture.use((capture) => capture.list(quiet, { limit })) },
    ...(
      [
        ["", {}],
        [", from the middle", { before: middle }],
        [", of an outcome that none had", { outcome: "halt" }],
        [", of a rule that is none", { rule: "no_rule" }],
        [", since now", { since: "2999-01-01T00:00:00.000Z" }]
      ] as const
    ).map(([filter, query]) => ({
      name: `evaluations${filter}`,
      ask: Evaluations.use((evaluations) => evaluations.list({ agent_id: busy, limit, ...query }))
    })),
    {
      name: "evaluations of an agent of none",
      ask: Evaluations.use((evaluations) => evaluations.list({ agent_id: quiet, limit }))
    },
    ...([undefined, "open", "claimed", "resolved", "expired", "cancelled"] as const).flatMap((status) =>
      (
        [
          ["", {}],
          [", from the middle", { before: middle }],
          [", of an agent of one", { agent_id: quiet }]
        ] as const
      ).map(([filter, query]) => ({
        name: `reviews, ${status ?? "all"}${filter}`,
        ask: Reviews.use((reviews) => reviews.list({ limit, ...(status === undefined ? {} : { status }), ...query }))
      }))
    ),
    {
      name: "reviews, open, of an org unit of one",
      ask: Reviews.use((reviews) => reviews.list({ limit, status: "open" }, elsewhere))
    },
    { name: "reviews, a sweep", ask: Reviews.use((reviews) => reviews.sweep) },
    { name: "reviews, the backlog", ask: Reviews.use((reviews) => reviews.backlog) },
    { name: "events of the kill switch", ask: Kill.use((kill) => kill.events({ limit })) },
    {
      name: "events of the kill switch, of an org unit of none",
      ask: Kill.use((kill) => kill.events({ limit }, nowhere))
    },
    { name: "kill status", ask: Kill.use((kill) => kill.status({ type: "agent", id: quiet })) },
    { name: "provenance of an agent", ask: Provenance.use((provenance) => provenance.list(quiet)) },
    { name: "waivers and versions of an envelope", ask: Envelopes.use((envelopes) => envelopes.versions(envelopeId)) },
    { name: "envelopes of an agent", ask: Envelopes.use((envelopes) => envelopes.list({ agent_id: busy, limit })) },
    { name: "drills", ask: Drills.use((drills) => drills.list({ limit })) },
    { name: "standing approvals", ask: StandingApprovals.use((standing) => standing.list({ limit })) },
    { name: "models", ask: Models.use((models) => models.list) },
    { name: "ingest keys", ask: IngestKeys.use((keys) => keys.list) },
    { name: "webhooks", ask: Webhooks.use((webhooks) => webhooks.list) },
    { name: "packs", ask: Packs.use((packs) => packs.list()) },
    { name: "keys of the chain", ask: Chain.use((chain) => chain.keys) },
    { name: "agents", ask: Agents.use((agents) => agents.list({ limit })) },
    { name: "agents by name", ask: Agents.use((agents) => agents.list({ limit, name: "bench 7" })) },
    { name: "safety view", ask: Safety.use((safety) => safety.view({ limit })) },
    ...(
      [
        [", of a status of none", { status: "decommissioned" }],
        [", of a tier of none", { autonomy_tier: "L4" }],
        [", of a beginning of none", { q: "zzz" }]
      ] as const
    ).map(([filter, query]) => ({
      name: `agents${filter}`,
      ask: Agents.use((agents) => agents.list({ limit, ...query })),
      isOfRegistry: true
    })),
    {
      name: "agents of an org unit of one",
      ask: Agents.use((agents) => agents.list({ limit }, elsewhere)),
      isOfRegistry: true
    },
    {
      name: "orphans of an org unit of none",
      ask: Agents.use((agents) => agents.orphans(nowhere, { limit })),
      isOfRegistry: true
    },
    {
      name: "safety view of an org unit of one",
      ask: Safety.use((safety) => safety.view({ limit }, elsewhere)),
      isOfRegistry: true
    }
  ]
}

const timelines = (agents: ReadonlyArray<string>, middle: number): ReadonlyArray<ListCall> => [
  ...agents.map((id, index) => ({
    name: `timeline of an agent of ${index === 0 ? "many" : "few"}`,
    ask: Agents.use((all) => all.timeline(id))
  })),
  { name: "timeline, from the middle", ask: Agents.use((all) => all.timeline(agents[0]!, { before: middle })) }
]
