/**
 * Deliveries: every event is owed once to every webhook that wanted it when it happened, tried seven times at most and
 * by the schedule, and comes to an end that is true.
 *
 * Subscriptions are read from the records, and arrivals from the receivers: neither comes from the outbox under test.
 */
import type { Attempt, Delivery, StoredEvent } from "@flyball/core/storage"
import { WEBHOOKS } from "@flyball/core/storage"
import { delaysMs, MAX_ATTEMPTS } from "@flyball/rules"
import { Effect } from "effect"
import { deliveriesTo } from "../owed.ts"
import type { ArrivedRequest } from "../receivers.ts"
import { type Checked, type Checker, type ReadRecord, recordsBy } from "./checked.ts"
import { type Wants, wantedBy } from "./wanted.ts"

/** Rows of one page. The port's bound. */
const PAGE = 1_000
/** Events whose deliveries leave no record. Spec: decision 0019. */
const unrecorded: ReadonlySet<string> = new Set(["chain.checkpoint", "chain.verify_failed", "webhook.failed"])

/** Holds the outbox against the records, what clients did, and what receivers saw. */
export const deliveriesChecker: Checker = (world) =>
  Effect.gen(function* () {
    const {
      arrived,
      ledger,
      ports: { storage },
      records
    } = world
    const webhooks = yield* storage.list(WEBHOOKS)
    const events = yield* allEvents(world)
    const wanted = wantedBy(records)
    const finished = recordsBy(records, "delivery.finished", ({ body }) => String(body["delivery_id"]))
    const requests = Map.groupBy(arrived, ({ deliveryId }) => deliveryId)
    const problems = [...created(world), ...sentOnce(arrived)]
    const known = new Set<string>()
    for (const { id } of webhooks) {
      const deliveries = yield* deliveriesTo(storage, id)
      problems.push(...owed(world, id, deliveries, events, wanted.get(id) ?? []))
      for (const { id: deliveryId } of deliveries) {
        known.add(deliveryId)
        const found = (yield* storage.outbox.delivery(deliveryId))!
        const type = events.get(found.delivery.eventId)?.type ?? "an event that is not there"
        problems.push(...tried(found.delivery, found.attempts, ledger.hurried.has(deliveryId)))
        problems.push(...ended(found.delivery, requests.get(deliveryId) ?? [], finished.get(deliveryId) ?? [], type))
      }
    }
    for (const id of [...requests.keys(), ...finished.keys()])
      if (!known.has(id)) problems.push(`${id} was sent or is recorded, and is no delivery`)
    problems.push(...failures(records, events))
    return problems.map((problem) => `deliveries: ${problem}`)
  })

const allEvents = Effect.fnUntraced(function* ({ ports: { storage } }: Checked) {
  const found = new Map<string, StoredEvent>()
  for (let after: string | undefined; ;) {
    const page: ReadonlyArray<StoredEvent> = yield* storage.outbox.events({
      limit: PAGE,
      ...(after === undefined ? {} : { after })
    })
    for (const event of page) found.set(event.id, event)
    if (page.length < PAGE) return found
    after = page.at(-1)!.id
  }
})

/** Webhooks have no reference of the client's own: there for each acknowledgement, and at most once for each try. */
const created = ({ ledger, records }: Checked): ReadonlyArray<string> => {
  const acknowledged = [...ledger.webhooks.values()].reduce((sum, one) => sum + one.acknowledged, 0)
  const tries = [...ledger.webhooks.values()].reduce((sum, one) => sum + one.tries, 0)
  const made = recordsBy(records, "webhook.created", ({ body }) => String(body["webhook_id"]))
  return [
    ...(made.size < acknowledged || made.size > tries
      ? [`${made.size} webhooks are there after ${tries} tries and ${acknowledged} acknowledgements`]
      : []),
    ...ledger.webhookIds.flatMap((id) =>
      made.get(id)?.length === 1 ? [] : [`${id} was acknowledged and is recorded ${made.get(id)?.length ?? 0} times`]
    )
  ]
}

/** Every attempt is sent once, and no eighth. */
const sentOnce = (arrived: ReadonlyArray<ArrivedRequest>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const attempts = new Set<string>()
  for (const { attempt, deliveryId } of arrived) {
    if (attempt > MAX_ATTEMPTS) problems.push(`request ${attempt} of ${deliveryId} was sent: there are ${MAX_ATTEMPTS}`)
    if (attempts.has(`${deliveryId} ${attempt}`)) problems.push(`attempt ${attempt} of ${deliveryId} was sent twice`)
    attempts.add(`${deliveryId} ${attempt}`)
  }
  return problems
}

/**
 * Numbers from 1 without a gap; one delivery for each event that was wanted, and more only on request.
 */
