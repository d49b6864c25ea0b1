/**
 * Follows agents for a change of behaviour, and records alarms: those with a row of the response policy for the trigger
 * `drift`, or with a breaker of the metric `drift_score`. Runs in every process, works in the one that holds the lease.
 *
 * An agent's epoch begins at a record that a document names; what was followed since is read again after a restart.
 * Spec: document 1 section 4, drift; decision 0073.
 */
import { readRecord } from "@flyball/evidence"
import { BREAKERS, DriftFollower, responseFor, severityOfResponse } from "@flyball/rules"
import { Effect, Layer, Stream } from "effect"
import { Chain } from "../../chain/chain.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { newId } from "../../foundation/ids.ts"
import { inSlices } from "../../foundation/in-slices.ts"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { documentPages } from "../../storage/document-pages.ts"
import { eachRecord } from "../../storage/each-record.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { leasedJob } from "../../storage/leased-job.ts"
import {
  type Document,
  type DocumentPut,
  type ReadFault,
  Storage,
  type StorageApi,
  type StoredRecord
} from "../../storage/port.ts"
import { BREAKER_EPOCH, storedBreaker } from "../../verdicts/breakers/stored-breaker.ts"
import { killReader } from "../../verdicts/kill/kill-reader.ts"
import { planActivate } from "../../verdicts/kill/plan-activate.ts"
import { reachedBy } from "../../verdicts/kill/reached-agents.ts"
import { policyToActBy, readResponsePolicy } from "../../verdicts/response-policy/service.ts"
import { type AlarmInput, DRIFT_EPOCHS, DRIFT_WRITER, planAlarm } from "./plan-alarm.ts"

/** How often agents are followed. Unit: milliseconds. */
const POLL_MS = 5_000
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 60_000
const LEASE = "drift_alarms"
/** Agents whose epoch is in memory, each up to a megabyte. Those that were silent longest are read again. */
const MAX_FOLLOWED = 1_000
const kinds = ["decision.settled", "decision.witnessed"]

/** An agent that is followed. */
interface Following {
  /** Of the document that says where its epoch begins. */
  readonly version: number
  readonly fromSeq: number
  readonly follower: DriftFollower
}

