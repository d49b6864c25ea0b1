/**
 * Acts of clients on reviews: have actions of the desk evaluated, answer them as different people, take them up,
 * withdraw them, present what was approved, and halt the agents meanwhile. Every number is a choice of the seed.
 */
import { Agents, Envelopes, Evaluations, Reviews, systemHost } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import {
  askers,
  AUTHOR,
  BYSTANDER,
  DESK,
  deskAction,
  deskAgents,
  deskEnvelope,
  needOf,
  needs,
  OWNER,
  OWNER_EMAIL,
  people,
  PUBLISHER
} from "./desk.ts"
import { allowing } from "./governed-acts.ts"
import { activateTarget } from "./kill-acts.ts"
import { type Ledger, lineOf, type ReviewLine } from "./ledger.ts"

/** A person as the service knows one. */
export const asPerson = (id: string) => ({
  writer: { id },
  grants: [{ role: id === BYSTANDER ? "auditor" : id === AUTHOR ? "governor" : "reviewer", orgUnit: DESK }],
  email: id === OWNER ? OWNER_EMAIL : null
})

/** Both agents, registered at first sight; null when nobody knows. */
export const desk = Effect.fnUntraced(function* (client: Client) {
  const { ledger } = client
  for (const name of deskAgents) {
    if (ledger.agents.has(name)) continue
    const wanted = { name, org_unit: DESK, owner_name: "Ada", owner_email: OWNER_EMAIL }
    const made = yield* ask(
      client,
      "register",
      Agents.use((agents) => agents.register(wanted, systemHost))
    )
    if (made === null) return null
    if (!made.done) return yield* unexpected(client, "register", made.refusal._tag)
    ledger.agents.set(name, made.value.agent.id)
  }
  return deskAgents.map((name) => ledger.agents.get(name)!)
})

/** Publishes what bounds the desk, or another version of it. */
const rule: Act = Effect.fnUntraced(function* (client) {
  const ids = yield* desk(client)
  if (ids === null) return
  const found = yield* ask(
    client,
    "list envelopes",
    Envelopes.use((envelopes) => envelopes.list({}))
  )
  if (found === null || !found.done) return
  const known = found.value.find(({ org_unit: unit }) => unit === DESK)
  const envelope = deskEnvelope(client.pick(3))
  if (known === undefined) {
    const made = yield* ask(
      client,
      "begin",
      Envelopes.use((envelopes) => envelopes.create({ name: "of the desk", org_unit: DESK, envelope }, { id: AUTHOR }))
    )
    // Another client was quicker: the next turn finds it.
    if (made !== null && !made.done && made.refusal._tag !== "EnvelopeExists")
      yield* unexpected(client, "begin", made.refusal._tag)
    if (made === null || !made.done) return
    yield* publish(client, made.value.id)
    // Another version ends what waits: seldom.
  } else if (known.live_version === null || client.pick(8) === 0) {
    yield* allowing(
      client,
      "draft",
      yield* ask(
        client,
        "draft",
        Envelopes.use((envelopes) => envelopes.update(known.id, { envelope }, { id: AUTHOR }))
      )
    )
    yield* publish(client, known.id)
  }
  for (const agentId of ids)
    yield* allowing(
      client,
      "activate",
      yield* ask(
        client,
        "activate",
        Agents.use((agents) => agents.activate(agentId, systemHost))
      )
    )
})

const publish = Effect.fnUntraced(function* (client: Client, id: string) {
  yield* allowing(
    client,
    "publish",
    yield* ask(
      client,
      "publish",
      Envelopes.use((envelopes) => envelopes.publish(id, {}, { id: PUBLISHER }))
    )
  )
})

