/**
 * Records which expected instances are silent: some time after an activation nobody may take their silence for a stop.
 *
 * Runs in every process, works in the one that holds the lease. Spec: envelopes.md 3.10, `unconfirmed`.
 */
import { formatInstant } from "@flyball/evidence"
import { type Context, Effect, Layer } from "effect"
import {
  type AckDocument,
  ackId,
  activationKeys,
  CONFIRM_MS,
  KILL_ACKS,
  KILL_ACTIVATIONS,
  KILL_WRITER,
  type KillInstance
} from "@flyball/rules"
import { counter } from "../../foundation/metrics.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { event } from "../../storage/event.ts"
import {
  type AsOf,
  type ChangeSet,
  type JsonObject,
  type ReadFault,
  Storage,
  type StorageApi
} from "../../storage/port.ts"
import { killReader, storedActivation, type StoredActivation } from "./kill-reader.ts"
import { instancesPart, isChannelCheck } from "./plan-activate.ts"
import { leasedJob, whereHeld } from "../../storage/leased-job.ts"

const unconfirmed = counter(
  "flyball_kill_unconfirmed_total",
  "Expected instances that had not acknowledged an activation of the kill switch in time."
)

/** How often the job polls. Unit: milliseconds. */
const POLL_MS = 5_000
const LEASE = "kill_confirm"
/** A process that died is replaced after this. Unit: milliseconds. */
const LEASE_MS = 20_000

/** Records the silent instances of every activation that is due, and answers how many instances those are. */
export const confirmStops: Effect.Effect<number, ReadFault, Storage> = Effect.gen(function* () {
  const storage = yield* Storage
  const { live } = yield* killReader(storage).view
  const { ms } = yield* storage.asOf
  let silent = 0
  for (const { id } of live.filter((one) => isDue(one, ms))) silent += yield* confirm(storage, id)
  return silent
})

const isDue = ({ body }: StoredActivation, nowMs: number): boolean =>
  body.releasedAtMs === null &&
  body.unconfirmedAtMs === null &&
  (body.expectedInstances ?? []).length > 0 &&
  body.activatedAtMs + CONFIRM_MS <= nowMs

const confirm = (storage: StorageApi, id: string) =>
  commitWithRetry(
    storage,
    Effect.gen(function* () {
      const document = yield* storage.get(KILL_ACTIVATIONS, id)
      const asOf = yield* storage.asOf
      if (document === null || !isDue(storedActivation(document), asOf.ms)) return 0
      const acks = yield* storage.find(KILL_ACKS, "activation", id)
      const answered = new Set(acks.map(({ body }) => ackId(id, body as AckDocument)))
      const activation = storedActivation(document)
      const silent = (activation.body.expectedInstances ?? []).filter((one) => !answered.has(ackId(id, one)))
      if (silent.length === 0) return 0
      yield* storage.commit(planUnconfirmed(activation, silent, asOf))
      yield* Effect.contextWith((context: Context.Context<never>) =>
        Effect.sync(() => unconfirmed.add(silent.length, context))
      )
      return silent.length
    })
  )

/** The change that records silent instances. It expects that none of them has spoken since. Pure. */
export const planUnconfirmed = (
  { body, id, version }: StoredActivation,
  silent: ReadonlyArray<KillInstance>,
  asOf: AsOf
): ChangeSet => {
  const after = { ...body, unconfirmedAtMs: asOf.ms }
  return {
    expects: silent.map((one) => ({ collection: KILL_ACKS, id: ackId(id, one), version: 0 })),
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
        kind: "kill.unconfirmed",
        agentId: body.targetType === "agent" ? body.targetId : null,
        body: {
          activation_id: id,
          instances: silent.length,
          unconfirmed_at: formatInstant(asOf.ms),
          writer: KILL_WRITER
        },
        parts: instancesPart("instances", silent)
      }
    ],
    events: isChannelCheck({ type: body.targetType, id: body.targetId })
      ? []
      : [
          event("kill.unconfirmed", {
            activation_id: id,
            instances: silent.length,
            unconfirmed_at: formatInstant(asOf.ms),
            writer: KILL_WRITER
          })
        ]
  }
}

/** Polls while its scope is open. */
export const killConfirmation: Layer.Layer<never, never, Storage> = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* leasedJob(
      {
        lease: LEASE,
        leaseMs: LEASE_MS,
        failed: "Silent instances under the kill switch could not be recorded; it tries again.",
        pause: Effect.sleep(POLL_MS)
      },
      whereHeld(confirmStops)
    )
  })
)