const owed = (
  { ledger }: Checked,
  webhookId: string,
  deliveries: ReadonlyArray<Delivery>,
  events: ReadonlyMap<string, StoredEvent>,
  wants: ReadonlyArray<Wants>
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId)
  const recoveries = ledger.recoveries.get(webhookId)?.tries ?? 0
  deliveries.forEach(({ id, sequence }, index) => {
    if (sequence !== index + 1)
      problems.push(`${id} has the number ${sequence} at ${webhookId}, and is the ${index + 1}. there`)
  })
  for (const event of events.values()) {
    const was = wants.findLast(({ seq }) => seq <= event.seq)
    const isWanted = was !== undefined && was.active && was.types.includes(event.type)
    const there = byEvent.get(event.id) ?? []
    const again = ledger.owedAgain.get(`${webhookId} ${event.id}`)?.tries ?? 0
    if (isWanted && there.length === 0)
      problems.push(`${event.id} (${event.type}) was wanted by ${webhookId}, and nothing is owed of it`)
    if (there.length > (isWanted ? 1 : 0) + recoveries + again)
      problems.push(
        `${event.id} is owed to ${webhookId} ${there.length} times, and was requested again ${recoveries + again} times`
      )
    // What was missed is owed only where nothing of it is under way or arrived.
    const good = there.filter(({ state }) => state === "succeeded").length
    if (again === 0 && good > 1)
      problems.push(`${event.id} was delivered to ${webhookId} ${good} times, without a request`)
  }
  return problems
}

/** Attempts are numbered, at most seven, and each begins as late after the last as the schedule says. */
const tried = (
  { attempts: count, id, state }: Delivery,
  attempts: ReadonlyArray<Attempt>,
  hurried: boolean
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (count > MAX_ATTEMPTS) problems.push(`${id} was tried ${count} times: ${MAX_ATTEMPTS} are the most`)
  if (attempts.length !== count || attempts.some(({ attempt }, index) => attempt !== index + 1))
    problems.push(`${id} counts ${count} attempts and has ${attempts.map(({ attempt }) => attempt).join(", ")}`)
  attempts.forEach(({ endedAtMs, startedAtMs }, index) => {
    const next = attempts[index + 1]
    if (endedAtMs === null && state !== "in_flight")
      problems.push(`attempt ${index + 1} of ${id}, which is ${state}, has no end`)
    if (next !== undefined && !hurried && next.startedAtMs < (endedAtMs ?? startedAtMs) + delaysMs[index + 1]!) {
      problems.push(
        `attempt ${index + 2} of ${id} began ${next.startedAtMs - (endedAtMs ?? startedAtMs)} ms after the ` +
          `last: ${delaysMs[index + 1]} is the least`
      )
    }
  })
  return problems
}

/** It is at an end; what succeeded arrived, what failed was tried seven times; and one record says so. */
const ended = (
  { attempts, id, sequence, state }: Delivery,
  requests: ReadonlyArray<ArrivedRequest>,
  records: ReadonlyArray<ReadRecord>,
  type: string
): ReadonlyArray<string> => {
  const problems: Array<string> = []
  if (state === "pending" || state === "in_flight")
    problems.push(`${id} is still ${state} after ${attempts} attempts, and nothing is in its way`)
  if (state === "succeeded" && !requests.some(({ taken }) => taken))
    problems.push(`${id} succeeded, and no receiver took it in`)
  // The numbers of a webhook's deliveries are held against each other above.
  for (const request of requests)
    if (request.sequence !== sequence) problems.push(`${id} was sent as number ${request.sequence}, and is ${sequence}`)
  if (requests.length > attempts) problems.push(`${id} was sent ${requests.length} times in ${attempts} attempts`)
  if (state === "failed" && attempts !== MAX_ATTEMPTS) problems.push(`${id} failed after ${attempts} attempts`)
  const said = records.map(({ body }) => `${body["outcome"]} after ${body["attempts"]}`)
  // Cancelled while it waited, it leaves no record of its own.
  const needed = !unrecorded.has(type) && (state === "succeeded" || state === "failed")
  if (
    said.length > 1 ||
    (needed && said.length === 0) ||
    (said.length === 1 && said[0] !== `${state} after ${attempts}`)
  )
    problems.push(`${id} is ${state} after ${attempts}, and the records say ${said.join(", ") || "nothing"}`)
  return problems
}

/** A webhook that is given up causes one event, with its record. */
const failures = (
  records: ReadonlyArray<ReadRecord>,
  events: ReadonlyMap<string, StoredEvent>
): ReadonlyArray<string> => {
  const recorded = records
    .filter(({ body, kind }) => kind === "webhook.changed" && body["status"] === "failed")
    .map(({ body, seq }) => `${body["webhook_id"]} ${seq}`)
  const reported = new Map(
    [...events.values()]
      .filter(({ type }) => type === "webhook.failed")
      .map(({ data, id, seq }) => [id, { webhookId: String(data["webhook_id"]), seq }])
  )
  return recorded.length === reported.size
    ? []
    : [`${recorded.length} records give a webhook up (${recorded.join(", ")}), and ${reported.size} events tell of it`]
}
