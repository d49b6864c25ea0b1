/**
 * Reads the kill activations that reach an agent. Answers are cached until the epoch's document changes. Every change
 * of a target's state puts that document, in every process: no answer outlives its epoch.
 */
import { Effect } from "effect"
import {
  type ActivationDocument,
  agentReach,
  ancestorsOf,
  KILL_ACTIVATIONS,
  KILL_EPOCH,
  KILL_REACH,
  MAX_ANCESTORS,
  killStateOf,
  noModels,
  PROVENANCE,
  type ProvenanceDocument,
  reaches,
  type KillTarget,
  type ReachingActivation
} from "@flyball/rules"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import type { Document, ReadFault, StorageApi } from "../../storage/port.ts"
import { type FormerUnits, formerUnits } from "./former-units.ts"
import { EPOCH_SCOPE } from "./epoch-key.ts"
import type { KillOf } from "../evaluations/ports.ts"
import { modelIdsOf, modelsReader } from "./registered-models.ts"

/** An activation as it was read. */
export interface StoredActivation {
  readonly id: string
  readonly version: number
  readonly body: ActivationDocument
}

/** The activation in a document. */
export const storedActivation = ({ body, id, version }: Document): StoredActivation => ({
  id,
  version,
  body: body as unknown as ActivationDocument
})

/** Every activation that holds at an epoch. */
export interface KillView {
  readonly epoch: number
  /** Version of the epoch's document; 0 while there is none. */
  readonly version: number
  /** The record that the epoch began with; null where it is in no record of this chain. */
  readonly seq: number | null
  readonly live: ReadonlyArray<StoredActivation>
}

/** Reads the kill switch. One for each service: it keeps what it read. */
export interface KillReader {
  readonly view: Effect.Effect<KillView, ReadFault>
  /**
   * Reads the activations that reach an agent, and the documents that a commit must find unchanged for that to hold.
   */
  readonly of: (agent: StoredAgent) => Effect.Effect<KillOf, ReadFault>
  /** The same at an epoch that was read before: an answer that names its epoch says what holds at that one. */
  readonly ofView: (view: KillView, agent: StoredAgent) => Effect.Effect<KillOf, ReadFault>
  /** Reports whether what began or ended between two views may reach a target: halts of other agents do not. */
  readonly mayConcern: (target: KillTarget, before: KillView, after: KillView) => Effect.Effect<boolean, ReadFault>
}

/** Times the activations are read again because the epoch changed meanwhile. A commit on an older view conflicts. */
const MAX_READS = 16

/** Agents whose parent is remembered: it never changes. */
const MAX_PARENTS = 100_000

