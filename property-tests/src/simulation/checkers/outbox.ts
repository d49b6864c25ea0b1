/**
 * Outbox: one event for each act that causes one, none without its act, each with the head of the commit that caused
 * it.
 */
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { ANNOUNCED, ANNOUNCEMENTS } from "../acts.ts"
import type { Checker } from "./checked.ts"

/** Rows of one page. The port's bound. */
const PAGE = 1_000

/** Compares the events with the documents that came with them, and both with the answers to clients. */
export const outboxChecker: Checker = ({ ledger, ports, records }) =>
  Effect.gen(function* () {
    const problems: Array<string> = []
    const events = yield* ports.storage.outbox.events({ types: [ANNOUNCED], limit: PAGE })
    const reported = new Set(events.map(({ data }) => String(data["id"])))
    if (reported.size !== events.length) problems.push("outbox: two events tell of one act")
    const documents = new Set((yield* ports.storage.list(ANNOUNCEMENTS)).map(({ id }) => id))
    for (const id of documents) if (!reported.delete(id)) problems.push(`outbox: ${id} happened, and has no event`)
    for (const id of reported) problems.push(`outbox: ${id} has an event, and nothing happened`)
    for (const [id, { acknowledged }] of ledger.announced)
      if (acknowledged > 0 && !documents.has(id)) problems.push(`outbox: ${id} was acknowledged and did not happen`)
    for (const { hash, id, seq } of events) {
      const record = records[seq]
      if (record === undefined || toHex(record.hash) !== toHex(hash))
        problems.push(`outbox: ${id} names a head that is not in the chain at ${seq}`)
    }
    return problems
  })
