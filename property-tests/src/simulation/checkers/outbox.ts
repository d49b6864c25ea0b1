/** Outbox: one delivery for each act that causes one, none without its act, each with the head of the commit that caused it. */
import { toHex } from "@flyball/evidence"
import { Effect } from "effect"
import { ANNOUNCEMENTS, deliveryOf } from "../acts.ts"
import type { Checker } from "./checked.ts"

/** Rows of one page. The port's bound. */
const PAGE = 1_000

/** Holds the deliveries against the documents that came with them, and both against what clients were told. */
export const outboxChecker: Checker = ({ ledger, ports, records }) =>
  Effect.gen(function*() {
    const problems: Array<string> = []
    const deliveries = yield* ports.storage.deliveries({ limit: PAGE })
    const ids = new Set(deliveries.map(({ id }) => id))
    if (ids.size !== deliveries.length) problems.push("outbox: two deliveries have one id")
    const documents = new Set((yield* ports.storage.list(ANNOUNCEMENTS)).map(({ id }) => id))
    for (const id of documents) if (!ids.delete(deliveryOf(id))) problems.push(`outbox: ${id} happened, and nobody will be told`)
    for (const id of ids) problems.push(`outbox: ${id} is to be delivered, and nothing happened`)
    for (const [id, { acknowledged }] of ledger.announced) if (acknowledged > 0 && !documents.has(id)) problems.push(`outbox: ${id} was acknowledged and did not happen`)
    for (const { hash, id, seq } of deliveries) {
      const record = records[seq]
      if (record === undefined || toHex(record.hash) !== toHex(hash)) problems.push(`outbox: ${id} names a head that is not in the chain at ${seq}`)
    }
    return problems
  })
