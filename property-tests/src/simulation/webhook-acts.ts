/** Acts on webhooks, noted in the ledger. Every number is a choice of the seed. */
import { Webhooks, systemHost } from "@flyball/core"
import type { EventType } from "@flyball/contract"
import { Effect } from "effect"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { lineOf } from "./ledger.ts"
import { addressOf, moods } from "./receivers.ts"
import { START_MS } from "./virtual-time.ts"

/** The events of a webhook: those that clients' other acts cause. */
const types: ReadonlyArray<EventType> = [
  "agent.registered",
  "capture.gap",
  "key.minted",
  "key.revoked",
  "evidence.exported",
  "evaluation.denied",
  "chain.checkpoint",
  "webhook.failed"
]

const subscribe: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const mood = moods[pick(moods.length)]!
  const url = addressOf(`${client.name}/${turn}`, mood)
  const line = lineOf(ledger.webhooks, url, () => ({ tries: 0, acknowledged: 0 }))
  const events = types.filter((_, index) => index === 0 || pick(2) === 0)
  const answer = yield* ask(
    client,
    "subscribe",
    Webhooks.use((webhooks) => webhooks.create({ url, events }, systemHost)),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "subscribe", answer.refusal._tag))
  line.acknowledged += 1
  ledger.webhookIds.push(answer.value.id)
})

/** Some acknowledged webhook; null when there is none. */
const some = ({ ledger: { webhookIds }, pick }: Client): string | null =>
  webhookIds[pick(Math.max(1, webhookIds.length))] ?? null

/** Ends it, for a time or for good, or has it sent to again. */
const turnOff: Act = Effect.fnUntraced(function* (client) {
  const id = some(client)
  if (id === null) return
  const how = client.pick(6)
  const answer = yield* ask(
    client,
    "switch",
    Webhooks.use((webhooks) =>
      how === 5
        ? webhooks.revoke(id, systemHost)
        : how > 2
          ? webhooks.disable(id, systemHost)
          : webhooks.enable(id, systemHost)
    )
  )
  if (answer !== null && !answer.done && answer.refusal._tag !== "WebhookRevoked")
    yield* unexpected(client, "switch", answer.refusal._tag)
})

/** Has one of its deliveries tried at once, or owed again. */
const redeliver: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const id = some(client)
  if (id === null) return
  const seen = yield* ask(
    client,
    "deliveries",
    Webhooks.use((webhooks) => webhooks.deliveries(id, { limit: 4 }))
  )
  if (seen === null) return
  if (!seen.done) return void (yield* unexpected(client, "deliveries", seen.refusal._tag))
  const delivery = seen.value[pick(Math.max(1, seen.value.length))]
  if (delivery === undefined) return
  ledger.hurried.add(delivery.id)
  const again = lineOf(ledger.owedAgain, `${id} ${delivery.event_id}`, () => ({ tries: 0, acknowledged: 0 }))
  const answer = yield* ask(
    client,
    "redeliver",
    Webhooks.use((webhooks) => webhooks.redeliver(id, delivery.id)),
    again
  )
  if (
    answer !== null &&
    !answer.done &&
    answer.refusal._tag !== "WebhookNotActive" &&
    answer.refusal._tag !== "DeliveryUnfinished"
  )
    yield* unexpected(client, "redeliver", answer.refusal._tag)
})

/** Since before the world began, by any host's clock within the 14 days that are allowed. */
const SINCE = new Date(START_MS - 5 * 86_400_000).toISOString()

/** Weeks that may go by, one after the other, while a call is tried again. */
const MOST_FAR = 4

/**
 * A week behind the earliest time that a refusal names: the store's clock may continue for hours until a call that is
 * tried again gets through.
 */
const inAWeekOf = (refusal: { readonly _tag: string }): string => {
  const [, earliest] = /from (\S+) on/.exec(JSON.stringify(refusal)) ?? []
  return new Date(Date.parse(earliest ?? "") + 7 * 86_400_000).toISOString()
}

const recover: Act = Effect.fnUntraced(function* (client) {
  const id = some(client)
  if (id === null) return
  const line = lineOf(client.ledger.recoveries, id, () => ({ tries: 0, acknowledged: 0 }))
  const since = (from: string) =>
    ask(
      client,
      "recover",
      Webhooks.use((webhooks) => webhooks.recover(id, { since: from })),
      line
    )
  let answer = yield* since(SINCE)
  // A store with a clock of its own may be far from the world's beginning. It says how far back it goes.
  for (
    let tries = 0;
    tries < MOST_FAR && answer !== null && !answer.done && answer.refusal._tag === "InvalidInput";
    tries++
  )
    answer = yield* since(inAWeekOf(answer.refusal))
  if (answer !== null && !answer.done && answer.refusal._tag !== "WebhookNotActive")
    yield* unexpected(client, "recover", answer.refusal._tag)
})

/** The acts by name. */
export const webhookActs = { subscribe, switch: turnOff, redeliver, recover } satisfies { readonly [name: string]: Act }
