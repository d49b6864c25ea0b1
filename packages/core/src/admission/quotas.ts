/**
 * Monthly quotas over the counters of a store.
 *
 * A known cost is counted in the ChangeSet of its effect, by {@link quotaCounts}. An unknown one is reserved at its
 * most and settled with its effect. A reservation that nobody settles lapses: a job returns it.
 */
import { formatInstant } from "@flyball/evidence"
import { QuotaExceeded } from "@flyball/contract"
import { Clock, Context, Effect, Layer } from "effect"
import { newId } from "../foundation/ids.ts"
import type { StorageConflict } from "../storage/faults.ts"
import { leasedJob, whereHeld } from "../storage/leased-job.ts"
import {
  type ChangeSet,
  type CommitReceipt,
  type CountAdd,
  type Document,
  type DocumentPut,
  type ReadFault,
  Storage
} from "../storage/port.ts"

/** Use of one resource by one org unit. */
export interface QuotaUse {
  readonly unit: string
  readonly resource: string
  /** Unit: that of the resource, a whole number. */
  readonly amount: number
  /** Most that the unit may use in a month; null where nothing limits it. */
  readonly limit: number | null
}

/** A promise that so much may be used. It may be stored as JSON. */
export interface QuotaReservation {
  readonly id: string
  /** The counter, of the month in which it was reserved. */
  readonly name: string
  readonly amount: number
}

/** Result of {@link QuotasApi.reserve}. */
export type Reserved =
  | { readonly reserved: true; readonly reservation: QuotaReservation }
  | {
      readonly reserved: false
      readonly used: number
      readonly limit: number
      /** End of the month. Unit: seconds since 1970 UTC. */
      readonly resetS: number
    }

/** The use in the month at hand. */
export interface MonthlyUse {
  /** `YYYY-MM`, by the store's clock, UTC. */
  readonly period: string
  /** End of the month. Unit: seconds since 1970 UTC. */
  readonly resetS: number
  /** Used and reserved of each resource, in the order of the question. */
  readonly used: ReadonlyArray<number>
}

/** Quotas, by the store's clock. */
export interface QuotasApi {
  readonly used: (unit: string, resources: ReadonlyArray<string>) => Effect.Effect<MonthlyUse, ReadFault>
  /**
   * Reserves the most that an effect may use. It lapses after `forMs`, unless it is settled. `beside`: documents that
   * are put with it, by what is reserved.
   */
  readonly reserve: (
    use: QuotaUse,
    forMs: number,
    beside?: (reservation: QuotaReservation) => ReadonlyArray<DocumentPut>
  ) => Effect.Effect<Reserved, ReadFault>
  /**
   * Commits an effect and what it used, in place of what was reserved. An effect that did not happen used 0.
   *
   * - Answers null, and commits nothing, where it is settled already: a repeat is safe.
   * - A reservation that has lapsed is counted all the same, above the limit where others have used it meanwhile.
   */
  readonly settle: (
    reservation: QuotaReservation,
    actual: number,
    effect?: ChangeSet
  ) => Effect.Effect<CommitReceipt | null, StorageConflict | ReadFault>
  /** Returns what has lapsed, as the job does; answers how many reservations that were. */
  readonly returnLapsed: Effect.Effect<number, ReadFault>
}

const COLLECTION = "reservations"
/** How long a reservation that lapsed is remembered, for the one who settles it late. Unit: milliseconds. */
const REMEMBERED_MS = 7 * 86_400_000
/** Pause between two rounds of the job, and reservations of one read. */
const ROUND_MS = 30_000
const PAGE = 100

/**
 * Quotas that two requests together never pass.
 *
 * ```ts
 * const program = Effect.gen(function* () {
 *   const quotas = yield* Quotas
 *   const tokens = { unit: "sales", resource: "tokens", amount: 60, limit: 100 }
 *   const first = yield* quotas.reserve(tokens, 60_000)
 *   const second = yield* quotas.reserve(tokens, 60_000)
 *   if (first.reserved) yield* quotas.settle(first.reservation, 35)
 *   const { used } = yield* quotas.used("sales", ["tokens"])
 *   console.log(first.reserved, second.reserved, used[0])
 * })
 * await Effect.runPromise(Effect.provide(program, Quotas.layer.pipe(Layer.provide(layerOf(memoryStorage())))))
 * // prints: true false 35
 * ```
 *
 * Spec: document 2 part 8; platform section 5.
 */
export class Quotas extends Context.Service<Quotas, QuotasApi>()("flyball/core/Quotas") {
  static readonly layer: Layer.Layer<Quotas, never, Storage> = Layer.effect(
    Quotas,
    Effect.map(Storage, (storage) => makeQuotas(storage))
  )
}

/** The job that returns what has lapsed. */
export const quotaJob: Layer.Layer<never, never, Quotas | Storage> = Layer.effectDiscard(
  Effect.flatMap(Quotas, ({ returnLapsed }) =>
    leasedJob(
      {
        lease: "quotas",
        leaseMs: 2 * ROUND_MS,
        failed: "Lapsed reservations were not returned; the next round is in half a minute.",
        pause: Effect.sleep(ROUND_MS)
      },
      whereHeld(returnLapsed)
    )
  )
)

