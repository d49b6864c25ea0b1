/** The outbox in memory: events, deliveries with their attempts, and what is due of each endpoint. */
import type {
  Attempt,
  Cancellation,
  ClaimAnswer,
  ClaimRequest,
  Delivery,
  DeliveryMove,
  ForgetAnswer,
  ForgetRequest,
  MissedPage,
  MissedQuery,
  OutboxApi,
  OwnedQuery,
  StoredEvent
} from "../outbox/outbox.ts"
import { firstDeliveryId, firstEventId, type Owed, takeTurns } from "../outbox/rules.ts"
import type { Head, JsonObject } from "../port.ts"
import { SortedIds } from "./sorted-ids.ts"

type Event = Omit<StoredEvent, "data"> & { readonly data: string }

interface Row {
  delivery: Delivery
  readonly attempts: Array<Attempt>
}

/** Deliveries of one endpoint. */
interface Lane {
  readonly all: Array<Row>
  /** Stays when what it was given to is forgotten. */
  lastSequence: number
  /** Pending deliveries, in the order in which they are due. */
  readonly waiting: Array<Row>
  readonly inFlight: Set<Row>
  turn: number
}

/** The tables of the outbox. What can fail was checked before anything here is written. */
export class OutboxTable {
  readonly #events = new Map<string, Event>()
  readonly #eventIds = new SortedIds()
  readonly #rows = new Map<string, Row>()
  readonly #lanes = new Map<string, Lane>()
  /** In flight, and what is answered is not to be kept. */
  readonly #forgotten = new Set<Row>()
  #lastEventId: string | null = null
  #lastTurn = 0

  get lastEventId(): string | null {
    return this.#lastEventId
  }

  hasEvent(id: string): boolean {
    return this.#events.has(id)
  }

  stateOf(id: string): Delivery | null {
    return this.#rows.get(id)?.delivery ?? null
  }

  lastSequence(endpointId: string): number {
    return this.#lanes.get(endpointId)?.lastSequence ?? 0
  }

