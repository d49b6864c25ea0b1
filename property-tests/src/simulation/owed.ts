/** The outbox of a world at rest, read without our own services. */
import { type Delivery, type StorageApi, WEBHOOKS } from "@flyball/core/storage"
import { Effect } from "effect"

/** Rows of one page. The port's bound. */
const PAGE = 1_000

/** All deliveries to one webhook, oldest first. */
export const deliveriesTo = Effect.fnUntraced(function* (storage: StorageApi, endpointId: string) {
  const found: Array<Delivery> = []
  for (let before: number | undefined; ;) {
    const page: ReadonlyArray<Delivery> = yield* storage.outbox.deliveriesOf(endpointId, {
      limit: PAGE,
      ...(before === undefined ? {} : { before })
    })
    found.push(...page)
    if (page.length < PAGE) return found.toReversed()
    before = page.at(-1)!.sequence
  }
})

/** Deliveries of all webhooks that wait or are under way. */
export const owedDeliveries = Effect.fnUntraced(function* (storage: StorageApi) {
  const webhooks = yield* storage.list(WEBHOOKS)
  const all = yield* Effect.forEach(webhooks, ({ id }) => deliveriesTo(storage, id))
  return all.flat().filter(({ state }) => state === "pending" || state === "in_flight")
})