/** Has an action evaluated, and notes what came of it. */
const evaluated = Effect.fnUntraced(function* (
  client: Client,
  ref: string,
  wanted: {
    readonly agentId: string
    readonly amount: number
    /** The amount in the signals, where that is another one than in the arguments. */
    readonly said?: number
    readonly writer: string
    readonly approval?: string
  }
) {
  const { ledger } = client
  const { agentId, amount: argsAmount, approval, said: amount = argsAmount, writer } = wanted
  const line = lineOf(ledger.evaluated, ref, () => ({ agent: agentId, amount, argsAmount, receipt: null }))
  const made = yield* allowing(
    client,
    approval === undefined ? "request" : "present",
    yield* ask(
      client,
      approval === undefined ? "request" : "present",
      Evaluations.use((evaluations) =>
        evaluations.evaluate(
          {
            agent_id: agentId,
            client_ref: ref,
            signals: deskAction(amount),
            args: deskAction(argsAmount),
            ...(approval === undefined ? {} : { approval_id: approval })
          },
          { id: writer }
        )
      )
    )
  )
  if (made === null) return
  const { id, meters, outcome, review_id: reviewId, seq } = made
  line.receipt ??= { id, seq, outcome, meters }
  ledger.highestSeq = Math.max(ledger.highestSeq, seq)
  if (reviewId !== null)
    lineOf(ledger.reviews, reviewId, () => ({ id: reviewId, agentId, amount, requestedBy: writer }))
})

/** An amount that needs people; a few, so that the same action comes again. */
const someAmount = ({ pick }: Client): number => needs[pick(needs.length)]!.from + 50 + pick(2)

const request: Act = Effect.fnUntraced(function* (client, turn) {
  const { pick } = client
  const ids = yield* desk(client)
  if (ids === null) return
  yield* evaluated(client, `desk-${client.name}/${turn}`, {
    agentId: ids[pick(ids.length)]!,
    amount: someAmount(client),
    writer: askers[pick(askers.length)]!
  })
})

/** One of the latest reviews that anybody heard of; undefined when there is none. */
export const someReview = ({ ledger, pick }: Client): ReviewLine | undefined => {
  const latest = [...ledger.reviews.values()].slice(-6)
  return latest[pick(Math.max(1, latest.length))]
}

/** Presents an approval: mostly for what it is for, else for another action, another agent or with other signals. */
const present: Act = Effect.fnUntraced(function* (client, turn) {
  const { pick } = client
  const ids = yield* desk(client)
  const review = someReview(client)
  if (ids === null || review === undefined) return
  const how = pick(6)
  yield* evaluated(client, `desk-${client.name}/${turn}`, {
    agentId: how === 0 ? ids.find((id) => id !== review.agentId)! : review.agentId,
    amount: how === 1 ? review.amount + 1 : review.amount,
    ...(how === 2 ? { said: review.amount + 1 } : {}),
    writer: review.requestedBy,
    approval: review.id
  })
})

/** True when a person must not answer a review, by the rules alone. */
export const isExcluded = ({ amount, requestedBy }: ReviewLine, by: string): boolean =>
  by === requestedBy || by === AUTHOR || by === BYSTANDER || (by === OWNER && needOf(amount)?.withoutOwner === true)

const resolutions = ["approve", "approve", "approve", "approve", "reject", "amend"] as const

const resolve: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const review = someReview(client)
  if (review === undefined) return
  const by = people[pick(people.length)]!
  const resolution = resolutions[pick(resolutions.length)]!
  const line = lineOf(ledger.reviewAnswers, `${review.id} ${by}`, () => ({
    reviewId: review.id,
    by,
    tries: 0,
    acknowledged: 0,
    resolutions: new Set<string>(),
    hasApproved: false
  }))
  line.resolutions.add(resolution)
  const answer = yield* ask(
    client,
    "resolve",
    Reviews.use((reviews) => reviews.resolve(review.id, { resolution, reason: client.name }, asPerson(by))),
    line
  )
  if (answer === null) return
  if (!answer.done)
    return void (yield* refused(client, "resolve", answer.refusal._tag, isExcluded(review, by) || line.tries > 1))
  line.acknowledged += 1
  line.hasApproved = answer.value.status === "resolved" && answer.value.resolution === "approve"
})

