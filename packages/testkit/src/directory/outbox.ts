/** Events and what is owed of them, as rows. */
import type {
  Attempt,
  ChangeSet,
  ClaimAnswer,
  ClaimRequest,
  Delivery,
  DeliveryMove,
  ForgetAnswer,
  ForgetRequest,
  Head,
  JsonObject,
  MissedPage,
  MissedQuery,
  OutboxApi,
  StoredEvent
} from "@flyball/core/storage"
import { compareText } from "@flyball/core/storage"
import { type Debts, firstDeliveryId, firstEventId, type OutboxDraft, owe, takeTurns } from "@flyball/core/thread"
import type { Crypto } from "@flyball/evidence"
import type { Files } from "./files.ts"

type EventRow = Omit<StoredEvent, "data"> & { readonly data: string }
interface DeliveryRow {
  readonly delivery: Delivery
  readonly attempts: ReadonlyArray<Attempt>
  /** In flight, and its answer is not to be kept. */
  readonly isForgotten: boolean
}
interface Lane {
  readonly sequence: number
  readonly turn: number
}
/** The one row of the table `outbox`. */
interface Last {
  readonly eventId: string | null
  readonly turn: number
}

/** The outbox. */
export class Outbox {
  readonly #files: Files
  readonly #crypto: Crypto

  constructor(files: Files, crypto: Crypto) {
    this.#files = files
    this.#crypto = crypto
  }

  stateOf(id: string): Delivery | null {
    return this.#row(id)?.delivery ?? null
  }

  hasEvent(id: string): boolean {
    return this.#files.get("event", id) !== undefined
  }