/** Additions of known costs, for `counts` of the ChangeSet that causes them. `atMs` is the time of its plan. */
export const quotaCounts = (uses: ReadonlyArray<QuotaUse>, atMs: number): ReadonlyArray<CountAdd> =>
  uses.map(({ amount, limit, resource, unit }) => ({
    name: `${unit}:${resource}:${periodOf(atMs)}`,
    add: amount,
    ...(limit === null ? {} : { atMost: limit })
  }))

/** Refuses what passes a quota, until the month ends. Unit of `resetS`: seconds since 1970 UTC. */
export const quotaExceeded = (resource: string, resetS: number): Effect.Effect<never, QuotaExceeded> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    Effect.fail(
      new QuotaExceeded({
        resource,
        until: formatInstant(resetS * 1_000),
        retryAfterS: Math.max(1, Math.ceil(resetS - nowMs / 1_000))
      })
    )
  )

const periodOf = (atMs: number): string => formatInstant(atMs).slice(0, 7)

const periodEndS = (atMs: number): number => {
  const [year, month] = periodOf(atMs).split("-").map(Number)
  return Date.UTC(year!, month!, 1) / 1000
}

interface ReservationBody {
  readonly name: string
  readonly amount: number
  readonly lapsed: boolean
}

const put = (id: string, expectedVersion: number, body: ReservationBody, endsAtMs: number) => ({
  collection: COLLECTION,
  id,
  expectedVersion,
  body: { ...body },
  keys: { ends: `${timeText(endsAtMs)} ${id}` }
})

const timeText = (atMs: number): string => String(atMs).padStart(16, "0")

const bodyOf = ({ body }: Document): ReservationBody => body as unknown as ReservationBody

const makeQuotas = (storage: Storage["Service"]): QuotasApi => {
  const settle = (
    reservation: QuotaReservation,
    actual: number,
    effect: ChangeSet
  ): Effect.Effect<CommitReceipt | null, StorageConflict | ReadFault> =>
    Effect.flatMap(storage.get(COLLECTION, reservation.id), (found) => {
      if (found === null) return Effect.succeed(null)
      const { amount, lapsed, name } = bodyOf(found)
      const change = {
        ...effect,
        deletes: [...(effect.deletes ?? []), { collection: COLLECTION, id: found.id, version: found.version }],
        counts: [...(effect.counts ?? []), { name, add: lapsed ? actual : actual - amount }]
      }
      return Effect.catchIf(
        storage.commit(change),
        // It lapsed, or was settled, since it was read. That happens twice at most.
        (error) => error._tag === "StorageConflict" && error.conflicts.every(isOf(found)),
        () => settle(reservation, actual, effect)
      )
    })

  const returned = (document: Document, nowMs: number): Effect.Effect<number, ReadFault> => {
    const { amount, lapsed, name } = bodyOf(document)
    const { collection, id, version } = document
    const change: ChangeSet = lapsed
      ? { deletes: [{ collection, id, version }] }
      : {
          puts: [put(id, version, { amount, lapsed: true, name }, nowMs + REMEMBERED_MS)],
          counts: [{ name, add: -amount }]
        }
    return Effect.as(storage.commit(change), lapsed ? 0 : 1).pipe(
      Effect.catchTag("StorageConflict", () => Effect.succeed(0))
    )
  }

  const returnLapsed = Effect.gen(function* () {
    const { ms } = yield* storage.asOf
    const before = timeText(ms + 1)
    for (let count = 0; ;) {
      const page = yield* storage.range(COLLECTION, "ends", { before, limit: PAGE })
      for (const document of page) count += yield* returned(document, ms)
      if (page.length < PAGE) return count
    }
  })

  return Quotas.of({
    used: Effect.fnUntraced(function* (unit, resources) {
      const { ms } = yield* storage.asOf
      const names = quotaCounts(
        resources.map((resource) => ({ unit, resource, amount: 0, limit: null })),
        ms
      )
      return {
        period: periodOf(ms),
        resetS: periodEndS(ms),
        used: yield* storage.counters(names.map(({ name }) => name))
      }
    }),
    reserve: Effect.fnUntraced(function* (use, forMs, withIt = () => []) {
      const { ms } = yield* storage.asOf
      const [count] = quotaCounts([use], ms)
      const { add: amount, name } = count!
      const id = yield* newId("rsv")
      const puts = [put(id, 0, { amount, lapsed: false, name }, ms + forMs), ...withIt({ id, name, amount })]
      const change = { puts, counts: [count!] }
      return yield* Effect.as(storage.commit(change), {
        reserved: true,
        reservation: { id, name, amount }
      } satisfies Reserved as Reserved).pipe(
        Effect.catchTag("StorageConflict", ({ conflicts }) => {
          const reached = conflicts.find((one) => one._tag === "Count")
          if (reached === undefined) return Effect.die(new Error("A new reservation met a conflict that is no quota."))
          return Effect.succeed<Reserved>({
            reserved: false,
            used: reached.value,
            limit: reached.atMost,
            resetS: periodEndS(ms)
          })
        })
      )
    }),
    settle: (reservation, actual, effect = {}) => settle(reservation, actual, effect),
    returnLapsed
  })
}

const isOf =
  ({ collection, id }: Document) =>
  (conflict: StorageConflict["conflicts"][number]): boolean =>
    conflict._tag === "Version" && conflict.collection === collection && conflict.id === id