/** A reader over a store. */
export const killReader = (storage: StorageApi): KillReader => {
  let known: KillView | null = null
  let models = { version: -1, of: new Map<string, ReadonlyArray<string>>() }
  /** Recoveries happen while nothing is open. */
  let unitsBefore: FormerUnits | null = null
  const parents = new Map<string, string | null>()
  const registered = modelsReader(storage)

  const epochNow = Effect.map(storage.get(KILL_EPOCH.collection, KILL_EPOCH.id), (document) => ({
    epoch: Number(document?.body["epoch"] ?? 0),
    version: document?.version ?? 0
  }))

  const readView: KillReader["view"] = Effect.gen(function* () {
    let at = yield* epochNow
    for (let reads = 0; ; reads++) {
      // Before the first change there is nothing to read.
      const live = at.version === 0 ? [] : yield* storage.find(KILL_ACTIVATIONS, "state", "live")
      const [began] = at.version === 0 ? [] : yield* storage.once(EPOCH_SCOPE, [String(at.epoch)])
      const after = yield* epochNow
      if (after.version === at.version || reads === MAX_READS) {
        const read = { ...at, seq: began?.seq ?? null, live: live.map(storedActivation) }
        if (after.version === at.version) known = read
        return read
      }
      at = after
    }
  })
  /** Everybody who waits wakes at once: they share one read. None of it is kept, whatever a clock says. */
  let forget: Effect.Effect<void> = Effect.void
  const shared = Effect.runSync(
    Effect.cachedInvalidateWithTTL(
      Effect.ensuring(
        readView,
        Effect.suspend(() => forget)
      ),
      Infinity
    )
  )
  forget = shared[1]

  const view: KillReader["view"] = Effect.gen(function* () {
    const { version } = yield* epochNow
    let read = known
    // A read that others began may be older than this epoch.
    while (read === null || read.version < version) read = yield* shared[0]
    return read
  })

  const parentOf = Effect.fnUntraced(function* (id: string): Effect.fn.Return<string | null, ReadFault> {
    const seen = parents.get(id)
    if (seen !== undefined) return seen
    const document = yield* storage.get(AGENTS, id)
    const parent = document === null ? null : (storedAgent(document).body.parentAgentId ?? null)
    if (parents.size >= MAX_PARENTS) parents.clear()
    if (document !== null) parents.set(id, parent)
    return parent
  })

  const ancestors = Effect.fnUntraced(function* ({
    body,
    id
  }: {
    readonly id: string
    readonly body: Pick<StoredAgent["body"], "parentAgentId">
  }) {
    const chain = new Map<string, string | null>([[id, body.parentAgentId ?? null]])
    for (let at = chain.get(id)!; at !== null && !chain.has(at) && chain.size <= MAX_ANCESTORS; at = chain.get(at)!)
      chain.set(at, yield* parentOf(at))
    return ancestorsOf(id, (one) => chain.get(one))
  })

  const modelsOf = Effect.fnUntraced(function* (agentId: string, version: number) {
    if (models.version !== version) models = { version, of: new Map() }
    const kept = models.of
    const found = kept.get(agentId)
    if (found !== undefined) return found
    const names = (yield* storage.find(PROVENANCE, "agent_id", agentId)).flatMap(({ body }) => modelNames(body))
    if (kept.size >= MAX_PARENTS) kept.clear()
    kept.set(agentId, names)
    return names
  })

  const ofView: KillReader["ofView"] = Effect.fnUntraced(function* ({ live, version }, agent) {
    const epoch = { ...KILL_EPOCH, version }
    if (live.length === 0) return quiet(epoch)
    const aimsAtModel = live.some(({ body }) => body.targetType === "model")
    const reachVersion = aimsAtModel ? ((yield* storage.get(KILL_REACH.collection, KILL_REACH.id))?.version ?? 0) : 0
    if (unitsBefore === null && live.some(({ body }) => body.targetType === "org_unit"))
      unitsBefore = yield* formerUnits(storage)
    const models = aimsAtModel ? yield* modelsOf(agent.id, reachVersion) : []
    const facts = agentReach(
      agent.id,
      agent.body,
      yield* ancestors(agent),
      models,
      aimsAtModel ? yield* registered([...targetsOf(live), ...modelIdsOf(agent.body), ...models]) : noModels,
      unitsBefore?.(agent.body.orgUnit) ?? []
    )
    const activations = live.flatMap(({ body, id }): ReadonlyArray<ReachingActivation> => {
      const via = reaches({ type: body.targetType, id: body.targetId }, facts)
      return via === null
        ? []
        : [{ id, epoch: body.epoch, response: body.response, drill: body.drill?.mode ?? null, via }]
    })
    return {
      state: killStateOf(activations).effectiveResponse ?? "none",
      activations,
      expects: aimsAtModel ? [epoch, { ...KILL_REACH, version: reachVersion }] : [epoch]
    }
  })

  let changes: { readonly before: KillView; readonly after: KillView; readonly found: KillView["live"] } | null = null

  const mayConcern: KillReader["mayConcern"] = Effect.fnUntraced(function* ({ id, type }, before, after) {
    if (changes?.before !== before || changes.after !== after)
      changes = { before, after, found: [...without(before.live, after.live), ...without(after.live, before.live)] }
    for (const { body } of changes.found) {
      if (body.targetType !== "agent") return true
      if (type !== "agent") continue
      if (body.targetId === id) return true
      const parent = yield* parentOf(id)
      if (parent !== null && (yield* ancestors({ id, body: { parentAgentId: parent } })).includes(body.targetId))
        return true
    }
    return false
  })

  return { view, of: (agent) => Effect.flatMap(view, (now) => ofView(now, agent)), ofView, mayConcern }
}

/** Answers the activations of one list that another does not have. */
const without = (live: KillView["live"], others: KillView["live"]): KillView["live"] => {
  const ids = new Set(others.map(({ id }) => id))
  return live.filter(({ id }) => !ids.has(id))
}

/** Lists the targets of activations. */
export const targetsOf = (live: KillView["live"]): ReadonlyArray<string> => live.map(({ body }) => body.targetId)

/** The model that a piece of provenance names, if it is one. */
export const modelNames = (body: Document["body"]): ReadonlyArray<string> => {
  const piece = body as unknown as ProvenanceDocument
  return piece.kind === "model" ? [piece.sealedModel ?? piece.name] : []
}

const quiet = (epoch: KillOf["expects"][number]): KillOf => ({ state: "none", activations: [], expects: [epoch] })
