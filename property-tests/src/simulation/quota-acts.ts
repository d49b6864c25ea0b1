/** Acts on monthly quotas, noted in the ledger. Every number is a choice of the seed. */
import { Quotas } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ask, unexpected } from "./client.ts"

/** Fewer than the clients want. */
export const LIMIT = 40
/** A promise that holds to the end of the run, and one that lapses in its midst. Unit: milliseconds. */
const HELD_MS = { tokens: 30 * 86_400_000, documents: 2_000 }

const reserve: Act = Effect.fnUntraced(function* (client) {
  const resource = client.pick(3) === 0 ? "documents" : "tokens"
  const use = { unit: "ops", resource, amount: 1 + client.pick(9), limit: LIMIT }
  const answer = yield* ask(
    client,
    "reserve",
    Quotas.use((quotas) => quotas.reserve(use, HELD_MS[resource]))
  )
  // Nothing refuses a question: it is answered that nothing is reserved.
  if (answer === null || !answer.done) return
  const { value } = answer
  if (value.reserved) client.ledger.reservations.set(value.reservation.id, { ...value.reservation, actual: null })
  else if (value.used + use.amount <= LIMIT)
    client.ledger.problem(`quotas: ${use.amount} were refused, and ${value.used} of ${LIMIT} are used`)
})

/** Settles one with at most what it reserved: its answer may be lost, and it is settled again. */
const settle: Act = Effect.fnUntraced(function* (client) {
  const open = [...client.ledger.reservations.values()].filter(({ actual }) => actual === null)
  const line = open[client.pick(Math.max(1, open.length))]
  if (line === undefined) return
  line.actual = client.pick(line.amount + 1)
  const { actual } = line
  const answer = yield* ask(
    client,
    "settle quota",
    Quotas.use((quotas) => quotas.settle(line, actual))
  )
  if (answer !== null && !answer.done) yield* unexpected(client, "settle quota", answer.refusal._tag)
})

const lapse: Act = Effect.fnUntraced(function* (client) {
  yield* ask(
    client,
    "return lapsed",
    Quotas.use(({ returnLapsed }) => returnLapsed)
  )
})

/** The acts by name. */
export const quotaActs = { reserveQuota: reserve, settleQuota: settle, returnLapsed: lapse } satisfies {
  readonly [name: string]: Act
}
