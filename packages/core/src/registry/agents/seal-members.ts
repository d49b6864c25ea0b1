/**
 * Seals at the start after a recovery what the records of the new chain do not say of agents: their models, their org
 * unit's digest, and whether their owner is complete. Replay finds in these members which halts reach an agent, and the
 * digest of a unit is of one chain. Spec: `agent.updated` in SPEC.md of the evidence format.
 */
import { toHex } from "@flyball/evidence"
import { lacksSealedMembers, withSealedMembers } from "@flyball/rules"
import { Effect, Layer } from "effect"
import { Chain } from "../../chain/chain.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type ChangeSet, type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { changeAgent } from "./change-agent.ts"
import { AGENTS, type StoredAgent, storedAgent } from "./document.ts"
import { updatedBody } from "./plan-update.ts"

/** The writer of these records. */
const MIGRATION = { id: "system:migration" }
/** Agents read, and sealed in one commit. */
const BATCH = 100
const LEASE = "agent_members"
/** A process that died is replaced after this. Unit: milliseconds. A batch takes far less. */
const LEASE_MS = 15_000
/** How long a process waits for another one's batches before it reads again. Unit: milliseconds. */
const WAIT_MS = 250

const UNDONE =
  "Records of agents from the chain before do not state yet which halts reach them. The next start tries again."

/**
 * Seals the members of each agent that lacks them once, before any caller is served, in one process at a time: the
 * others wait for it. Costs one list of the agents where nothing has to be done; with `readOnly` nothing.
 *
 * What fails is logged and keeps nothing from starting: what was sealed stays, and the next start does the rest.
 */
export const sealAgentMembers = (options: {
  readonly readOnly?: boolean
}): Layer.Layer<never, never, Storage | Chain> =>
  Layer.effectDiscard(
    options.readOnly === true
      ? Effect.void
      : Effect.gen(function* () {
          const { originTag } = yield* Chain
          const storage = yield* Storage
          const holder = toHex((yield* Entropy).bytes(16))
          yield* Effect.catch(sealAll(storage, originTag, holder), (fault) => Effect.logError(UNDONE, fault))
        })
  )

/** Seals what has to be under the lease, or waits until another process has. */
const sealAll = Effect.fnUntraced(function* (
  storage: StorageApi,
  originTag: Uint8Array,
  holder: string
): Effect.fn.Return<void, ReadFault> {
  for (;;) {
    const first = yield* firstLacking(storage, originTag)
    if (first === null) return
    if (yield* storage.lease(LEASE, holder, LEASE_MS))
      return yield* Effect.ensuring(
        sealFrom(storage, originTag, holder, first),
        Effect.ignore(storage.releaseLease(LEASE, holder))
      )
    yield* Effect.sleep(WAIT_MS)
  }
})

/** The place in the list of agents behind which one lacks the members; null where none does. */
const firstLacking = Effect.fnUntraced(function* (
  storage: StorageApi,
  originTag: Uint8Array
): Effect.fn.Return<Place | null, ReadFault> {
  for (let place: Place = {}; ;) {
    const page = yield* agentsBehind(storage, place)
    if (page.some(({ body }) => lacksSealedMembers(body, originTag))) return place
    if (page.length < BATCH) return null
    place = { after: page.at(-1)!.id }
  }
})

const sealFrom = Effect.fnUntraced(function* (
  storage: StorageApi,
  originTag: Uint8Array,
  holder: string,
  first: Place
): Effect.fn.Return<void, ReadFault> {
  let sealed = 0
  for (let place = first; ;) {
    const { page, records } = yield* commitWithRetry(storage, sealBatch(storage, originTag, place))
    sealed += records
    if (page.length < BATCH) break
    place = { after: page.at(-1)!.id }
    // A process that waits takes over where this one is slow. Two at once do no harm: versions keep them apart.
    yield* storage.lease(LEASE, holder, LEASE_MS)
  }
  yield* Effect.logInfo(`Recorded which halts reach ${sealed} agents of the chain before.`)
})

const sealBatch = Effect.fnUntraced(function* (storage: StorageApi, originTag: Uint8Array, place: Place) {
  const page = yield* agentsBehind(storage, place)
  const change = planSeal(page, originTag)
  if (change !== null) yield* storage.commit(change)
  return { page, records: change?.records?.length ?? 0 }
})

/**
 * Decides what sealing the members of these agents changes: one record for each that lacks them. Null where none does.
 *
 * - Fails: never. An agent at its end is sealed too: it can still be evaluated, and be a parent.
 */
export const planSeal = (agents: ReadonlyArray<StoredAgent>, originTag: Uint8Array): ChangeSet | null => {
  const changes = agents
    .filter(({ body }) => lacksSealedMembers(body, originTag))
    .map((stored) => {
      const agent = withSealedMembers(stored.body, originTag)
      return changeAgent(stored, agent, { kind: "agent.updated", body: updatedBody(agent), writer: MIGRATION }).change
    })
  return changes.length === 0
    ? null
    : {
        puts: changes.flatMap(({ puts = [] }) => puts),
        records: changes.flatMap(({ records = [] }) => records)
      }
}

interface Place {
  readonly after?: string
}

const agentsBehind = (storage: StorageApi, place: Place) =>
  Effect.map(storage.list(AGENTS, { ...place, limit: BATCH }), (page) => page.map(storedAgent))
