/**
 * Records whom activations expect to hear from. A halt does not wait for it: the record follows the activation.
 *
 * A crash between the two leaves an activation without it, which the job picks up. Runs in every process, works in the
 * one that holds the lease: one reader at a time. Spec: format 1 section 8, `kill.expected`.
 */
import { Effect, Layer } from "effect"
import {
  activationKeys,
  KILL_ACTIVATIONS,
  KILL_EPOCH,
  KILL_WRITER,
  type KillTarget,
  MAX_EXPECTED
} from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import { beside } from "../../storage/commit-claim.ts"
import type { CommitFeed } from "../../storage/commit-feed.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"
import { type ChangeSet, type JsonObject, type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { EPOCH_SCOPE, expectedKey } from "./epoch-key.ts"
import { EPOCH_POLL_MS, epochWatch } from "./epoch-watch.ts"
import { storedActivation, type StoredActivation } from "./kill-reader.ts"
import { instancesPart } from "./plan-activate.ts"
import { reachedBy } from "./reached-agents.ts"
import { type Seen, seenInstances } from "./seen-instances.ts"

const LEASE = "kill_expected"
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 20_000
/** How often a process that holds no lease tries to. Unit: milliseconds. */
const POLL_MS = 5_000

/**
 * Records whom each activation expects that lacks the record, and answers how many that were. The job of a governor
 * runs it. Spec: format 1 section 8, `kill.expected`.
 */
export const recordExpected: Effect.Effect<number, ReadFault, Storage> = Effect.gen(function* () {
  const storage = yield* Storage
  let recorded = 0
  // Ids grow with time: the oldest first.
  for (const { id } of (yield* storage.find(KILL_ACTIVATIONS, "expected", "unread")).toSorted((a, b) =>
    a.id < b.id ? -1 : 1
  ))
    if (yield* expectedOf(storage, id)) recorded++
  return recorded
})

/**
 * Records whom one activation expects, where that is not on record; answers whether it did. Nothing is recorded of an
 * activation whose own record lies in a chain before this one: what it followed is not there.
 */
export const expectedOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  id: string
): Effect.fn.Return<boolean, ReadFault> {
  const before = yield* storage.get(KILL_ACTIVATIONS, id)
  if (before === null || storedActivation(before).body.expectedInstances !== null) return false
  const { activatedAtMs, epoch, targetId, targetType } = storedActivation(before).body
  const [began] = yield* storage.once(EPOCH_SCOPE, [String(epoch)])
  if (began === undefined) return false
  const target: KillTarget = { type: targetType, id: targetId }
  const { agents } = yield* reachedBy(storage, target)
  const seen = yield* seenInstances(storage, new Set(agents.map((agent) => agent.id)), {
    beforeMs: activatedAtMs,
    toSeq: began.seq - 1
  })
  return yield* beside(
    commitWithRetry(
      storage,
      Effect.gen(function* () {
        const document = yield* storage.get(KILL_ACTIVATIONS, id)
        if (document === null || storedActivation(document).body.expectedInstances !== null) return false
        yield* storage.commit(planExpected(storedActivation(document), seen))
        return true
      })
    )
  )
})

/** The change that records whom an activation expects. Pure. */
export const planExpected = ({ body, id, version }: StoredActivation, { instances, isCut }: Seen): ChangeSet => {
  const expectedInstances = instances.slice(0, MAX_EXPECTED)
  const after = { ...body, expectedInstances, unlisted: instances.length - expectedInstances.length }
  return {
    puts: [
      {
        collection: KILL_ACTIVATIONS,
        id,
        expectedVersion: version,
        body: after as unknown as JsonObject,
        keys: activationKeys(after)
      }
    ],
    records: [
      {
        kind: "kill.expected",
        agentId: body.targetType === "agent" ? body.targetId : null,
        body: omitNullish({
          activation_id: id,
          cut: isCut ? true : null,
          expected: expectedInstances.length,
          unlisted: after.unlisted === 0 ? null : after.unlisted,
          writer: KILL_WRITER
        }) as JsonObject,
        parts: instancesPart("expected", expectedInstances),
        once: expectedKey(id)
      }
    ]
  }
}

/** Works after each change of the kill state, while its scope is open. */
export const killExpectation: Layer.Layer<never, never, CommitFeed | Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    const storage = yield* Storage
    const nextChange = yield* epochWatch(storage)
    const version = Effect.map(storage.get(KILL_EPOCH.collection, KILL_EPOCH.id), (document) => document?.version ?? 0)
    let known = -1
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "The instances that activations expect could not be read; the job tries again.",
        pause: Effect.raceFirst(
          Effect.sleep(POLL_MS),
          Effect.suspend(() => (known === -1 ? Effect.sleep(EPOCH_POLL_MS) : nextChange(known)))
        )
      },
      whereHeld(
        Effect.gen(function* () {
          known = yield* version
          yield* recordExpected
        })
      )
    )
  })
)