  /** What a ChangeSet does to the outbox: moves, then cancellations, then what is owed. */
  write(draft: OutboxDraft, isRepeat: boolean, wanting: Debts["wanting"], head: Head, atMs: number): void {
    for (const move of draft.moves) this.#move(move, atMs)
    for (const one of draft.cancel) this.#cancel(one, atMs)
    if (isRepeat) return
    const { eventId, turn } = this.#last
    const debts = { lastEventId: eventId, wanting, lastSequence: (id: string) => this.#lane(id).sequence }
    const { deliveries, events, sequences } = owe(draft, debts, atMs, this.#crypto.sha256)
    for (const { data, id, type } of events)
      this.#files.put("event", id, { id, type, data, atMs, seq: head.seq, hash: head.hash.slice() })
    if (events.length > 0) this.#files.put("outbox", "last", { eventId: events.at(-1)!.id, turn })
    for (const one of deliveries) {
      const due = { createdAtMs: atMs, nextAttemptAtMs: atMs, leaseUntilMs: null, finishedAtMs: null }
      const delivery: Delivery = { ...one, state: "pending", attempts: 0, ...due }
      this.#files.put("delivery", one.id, { delivery, attempts: [], isForgotten: false } satisfies DeliveryRow)
    }
    for (const [endpointId, sequence] of sequences)
      this.#files.put("lane", endpointId, { ...this.#lane(endpointId), sequence })
  }

  #move({ ended, id, to }: DeliveryMove, atMs: number): void {
    const { attempts, delivery, isForgotten } = this.#row(id)!
    const open = attempts.at(-1)
    const outcome = { ...ended, ...(isForgotten ? { responseExcerpt: "" } : {}) }
    const isOver = to.state !== "pending"
    this.#files.put("delivery", id, {
      delivery: {
        ...delivery,
        state: to.state,
        nextAttemptAtMs: to.state === "pending" ? to.nextAttemptAtMs : null,
        leaseUntilMs: null,
        finishedAtMs: isOver ? atMs : null
      },
      attempts:
        ended === undefined || open === undefined ? attempts : [...attempts.slice(0, -1), { ...open, ...outcome }],
      isForgotten: false
    } satisfies DeliveryRow)
  }

  #cancel({ endpointId, forgetAnswers = false }: NonNullable<ChangeSet["cancel"]>[number], atMs: number): void {
    for (const { attempts, delivery, isForgotten } of this.#of(endpointId)) {
      const isPending = delivery.state === "pending"
      if (!isPending && !forgetAnswers) continue
      const over = { state: "cancelled", nextAttemptAtMs: null, finishedAtMs: atMs } as const
      this.#files.put("delivery", delivery.id, {
        delivery: isPending ? { ...delivery, ...over } : delivery,
        attempts: forgetAnswers ? attempts.map((one) => ({ ...one, responseExcerpt: "" })) : attempts,
        isForgotten: isForgotten || (forgetAnswers && delivery.state === "in_flight")
      } satisfies DeliveryRow)
    }
  }

  claim(
    { leaseMs, limit, perEndpoint }: ClaimRequest,
    nowMs: number,
    versionOf: (endpointId: string) => number
  ): ClaimAnswer {
    const rows = [...this.#files.all<DeliveryRow>("delivery").values()]
    const isDue = ({ delivery }: DeliveryRow) => delivery.nextAttemptAtMs! <= nowMs
    const flying = rows.filter(({ delivery }) => delivery.state === "in_flight")
    const lapsed = flying.filter(({ delivery }) => delivery.leaseUntilMs! <= nowMs)
    const waiting = Map.groupBy(
      rows.filter(({ delivery }) => delivery.state === "pending"),
      ({ delivery }) => delivery.endpointId
    )
    const lanes = [...waiting].map(([endpointId, all]) => ({
      endpointId,
      turn: this.#lane(endpointId).turn,
      due: all
        .filter(isDue)
        .sort(dueOrder)
        .slice(0, Math.max(0, perEndpoint - flying.filter(({ delivery }) => delivery.endpointId === endpointId).length))
    }))
    const last = this.#last
    const { taken, turns } = takeTurns(lanes, last.turn, limit, ({ delivery }) => delivery.attempts > 0)
    const claimed = taken.map(({ attempts, delivery, isForgotten }) => {
      const attempt = delivery.attempts + 1
      const flight = { state: "in_flight", attempts: attempt, nextAttemptAtMs: null, leaseUntilMs: nowMs + leaseMs }
      const begun = { attempt, startedAtMs: nowMs, endedAtMs: null, statusCode: null, errorCode: null }
      const row = {
        delivery: { ...delivery, ...flight } as Delivery,
        attempts: [...attempts, { ...begun, responseExcerpt: "" }],
        isForgotten
      } satisfies DeliveryRow
      this.#files.put("delivery", delivery.id, row)
      const event = this.event(delivery.eventId)!
      return { delivery: row.delivery, event, version: versionOf(delivery.endpointId) }
    })
    for (const [endpointId, turn] of turns) this.#files.put("lane", endpointId, { ...this.#lane(endpointId), turn })
    if (taken.length > 0) this.#files.put("outbox", "last", { ...last, turn: last.turn + taken.length })
    return {
      claimed,
      lapsed: lapsed
        .map(({ delivery }) => delivery)
        .sort((a, b) => a.leaseUntilMs! - b.leaseUntilMs! || compareText(a.id, b.id))
        .slice(0, limit),
      nextAtMs: taken.length === limit || lapsed.length > limit ? nowMs : this.#nextAtMs(nowMs, leaseMs)
    }
  }

  #nextAtMs(nowMs: number, leaseMs: number): number | null {
    const times = [...this.#files.all<DeliveryRow>("delivery").values()].flatMap(
      ({ delivery: { leaseUntilMs, nextAttemptAtMs, state } }) =>
        state === "pending"
          ? [nextAttemptAtMs! <= nowMs ? nowMs + leaseMs : nextAttemptAtMs!]
          : state === "in_flight" && leaseUntilMs! > nowMs
            ? [leaseUntilMs!]
            : []
    )
    return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))
  }

  delivery(id: string): { readonly delivery: Delivery; readonly attempts: ReadonlyArray<Attempt> } | null {
    const row = this.#row(id)
    return row === undefined ? null : { delivery: row.delivery, attempts: row.attempts }
  }

  deliveriesOf(
    endpointId: string,
    { before = Number.POSITIVE_INFINITY, limit }: Parameters<OutboxApi["deliveriesOf"]>[1]
  ): ReadonlyArray<Delivery> {
    return this.#of(endpointId)
      .map(({ delivery }) => delivery)
      .filter(({ sequence }) => sequence < before)
      .sort((a, b) => b.sequence - a.sequence)
      .slice(0, limit)
  }

  event(id: string): StoredEvent | null {
    const row = this.#files.get<EventRow>("event", id)
    return row === undefined ? null : { ...row, hash: row.hash.slice(), data: JSON.parse(row.data) as JsonObject }
  }

  events({ after = "", limit, sinceMs, types }: Parameters<OutboxApi["events"]>[0]): ReadonlyArray<StoredEvent> {
    const first = sinceMs === undefined ? "" : firstEventId(sinceMs)
    return [...this.#files.all<EventRow>("event").values()]
      .filter(({ id }) => id > after && id >= first)
      .filter(({ atMs, type }) => atMs >= (sinceMs ?? 0) && (types === undefined || types.includes(type)))
      .sort((a, b) => compareText(a.id, b.id))
      .slice(0, limit)
      .map(({ id }) => this.event(id)!)
  }

  missed({ after, endpointId, limit, sinceMs, types }: MissedQuery): MissedPage {
    const read = this.events({ types, sinceMs, limit, ...(after === undefined ? {} : { after }) })
    const owed = new Set(
      this.#of(endpointId).flatMap(({ delivery: { eventId, state } }) =>
        state === "failed" || state === "cancelled" ? [] : [eventId]
      )
    )
    return { events: read.filter(({ id }) => !owed.has(id)), next: read.length < limit ? null : read.at(-1)!.id }
  }

  forget({ after = "", beforeMs, limit, what }: ForgetRequest): ForgetAnswer {
    const isDeliveries = what === "deliveries"
    const read = [...this.#files.all(isDeliveries ? "delivery" : "event").keys()]
      .filter((id) => id > after && id < (isDeliveries ? firstDeliveryId(beforeMs) : firstEventId(beforeMs)))
      .sort(compareText)
      .slice(0, limit)
    const gone = read.filter((id) => (isDeliveries ? this.#isOver(id, beforeMs) : this.#isUnneeded(id, beforeMs)))
    for (const id of gone) this.#files.remove(isDeliveries ? "delivery" : "event", id)
    return { count: gone.length, next: read.length < limit ? null : read.at(-1)! }
  }

  #isOver(id: string, beforeMs: number): boolean {
    const { finishedAtMs } = this.#row(id)!.delivery
    return finishedAtMs !== null && finishedAtMs < beforeMs
  }

  #isUnneeded(id: string, beforeMs: number): boolean {
    const deliveries = [...this.#files.all<DeliveryRow>("delivery").values()]
    return (
      id !== this.#last.eventId &&
      this.#files.get<EventRow>("event", id)!.atMs < beforeMs &&
      !deliveries.some(({ delivery }) => delivery.eventId === id)
    )
  }

  get #last(): Last {
    return this.#files.get<Last>("outbox", "last") ?? { eventId: null, turn: 0 }
  }

  #lane(endpointId: string): Lane {
    return this.#files.get<Lane>("lane", endpointId) ?? { sequence: 0, turn: 0 }
  }

  #row(id: string): DeliveryRow | undefined {
    return this.#files.get<DeliveryRow>("delivery", id)
  }

  #of(endpointId: string): ReadonlyArray<DeliveryRow> {
    return [...this.#files.all<DeliveryRow>("delivery").values()].filter(
      ({ delivery }) => delivery.endpointId === endpointId
    )
  }
}

const dueOrder = ({ delivery: a }: DeliveryRow, { delivery: b }: DeliveryRow): number =>
  a.nextAttemptAtMs! - b.nextAttemptAtMs! || a.sequence - b.sequence
