/**
 * Does what the response policy says of events: writes to owners and to those whom a row names, and adds a response to
 * a suspension or a finding about a tool server.
 *
 * It reads the events of the outbox behind a cursor, so that an event is followed once, whatever happens to a process
 * between the event and the letters. Runs in every process, works in the one that holds the lease. Spec: api.md
 * "bounded autonomy"; decision 0046.
 */
import { besideSuspension, responseFor, suspendingTriggers } from "@flyball/rules"
import { Clock, Effect, Layer, Option, Queue } from "effect"
import { AGENTS, type StoredAgent, storedAgent } from "../../registry/agents/document.ts"
import { CommitFeed } from "../../storage/commit-feed.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import type { StoredEvent } from "../../storage/outbox/outbox.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { reachedBy } from "../../verdicts/kill/reached-agents.ts"
import { Kill } from "../../verdicts/kill/service.ts"
import { policyToActBy, readResponsePolicy } from "../../verdicts/response-policy/service.ts"
import { newPolicyMail } from "../webhooks/mails.ts"
import { Mailer } from "../webhooks/ports.ts"
import { lettersOf, type Occurrence, occurrenceOf, policyActor, policyEvents } from "./occurrence.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

/** Working state: how far the events were followed. */
const CURSOR = { collection: "policy_follower", id: "cursor" } as const
/**
 * How long before its start a process takes up events while nobody has followed any: those of one that died. Unit:
 * milliseconds.
 */
const FIRST_MS = 3_600_000
/** Events followed in one step. */
const STEP = 50
/** How often the job polls for what other processes commit. Unit: milliseconds. */
const POLL_MS = 5_000
/** Reports whether the policy is about events of this type: a commit with others wakes nobody, and takes no lease. */
const isPolicyEvent = (type: string): boolean => (policyEvents as ReadonlyArray<string>).includes(type)
const LEASE = "policy_follower"
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 60_000

/**
 * Follows the events behind the cursor, and answers how many those were.
 *
 * - `writes`: whether letters are written. Without a mailer nobody would send them.
 * - `sinceMs`: where the first event ever is taken from, while there is no cursor. Milliseconds since 1970 UTC.
 */
export const followPolicy = Effect.fnUntraced(function* (
  writes: boolean,
  sinceMs: number
): Effect.fn.Return<number, ReadFault, Kill | Storage> {
  const storage = yield* Storage
  const after = (yield* storage.get(CURSOR.collection, CURSOR.id))?.body["after"]
  const events = yield* storage.outbox.events({
    types: policyEvents,
    ...(typeof after === "string" ? { after } : { sinceMs }),
    limit: STEP
  })
  for (const event of events) {
    const occurrence = occurrenceOf(event)
    if (occurrence !== null && occurrence.adds) yield* addResponse(storage, occurrence)
    yield* commitWithRetry(storage, follow(storage, event, occurrence, writes))
  }
  return events.length
})

/** Writes the letters of an event, and moves the cursor behind it: both, or nothing. */
const follow = Effect.fnUntraced(function* (
  storage: StorageApi,
  event: StoredEvent,
  occurrence: Occurrence | null,
  writes: boolean
) {
  const cursor = yield* storage.get(CURSOR.collection, CURSOR.id)
  // Another process was faster.
  if (typeof cursor?.body["after"] === "string" && cursor.body["after"] >= event.id) return
  const { ms } = yield* storage.asOf
  const letters =
    occurrence === null || !writes
      ? []
      : lettersOf(event, occurrence, yield* readResponsePolicy(storage), yield* agentsOf(storage, occurrence))
  yield* storage.commit({
    puts: [
      { ...CURSOR, expectedVersion: cursor?.version ?? 0, body: { after: event.id } },
      ...letters.map((letter, n) => newPolicyMail(`mail_${event.id}_${n}`, letter, ms))
    ]
  })
})

/** The agents that it is about: the one that it names, or all that its target reaches. */
const agentsOf = (storage: StorageApi, { target }: Occurrence): Effect.Effect<ReadonlyArray<StoredAgent>, ReadFault> =>
  Effect.map(reachedBy(storage, target), ({ agents }) => agents)

/** The response that a row adds to a suspension or a finding, once: while one stands, another is not added. */
const addResponse = (storage: StorageApi, { target, trigger }: Occurrence) => {
  const actor = policyActor(trigger)
  return Kill.use((kill) =>
    kill.activatePlanned(
      target,
      Effect.fnUntraced(function* ({ live }) {
        const document = yield* storage.get(AGENTS, target.id)
        if (document === null) return null
        const { body, id, version } = storedAgent(document)
        const { expects, policy } = yield* policyToActBy(storage)
        const row = responseFor(policy, { id, tier: body.autonomyTier, orgUnit: body.orgUnit }, trigger)
        if (row === null || row.response === "notify") return null
        if (suspendingTriggers.has(trigger) && !besideSuspension.has(row.response)) return null
        if (live.some((one) => one.body.targetId === id && one.body.actor === actor)) return null
        return {
          response: row.response,
          reason: null,
          drill: null,
          breakerId: null,
          actor,
          requestedBy: null,
          expects: [...expects, { collection: AGENTS, id, version }]
        }
      })
    )
  )
}

/** Follows at each commit here with an event of {@link policyEvents}, and every five seconds. */
export const policyFollower: Layer.Layer<never, never, CommitFeed | Kill | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const feed = yield* CommitFeed
    const writes = Option.isSome(yield* Effect.serviceOption(Mailer))
    const sinceMs = Math.max(0, (yield* Clock.currentTimeMillis) - FIRST_MS)
    const wake = yield* Queue.sliding<void>(1)
    yield* feed.subscribe(({ events }) => {
      if (events?.some(({ type }) => isPolicyEvent(type)) === true) Queue.offerUnsafe(wake, undefined)
    })
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "The response policy could not be applied to events; the job tries again.",
        pause: Effect.timeoutOption(Queue.take(wake), POLL_MS)
      },
      whereHeld(
        Effect.gen(function* () {
          for (let followed = STEP; followed === STEP;) followed = yield* followPolicy(writes, sinceMs)
        })
      )
    )
  })
)