  move({ ended, id, to }: DeliveryMove, atMs: number): void {
    const row = this.#rows.get(id)!
    const open = row.attempts.at(-1)
    const forgotten = this.#forgotten.delete(row) ? { responseExcerpt: "" } : {}
    if (ended !== undefined && open !== undefined)
      row.attempts[row.attempts.length - 1] = { ...open, ...ended, ...forgotten }
    const pending = to.state === "pending"
    this.#change(row, {
      state: to.state,
      nextAttemptAtMs: pending ? to.nextAttemptAtMs : null,
      leaseUntilMs: null,
      finishedAtMs: pending ? null : atMs
    })
  }

  cancel({ endpointId, forgetAnswers }: Cancellation, atMs: number): void {
    const lane = this.#lanes.get(endpointId)
    if (forgetAnswers === true) {
      for (const row of lane?.all ?? [])
        row.attempts.forEach((attempt, index) => (row.attempts[index] = { ...attempt, responseExcerpt: "" }))
      for (const row of lane?.inFlight ?? []) this.#forgotten.add(row)
    }
    for (const row of lane?.waiting ?? []) {
      row.delivery = { ...row.delivery, state: "cancelled", nextAttemptAtMs: null, finishedAtMs: atMs }
    }
    lane?.waiting.splice(0)
  }

  add({ deliveries, events }: Owed, head: Head, atMs: number): void {
    for (const event of events) {
      this.#events.set(event.id, { ...event, atMs, seq: head.seq, hash: head.hash.slice() })
      this.#eventIds.add(event.id)
      this.#lastEventId = event.id
    }
    for (const { endpointId, eventId, id, sequence } of deliveries) {
      const row: Row = {
        delivery: {
          id,
          eventId,
          endpointId,
          sequence,
          state: "pending",
          attempts: 0,
          createdAtMs: atMs,
          nextAttemptAtMs: atMs,
          leaseUntilMs: null,
          finishedAtMs: null
        },
        attempts: []
      }
      this.#rows.set(id, row)
      const lane = this.#lane(endpointId)
      lane.all.push(row)
      lane.lastSequence = sequence
      insert(lane.waiting, row)
    }
  }

  claim(
    { leaseMs, limit, perEndpoint }: ClaimRequest,
    nowMs: number,
    versionOf: (endpointId: string) => number
  ): ClaimAnswer {
    const lapsed = [...this.#lanes.values()]
      .flatMap(({ inFlight }) => [...inFlight])
      .filter(({ delivery }) => delivery.leaseUntilMs! <= nowMs)
    const lanes = [...this.#lanes]
      .filter(([, { waiting }]) => waiting.length > 0)
      .map(([endpointId, { inFlight, turn, waiting }]) => ({
        endpointId,
        turn,
        due: waiting.slice(0, Math.min(Math.max(0, perEndpoint - inFlight.size), dueCount(waiting, nowMs)))
      }))
    const { taken, turns } = takeTurns(lanes, this.#lastTurn, limit, ({ delivery }) => delivery.attempts > 0)
    for (const row of taken) {
      this.#change(row, {
        state: "in_flight",
        attempts: row.delivery.attempts + 1,
        nextAttemptAtMs: null,
        leaseUntilMs: nowMs + leaseMs
      })
      row.attempts.push({
        attempt: row.delivery.attempts,
        startedAtMs: nowMs,
        endedAtMs: null,
        statusCode: null,
        errorCode: null,
        responseExcerpt: ""
      })
    }
    for (const [endpointId, turn] of turns) this.#lane(endpointId).turn = turn
    this.#lastTurn += taken.length
    return {
      claimed: taken.map(({ delivery }) => ({
        delivery,
        event: this.event(delivery.eventId)!,
        version: versionOf(delivery.endpointId)
      })),
      lapsed: lapsed
        .map(({ delivery }) => delivery)
        .sort((a, b) => a.leaseUntilMs! - b.leaseUntilMs! || (a.id < b.id ? -1 : 1))
        .slice(0, limit),
      nextAtMs: taken.length === limit || lapsed.length > limit ? nowMs : this.#nextAtMs(nowMs, leaseMs)
    }
  }

  delivery(id: string): { readonly delivery: Delivery; readonly attempts: ReadonlyArray<Attempt> } | null {
    const row = this.#rows.get(id)
    return row === undefined ? null : { delivery: row.delivery, attempts: [...row.attempts] }
  }

  deliveriesOf(
    endpointId: string,
    { before, limit }: Parameters<OutboxApi["deliveriesOf"]>[1]
  ): ReadonlyArray<Delivery> {
    const all = this.#lanes.get(endpointId)?.all ?? []
    const end = before === undefined ? all.length : countBefore(all, ({ delivery }) => delivery.sequence < before)
    return all
      .slice(Math.max(0, end - limit), end)
      .toReversed()
      .map(({ delivery }) => delivery)
  }

  event(id: string): StoredEvent | null {
    const event = this.#events.get(id)
    return event === undefined
      ? null
      : { ...event, hash: event.hash.slice(), data: JSON.parse(event.data) as JsonObject }
  }

  events({ after, limit, sinceMs, types }: Parameters<OutboxApi["events"]>[0]): ReadonlyArray<StoredEvent> {
    const first = sinceMs === undefined ? "" : firstEventId(sinceMs)
    return this.#eventIds
      .page(after ?? "", undefined)
      .filter(
        (id) =>
          id >= first &&
          this.#events.get(id)!.atMs >= (sinceMs ?? 0) &&
          (types === undefined || types.includes(this.#events.get(id)!.type))
      )
      .slice(0, limit)
      .map((id) => this.event(id)!)
  }

  owned({ after = "", before = "~", limit, owner, types }: OwnedQuery): ReadonlyArray<StoredEvent> {
    return this.#eventIds
      .page(after, undefined)
      .filter((id) => {
        const event = this.#events.get(id)!
        return id < before && event.owner === owner && types.includes(event.type)
      })
      .toReversed()
      .slice(0, limit)
      .map((id) => this.event(id)!)
  }

  missed({ after, endpointId, limit, owner, sinceMs, types }: MissedQuery): MissedPage {
    const page = this.events({ types, sinceMs, limit, ...(after === undefined ? {} : { after }) })
    const owed = new Set(
      (this.#lanes.get(endpointId)?.all ?? []).flatMap(({ delivery: { eventId, state } }) =>
        state === "failed" || state === "cancelled" ? [] : [eventId]
      )
    )
    const events = page.filter((event) => (event.owner ?? null) === owner && !owed.has(event.id))
    return { events, next: page.length < limit ? null : page.at(-1)!.id }
  }

  forget({ after = "", beforeMs, limit, what }: ForgetRequest): ForgetAnswer {
    const page =
      what === "deliveries"
        ? [...this.#rows.keys()]
            .filter((id) => id > after && id < firstDeliveryId(beforeMs))
            .sort()
            .slice(0, limit)
        : this.#eventIds.page(after, limit).filter((id) => id < firstEventId(beforeMs))
    const gone = page.filter((id) =>
      what === "deliveries" ? this.#forgetDelivery(id, beforeMs) : this.#forgetEvent(id, beforeMs)
    )
    return { count: gone.length, next: page.length < limit ? null : page.at(-1)! }
  }

  #forgetDelivery(id: string, beforeMs: number): boolean {
    const row = this.#rows.get(id)!
    if (row.delivery.finishedAtMs === null || row.delivery.finishedAtMs >= beforeMs) return false
    this.#rows.delete(id)
    const { all } = this.#lane(row.delivery.endpointId)
    all.splice(all.indexOf(row), 1)
    return true
  }

  #forgetEvent(id: string, beforeMs: number): boolean {
    if (
      id === this.#lastEventId ||
      this.#events.get(id)!.atMs >= beforeMs ||
      [...this.#rows.values()].some(({ delivery }) => delivery.eventId === id)
    )
      return false
    this.#events.delete(id)
    this.#eventIds.remove(id)
    return true
  }

  #nextAtMs(nowMs: number, leaseMs: number): number | null {
    const times: Array<number> = []
    for (const { inFlight, waiting } of this.#lanes.values()) {
      const due = dueCount(waiting, nowMs)
      if (due > 0) times.push(nowMs + leaseMs)
      if (due < waiting.length) times.push(waiting[due]!.delivery.nextAttemptAtMs!)
      for (const { delivery } of inFlight) if (delivery.leaseUntilMs! > nowMs) times.push(delivery.leaseUntilMs!)
    }
    return times.length === 0 ? null : times.reduce((least, time) => Math.min(least, time))
  }

  #change(row: Row, change: Partial<Delivery>): void {
    const lane = this.#lane(row.delivery.endpointId)
    if (row.delivery.state === "pending") remove(lane.waiting, row)
    lane.inFlight.delete(row)
    row.delivery = { ...row.delivery, ...change }
    if (row.delivery.state === "pending") insert(lane.waiting, row)
    if (row.delivery.state === "in_flight") lane.inFlight.add(row)
  }

  #lane(endpointId: string): Lane {
    let lane = this.#lanes.get(endpointId)
    if (lane === undefined)
      this.#lanes.set(endpointId, (lane = { all: [], lastSequence: 0, waiting: [], inFlight: new Set(), turn: 0 }))
    return lane
  }
}

const insert = (waiting: Array<Row>, row: Row): void =>
  void waiting.splice(
    countBefore(waiting, (other) => dueOrder(other, row) < 0),
    0,
    row
  )

const remove = (waiting: Array<Row>, row: Row): void =>
  void waiting.splice(
    countBefore(waiting, (other) => dueOrder(other, row) < 0),
    1
  )

const dueOrder = ({ delivery: a }: Row, { delivery: b }: Row): number =>
  a.nextAttemptAtMs! - b.nextAttemptAtMs! || a.sequence - b.sequence

const dueCount = (waiting: ReadonlyArray<Row>, nowMs: number): number =>
  countBefore(waiting, ({ delivery }) => delivery.nextAttemptAtMs! <= nowMs)

/** How many come before the first that does not. */
const countBefore = (waiting: ReadonlyArray<Row>, before: (row: Row) => boolean): number => {
  let low = 0
  let high = waiting.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (before(waiting[middle]!)) low = middle + 1
    else high = middle
  }
  return low
}