/** A refusal of an act on a review: it is over, somebody else has it, or this person may not. */
const refused = Effect.fnUntraced(function* (client: Client, what: string, tag: string, mayNot: boolean) {
  if (tag !== "ReviewClosed" && tag !== "ReviewClaimed" && !(tag === "ReviewerNotEligible" && mayNot))
    yield* unexpected(client, what, tag)
})

const claim: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const review = someReview(client)
  if (review === undefined) return
  const by = people[pick(people.length)]!
  const acts = pick(2) === 0 ? [false] : [false, true]
  for (const give_back of acts) {
    const answer = yield* ask(
      client,
      give_back ? "give back" : "claim",
      Reviews.use((reviews) => reviews.claim(review.id, { give_back }, asPerson(by)))
    )
    if (answer === null) return
    // Who answered before takes nothing up again.
    const mayNot = isExcluded(review, by) || ledger.reviewAnswers.has(`${review.id} ${by}`)
    if (!answer.done) return void (yield* refused(client, "claim", answer.refusal._tag, mayNot))
  }
})

const withdraw: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const review = pick(2) === 0 ? someReview(client) : undefined
  if (review === undefined) return
  const line = lineOf(ledger.reviewWithdrawals, review.id, () => ({ tries: 0, acknowledged: 0 }))
  const answer = yield* ask(
    client,
    "withdraw review",
    Reviews.use((reviews) => reviews.withdraw(review.id, {}, { id: review.requestedBy })),
    line
  )
  if (answer === null) return
  if (answer.done) line.acknowledged += 1
  else if (answer.refusal._tag !== "ReviewClosed") yield* unexpected(client, "withdraw review", answer.refusal._tag)
})

/** The job that records what time, a halt or a new version ended: hosts without jobs do it when somebody asks. */
const sweep: Act = Effect.fnUntraced(function* (client) {
  yield* ask(
    client,
    "sweep",
    Reviews.use((reviews) => reviews.sweep)
  )
})

/** Reads one review, and keeps what it was shown as. */
const read: Act = Effect.fnUntraced(function* (client) {
  const review = someReview(client)
  if (review === undefined) return
  yield* shownReviews(client, client.name, [review.id])
})

/** Shows reviews by id. */
const shownReviews = Effect.fnUntraced(function* (client: Client, by: string, ids: ReadonlyArray<string>) {
  const answer = yield* ask(
    client,
    "show reviews",
    between(Effect.forEach(ids, (id) => Reviews.use((reviews) => reviews.get(id))))
  )
  if (answer?.done === true) client.ledger.reviewsShown.push({ by, ...answer.value })
  else if (answer !== null) yield* unexpected(client, "show reviews", answer.refusal._tag)
})

/** Runs what a host shows, with the heads of the chain and the times of the store between which that was. */
export const between = <A, E, R>(show: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const storage = yield* Storage
    const now = Effect.all([storage.head, storage.asOf])
    const [head, { ms: fromMs }] = yield* now
    const shown = yield* show
    const [last, { ms: toMs }] = yield* now
    return { before: head?.seq ?? -1, after: last?.seq ?? -1, fromMs, toMs, shown }
  })

/** Halts one agent of the desk; `release` lifts that again. */
const halt: Act = Effect.fnUntraced(function* (client, turn) {
  const { pick } = client
  const ids = pick(2) === 0 ? yield* desk(client) : null
  if (ids === null) return
  const response = (["halt", "quarantine", "notify"] as const)[pick(3)]!
  yield* activateTarget(client, { type: "agent", id: ids[pick(ids.length)]! }, response, `desk-${client.name}/${turn}`)
})

/** The acts by name. */
export const reviewActs = {
  rule,
  request,
  present,
  resolve,
  claim,
  withdrawReview: withdraw,
  sweep,
  read,
  halt
} satisfies { readonly [name: string]: Act }

/** Reviews that people approved, with who gave the last approval: from these standing approvals are proposed. */
export const approvedReviews = ({ reviewAnswers, reviews }: Ledger) =>
  [...reviewAnswers.values()].flatMap(({ by, hasApproved, reviewId }) => {
    const review = reviews.get(reviewId)
    return review !== undefined && hasApproved ? [{ by, review }] : []
  })