/** Follows the agents of one store. One for each process. */
export const driftAlarms = Effect.fnUntraced(function* (maxFollowed: number = MAX_FOLLOWED) {
  const storage = yield* Storage
  const crypto = yield* EvidenceCrypto
  const { origin } = yield* Chain
  const reader = killReader(storage)
  const breakersOf = driftBreakers(storage)
  const sha256 = (bytes: Uint8Array): Uint8Array => crypto.sha256(bytes)
  let followed = new Map<string, Following>()
  /** Agents that are followed and not in memory. */
  let resting = new Set<string>()
  /** The last record that was followed; null: what is followed is to be read again. */
  let cursor: number | null = null
  let alarms = 0

  const forget = (): void => {
    followed = new Map()
    resting = new Set()
    cursor = null
  }

  const begin = (agentId: string, version: number, fromSeq: number): void => {
    resting.delete(agentId)
    followed.set(agentId, { version, fromSeq, follower: new DriftFollower(agentId, fromSeq, sha256) })
    if (followed.size <= maxFollowed) return
    const [silent] = followed.keys()
    resting.add(silent!)
    followed.delete(silent!)
  }

  const epochPut = (agentId: string, version: number, fromSeq: number): DocumentPut => ({
    collection: DRIFT_EPOCHS,
    id: agentId,
    expectedVersion: version,
    body: { from_seq: fromSeq, origin }
  })

  /** Reads who is followed; null: nobody. */
  const wanted = Effect.gen(function* () {
    const policy = yield* readResponsePolicy(storage)
    const byBreaker = yield* breakersOf
    if (byBreaker.size === 0 && policy.rows.every(({ trigger }) => trigger !== "drift")) return null
    const known = new Map<string, boolean>()
    return Effect.fnUntraced(function* (agentId: string): Effect.fn.Return<boolean, ReadFault> {
      const before = known.get(agentId)
      if (before !== undefined) return before
      const document = byBreaker.has(agentId) ? null : yield* storage.get(AGENTS, agentId)
      const is =
        byBreaker.has(agentId) ||
        (document !== null && responseFor(policy, factsOf(storedAgent(document)), "drift") !== null)
      known.set(agentId, is)
      return is
    })
  })

  /** The change of an alarm, as agent, policy and kill switch are now. */
  const alarmChange = Effect.fnUntraced(function* (input: Omit<AlarmInput, "expects">) {
    const document = yield* storage.get(AGENTS, input.agentId)
    if (document === null) return yield* new StorageCorrupt({ reason: `the agent ${input.agentId} is missing` })
    const agent = storedAgent(document)
    const { expects: ofPolicy, policy } = yield* policyToActBy(storage)
    const expects = [...ofPolicy, { collection: AGENTS, id: agent.id, version: agent.version }]
    const response = responseFor(policy, factsOf(agent), "drift")?.response ?? "notify"
    const view = yield* reader.view
    const isHeld = view.live.some(
      ({ body }) =>
        body.actor === DRIFT_WRITER &&
        body.targetId === agent.id &&
        severityOfResponse(body.response) >= severityOfResponse(response)
    )
    if (response === "notify" || isHeld) return planAlarm({ ...input, expects }, null)
    const target = { type: "agent", id: agent.id } as const
    const { agents, expects: ofReach, highestTier } = yield* reachedBy(storage, target)
    const activation = {
      activationId: yield* newId("kil"),
      target,
      response,
      reason: null,
      drill: null,
      breakerId: null,
      actor: DRIFT_WRITER,
      requestedBy: null,
      reach: { highestTier, agents: agents.length, expects: ofReach }
    }
    return planAlarm({ ...input, expects: ofPolicy }, planActivate(activation, view, yield* storage.asOf))
  })

  /** Takes the next record of an agent that is followed. */
  const take = Effect.fnUntraced(function* (
    agentId: string,
    record: StoredRecord
  ): Effect.fn.Return<void, ReadFault | typeof lost> {
    const following = followed.get(agentId)!
    const { follower, fromSeq, version } = following
    // Behind all others: it is not silent.
    followed.delete(agentId)
    followed.set(agentId, following)
    const read = readRecord(record.bytes)
    if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${read.code})` })
    follower.take({ seq: record.seq, kind: record.kind, body: read.record.body })
    const alarm = follower.isDue ? yield* inSlices(follower.test()) : null
    if (alarm === null && !follower.isOver) return
    const next = epochPut(agentId, version, record.seq + 1)
    yield* commitWithRetry(
      storage,
      Effect.gen(function* () {
        // Another process was faster.
        const document = yield* storage.get(DRIFT_EPOCHS, agentId)
        if ((document?.version ?? 0) !== version) return yield* Effect.fail(lost)
        yield* storage.commit(alarm === null ? { puts: [next] } : yield* alarmChange({ agentId, fromSeq, alarm, next }))
      })
    )
    if (alarm !== null) alarms++
    begin(agentId, version + 1, record.seq + 1)
  })

  /** Reads again what was followed before. */
  const load = Effect.fnUntraced(function* ({ body, id, version }: Document, to: number) {
    const fromSeq = Number(body["from_seq"])
    begin(id, version, fromSeq)
    yield* eachRecord(storage, { agentId: id, kinds, from: fromSeq, to }, (record) => take(id, record))
  })

  /** Begins to follow an agent. */
  const first = Effect.fnUntraced(function* (agentId: string, version: number, seq: number) {
    yield* Effect.catchTag(storage.commit({ puts: [epochPut(agentId, version, seq)] }), "StorageConflict", () =>
      Effect.fail(lost)
    )
    begin(agentId, version + 1, seq)
  })

  const follow = Effect.gen(function* () {
    const isWanted = yield* wanted
    if (isWanted === null) return forget()
    const { seq: head } = yield* storage.asOf
    if (cursor === null) {
      yield* Stream.runForEach(documentPages(storage, DRIFT_EPOCHS), (page) =>
        Effect.forEach(
          page.filter(({ body }) => body["origin"] === origin),
          Effect.fnUntraced(function* (document) {
            if (yield* isWanted(document.id)) yield* load(document, head)
          })
        )
      )
      cursor = head
    }
    yield* eachRecord(
      storage,
      { kinds, from: cursor + 1, to: head },
      Effect.fnUntraced(function* (record: StoredRecord) {
        const { agentId, seq } = record
        if (agentId !== null && (yield* isWanted(agentId))) {
          if (!followed.has(agentId)) {
            const document = yield* storage.get(DRIFT_EPOCHS, agentId)
            if (document !== null && resting.has(agentId)) yield* load(document, seq - 1)
            else yield* first(agentId, document?.version ?? 0, seq)
          }
          yield* take(agentId, record)
        } else if (agentId !== null) {
          followed.delete(agentId)
          resting.delete(agentId)
        }
        cursor = seq
      })
    )
    cursor = head
  })

  return {
    /** Follows what was recorded since, and answers how many alarms there were. What fails is read again. */
    round: Effect.suspend(() => {
      alarms = 0
      return follow.pipe(
        Effect.onError(() => Effect.sync(forget)),
        Effect.catchIf(isLost, () => Effect.void),
        Effect.map(() => alarms)
      )
    }),
    forget
  }
})

/** Another process follows these agents. */
const lost = { _tag: "Lost" } as const
const isLost = (fault: unknown): fault is typeof lost => fault === lost

const factsOf = ({ body, id }: StoredAgent) => ({ id, tier: body.autonomyTier, orgUnit: body.orgUnit })

/** Agents with a breaker of the metric `drift_score`: read again where breakers changed. */
const driftBreakers = (storage: StorageApi): Effect.Effect<ReadonlySet<string>, ReadFault> => {
  let known: { readonly version: number; readonly agents: ReadonlySet<string> } | null = null
  return Effect.gen(function* () {
    const version = (yield* storage.get(BREAKER_EPOCH.collection, BREAKER_EPOCH.id))?.version ?? 0
    if (known?.version === version) return known.agents
    const agents = new Set<string>()
    if (version > 0)
      yield* Stream.runForEach(documentPages(storage, BREAKERS), (page) =>
        Effect.sync(() => {
          for (const { body } of page.map(storedBreaker))
            if (body.metric === "drift_score" && body.enabled) agents.add(body.agentId)
        })
      )
    known = { version, agents }
    return agents
  })
}

/** Follows every five seconds while its scope is open. */
export const driftWatch: Layer.Layer<never, never, Chain | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { forget, round } = yield* driftAlarms()
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "Agents could not be followed for a change of behaviour; the job tries again.",
        pause: Effect.sleep(POLL_MS)
      },
      (held) => Effect.flatMap(held, (holds) => (holds ? round : Effect.sync(forget)))
    )
  })
)
