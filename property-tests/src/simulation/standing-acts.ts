/**
 * Acts of clients on standing approvals of the desk: propose one from a review that was approved, grant it as another
 * person, revoke it. Requests of the desk use them up. Every number is a choice of the seed.
 */
import { StandingApprovals } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { needOf, needs, PUBLISHER } from "./desk.ts"
import { lineOf } from "./ledger.ts"
import { approvedReviews } from "./review-acts.ts"

/** How long one holds. Unit: milliseconds. */
const lives = [1_000, 10_000, 60_000] as const

/** Amounts of a box, and the pin that says so. */
const someBox = ({ pick }: Client, amount: number) => {
  const need = needOf(amount)!
  const how = pick(6)
  // Another rule asks for one of these: too wide.
  const others = needs.filter(({ rule }) => rule !== need.rule)
  const amounts = [need.from + 50, need.from + 51].filter((one) => one !== amount || how > 2)
  const values = [
    ...new Set([amount, ...amounts, ...(how === 0 ? [others[pick(others.length)]!.from + 50] : [])])
  ].toSorted((a, b) => a - b)
  return how === 1
    ? { amounts: [amount], isTooWide: false, pin: { path: "/signals/amount", eq: amount } }
    : { amounts: values, isTooWide: how === 0, pin: { path: "/signals/amount", one_of: values } }
}

/** Refusals of a proposal whose review was approved: the versions changed since, or the review was not over. */
const isOver = (tag: string): boolean => tag === "EnvelopeNotInForce" || tag === "ReviewNotApproved"

const propose: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, pick } = client
  const known = approvedReviews(ledger).slice(-4)
  const from = known[pick(Math.max(1, known.length))]
  if (from === undefined) return
  const reason = `${client.name}/${turn}`
  const count = 1 + pick(3)
  const lifeMs = lives[pick(lives.length)]!
  const { amounts, isTooWide, pin } = someBox(client, from.review.amount)
  // Now and then somebody who did not approve it.
  const by = pick(6) === 0 ? PUBLISHER : from.by
  const line = lineOf(ledger.standings, reason, () => ({ tries: 0, acknowledged: 0 }))
  const answer = yield* ask(
    client,
    "propose",
    Effect.gen(function* () {
      const { ms } = yield* (yield* Storage).asOf
      return yield* (yield* StandingApprovals).propose(
        { review_id: from.review.id, pins: [pin], count, expires_at: new Date(ms + lifeMs).toISOString(), reason },
        { id: by }
      )
    }),
    line
  )
  if (answer === null) return
  if (!answer.done) {
    const { _tag: tag } = answer.refusal
    // Its time may be over by the time the proposal arrives.
    const isFree =
      isOver(tag) ||
      (by === PUBLISHER && tag === "NotTheApprover") ||
      (isTooWide && tag === "StandingApprovalTooWide") ||
      tag === "InvalidInput"
    if (!isFree) yield* unexpected(client, "propose", tag)
    return
  }
  line.acknowledged += 1
  ledger.boxes.set(answer.value.id, { amounts, proposedBy: by, isTooWide })
})

/** One of the latest standing approvals; null when there is none. */
const someStanding = ({ ledger, pick }: Client): string | null => {
  const latest = [...ledger.boxes.keys()].slice(-3)
  return latest[pick(Math.max(1, latest.length))] ?? null
}

const grant: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const id = someStanding(client)
  if (id === null) return
  const { proposedBy } = ledger.boxes.get(id)!
  const by = pick(4) === 0 ? proposedBy : PUBLISHER
  const line = lineOf(ledger.standingGrants, id, () => ({ tries: 0, acknowledged: 0 }))
  const answer = yield* ask(
    client,
    "grant standing",
    StandingApprovals.use((approvals) => approvals.grant(id, { id: by })),
    line
  )
  if (answer === null) return
  if (answer.done) line.acknowledged += 1
  else if (
    answer.refusal._tag !== "StandingApprovalNotOpen" &&
    !(answer.refusal._tag === "SecondApproverRequired" && by === proposedBy)
  )
    yield* unexpected(client, "grant standing", answer.refusal._tag)
})

const end: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const id = pick(3) === 0 ? someStanding(client) : null
  if (id === null) return
  const line = lineOf(ledger.standingRevokes, id, () => ({ tries: 0, acknowledged: 0 }))
  const answer = yield* ask(
    client,
    "revoke standing",
    StandingApprovals.use((approvals) => approvals.revoke(id, {}, { id: PUBLISHER })),
    line
  )
  if (answer === null) return
  if (answer.done) line.acknowledged += 1
  else if (answer.refusal._tag !== "StandingApprovalNotOpen")
    yield* unexpected(client, "revoke standing", answer.refusal._tag)
})

/** The acts by name. */
export const standingActs = { propose, grantStanding: grant, revokeStanding: end } satisfies {
  readonly [name: string]: Act
}
