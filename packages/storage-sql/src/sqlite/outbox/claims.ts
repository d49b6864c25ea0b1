/** Claiming in the writer: what is due of each endpoint that may have more in flight, in turns. */
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { type Lane, takeTurns, type Turns } from "@flyball/core/thread"
import type { ClaimRequest } from "@flyball/core/storage"
import { deliveryColumns, deliveryOf, eventColumns, eventOf } from "./outbox-rows.ts"
import type { ClaimRow, EventRow } from "../thread/protocol.ts"
import type { StringTableWriter } from "../string-table-writer.ts"

/** As in core; written out, since a worker loads little. */
const WEBHOOKS = "webhooks"

/** Delivery that may be claimed: its number, and how often it was attempted. */
interface Due {
  readonly n: number
  readonly attempts: number
}

/** Claims of one open database. Nobody else writes it, so that what is read before a transaction still holds in it. */
export class Claims {
  readonly #db: DatabaseSync
  readonly #strings: StringTableWriter
  readonly #rows: ReturnType<typeof prepareRows>

  constructor(db: DatabaseSync, strings: StringTableWriter) {
    this.#db = db
    this.#strings = strings
    this.#rows = prepareRows(db)
  }

  /** Takes what is due and makes that durable. A claim that finds nothing writes nothing. */
  claim(request: ClaimRequest, nowMs: number): ClaimRow {
    const turns = takeTurns(
      this.#lanes(request, nowMs),
      (this.#rows.lastTurn.get()!["turn"] as number | null) ?? 0,
      request.limit,
      ({ attempts }) => attempts > 0
    )
    const claimed = turns.taken.length === 0 ? [] : this.#take(turns, nowMs, nowMs + request.leaseMs)
    const lapsed = this.#rows.lapsed.all(nowMs, request.limit + 1)
    const isMore = turns.taken.length === request.limit || lapsed.length > request.limit
    return {
      claimed,
      lapsed: lapsed.slice(0, request.limit).map((row) => deliveryOf(row, this.#strings)),
      nextAtMs: isMore ? nowMs : this.#nextAtMs(nowMs, request.leaseMs)
    }
  }

  /**
   * Endpoints are found by jumping from one to the next in an index of what is pending: a long line costs as much as a
   * short one.
   */
  #lanes({ limit, perEndpoint }: ClaimRequest, nowMs: number): ReadonlyArray<Lane<Due>> {
    const lanes: Array<Lane<Due>> = []
    const earliest = this.#rows.earliest.get()?.["at"] as number | null
    if (earliest === null || earliest > nowMs) return lanes
    for (let last = -1; ;) {
      const endpoint = this.#rows.nextEndpoint.get(last)?.["endpoint"] as number | undefined
      if (endpoint === undefined) return lanes
      last = endpoint
      const room = Math.min(limit, perEndpoint - (this.#rows.inFlight.get(endpoint)!["count"] as number))
      if (room <= 0) continue
      const due = this.#rows.due.all(endpoint, nowMs, room) as unknown as ReadonlyArray<Due>
      if (due.length === 0) continue
      lanes.push({
        endpointId: this.#strings.text(endpoint),
        turn: (this.#rows.turn.get(endpoint)?.["turn"] as number | undefined) ?? 0,
        due
      })
    }
  }

  #take({ taken, turns }: Turns<Due>, nowMs: number, untilMs: number): ClaimRow["claimed"] {
    try {
      this.#rows.begin.run()
      const collection = this.#strings.find(WEBHOOKS)
      const versions = new Map<string, number>()
      for (const endpointId of turns.keys())
        versions.set(
          endpointId,
          (this.#rows.version.get(collection, endpointId)?.["version"] as number | undefined) ?? 0
        )
      /** The same object for the same event: it goes to the host once, for any number of receivers. */
      const events = new Map<string, EventRow>()
      const claimed = taken.map(({ n }) => {
        const { attempts } = this.#rows.take.get(untilMs, n) as { readonly attempts: number }
        this.#rows.open.run(n, attempts, nowMs)
        const row = this.#rows.claimed.get(n)!
        const delivery = deliveryOf(row, this.#strings)
        const event = events.get(delivery.eventId) ?? eventOf(row, this.#strings)
        events.set(delivery.eventId, event)
        return { delivery, event, version: versions.get(delivery.endpointId)! }
      })
      for (const [endpointId, turn] of turns) this.#rows.setTurn.run(turn, this.#strings.find(endpointId))
      this.#rows.commit.run()
      return claimed
    } catch (error) {
      this.#rollBack(error)
      throw error
    }
  }

  #rollBack(error: unknown): void {
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK")
    } catch (second) {
      // The connection is of no use any more; the worker ends, and the next call starts another.
      throw new AggregateError([error, second], "The store could not roll back after a failure.", { cause: second })
    }
  }

  #nextAtMs(nowMs: number, leaseMs: number): number | null {
    const times = [this.#rows.nextDue.get(nowMs)!["at"], this.#rows.nextLease.get(nowMs)!["at"]] as Array<number | null>
    const earliest = this.#rows.earliest.get()!["at"] as number | null
    if (earliest !== null && earliest <= nowMs) times.push(nowMs + leaseMs)
    return times.reduce((least, time) => (time === null ? least : Math.min(least ?? time, time)), null)
  }
}

const prepareRows = (db: DatabaseSync) => {
  const sql = (text: string): StatementSync => db.prepare(text)
  return {
    begin: sql("BEGIN IMMEDIATE"),
    commit: sql("COMMIT"),
    earliest: sql("SELECT min(next_at_ms) AS at FROM delivery INDEXED BY delivery_due WHERE state = 0"),
    nextDue: sql(
      "SELECT min(next_at_ms) AS at FROM delivery INDEXED BY delivery_due WHERE state = 0 AND next_at_ms > ?"
    ),
    nextLease: sql(
      "SELECT min(lease_until_ms) AS at FROM delivery INDEXED BY delivery_leases WHERE state = 1 AND lease_until_ms > ?"
    ),
    lapsed: sql(`SELECT ${deliveryColumns} FROM delivery d INDEXED BY delivery_leases JOIN event e ON e.n = d.event
      WHERE d.state = 1 AND d.lease_until_ms <= ? ORDER BY d.lease_until_ms, d.id LIMIT ?`),
    nextEndpoint: sql(
      "SELECT endpoint FROM delivery INDEXED BY delivery_pending WHERE state = 0 AND endpoint > ? ORDER BY " +
        "endpoint LIMIT 1"
    ),
    inFlight: sql(
      "SELECT count(*) AS count FROM delivery INDEXED BY delivery_in_flight WHERE state = 1 AND endpoint = ?"
    ),
    due: sql(
      "SELECT n, attempts FROM delivery INDEXED BY delivery_pending WHERE state = 0 AND endpoint = ? AND " +
        "next_at_ms <= ? ORDER BY next_at_ms, sequence LIMIT ?"
    ),
    turn: sql("SELECT turn FROM lane WHERE endpoint = ?"),
    lastTurn: sql("SELECT max(turn) AS turn FROM lane"),
    setTurn: sql("UPDATE lane SET turn = ? WHERE endpoint = ?"),
    take: sql(
      "UPDATE delivery SET state = 1, attempts = attempts + 1, next_at_ms = NULL, lease_until_ms = ? WHERE n = " +
        "? RETURNING attempts"
    ),
    open: sql("INSERT INTO attempt (delivery, attempt, started_at_ms, excerpt) VALUES (?, ?, ?, '\"\"')"),
    version: sql("SELECT version FROM document WHERE collection = ? AND id = ?"),
    claimed: sql(
      `SELECT ${deliveryColumns}, ${eventColumns} FROM delivery d JOIN event e ON e.n = d.event WHERE d.n = ?`
    )
  }
}
