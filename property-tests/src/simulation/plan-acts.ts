/** Acts on plans of routes, noted in the ledger. Every number is a choice of the seed. */
import { type GovernorServices, Reviews, systemHost } from "@flyball/core"
import type { Storage } from "@flyball/core/storage"
import { Effect } from "effect"
import { RoutePlans, type RoutePlansApi } from "../../../packages/platform/src/fleet/service.ts"
import { appoint, clerkOf } from "./clerks.ts"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { lineOf, type PlanLine } from "./ledger.ts"

/** The cast: hosts of these runs have the platform's services, which their type does not say. */
const using = <A, E>(use: (plans: RoutePlansApi) => Effect.Effect<A, E, GovernorServices | Storage>) =>
  RoutePlans.use(use) as Effect.Effect<A, E, GovernorServices | Storage>

const optimize: Act = Effect.fnUntraced(function* (client, turn) {
  const { ledger, name, pick } = client
  const line = lineOf(ledger.plansWanted, `${name}/${turn}`, () => ({ tries: 0, acknowledged: 0 }))
  const input = {
    vehicles: Array.from({ length: 1 + pick(2) }, (_, at) => ({ id: `v${at}`, start: place(client), capacity: [3] })),
    jobs: Array.from({ length: 1 + pick(7) }, (_, at) => ({ id: `j${at}`, location: place(client), demand: [1] })),
    seed: `${pick(100)}`,
    max_seconds: 1
  }
  const waitMs = 3_000 * pick(2)
  const answer = yield* ask(
    client,
    "optimize",
    using((plans) => plans.optimize("ops", input, systemHost, waitMs)),
    line
  )
  if (answer === null) return
  if (answer.done) {
    line.acknowledged += 1
    note(client, answer.value, null)
  } else if (answer.refusal._tag !== "RateLimitExceeded") yield* unexpected(client, "optimize", answer.refusal._tag)
})

const place = ({ pick }: Client) => ({ latitude: 52 + pick(100) / 100, longitude: 13 + pick(100) / 100 })

/** Notes what somebody was answered of a plan. `before`: what was known when they began to ask. */
const note = (
  { ledger }: Client,
  {
    id,
    plan_digest: digest,
    status
  }: { readonly id: string; readonly status: string; readonly plan_digest: string | null },
  before: string | null
): void => {
  const line = planLine(ledger.plans, id)
  const end = status === "queued" || status === "processing" ? null : `${status} ${digest}`
  if (before !== null && end !== before) ledger.problem(`plans: ${id} was ${before}, and later ${end ?? status}`)
  line.end ??= end
}

const planLine = (plans: Map<string, PlanLine>, id: string): PlanLine =>
  lineOf(plans, id, () => ({ end: null, evaluation: null }))

/** One of the latest plans that somebody knows, and what is known of its end. */
const some = ({ ledger, pick }: Client) => {
  const latest = [...ledger.plans].slice(-6)
  const [id, { end }] = latest[pick(Math.max(1, latest.length))] ?? ["", { end: null }]
  return id === "" ? null : { id, end }
}

const see: Act = Effect.fnUntraced(function* (client) {
  const plan = some(client)
  if (plan === null) return
  const answer = yield* ask(
    client,
    "see plan",
    using((plans) => plans.get("ops", plan.id))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "see plan", answer.refusal._tag))
  note(client, answer.value, plan.end)
})

const cancel: Act = Effect.fnUntraced(function* (client) {
  const plan = some(client)
  if (plan === null) return
  const answer = yield* ask(
    client,
    "cancel plan",
    using((plans) => plans.cancel("ops", plan.id, systemHost))
  )
  if (answer === null) return
  if (answer.done) note(client, answer.value, plan.end)
  else if (answer.refusal._tag !== "RoutePlanState") yield* unexpected(client, "cancel plan", answer.refusal._tag)
})

/** Dispatches a plan; where people must see it, somebody answers the review, and the next try finds the answer. */
const dispatch: Act = Effect.fnUntraced(function* (client) {
  const { ledger, pick } = client
  const [agentId, plan] = [yield* clerkOf(client), some(client)]
  if (agentId === null || plan === null) return
  const answer = yield* ask(
    client,
    "dispatch",
    using((plans) => plans.dispatch("ops", plan.id, Effect.succeed(agentId), systemHost))
  )
  if (answer === null) return
  if (answer.done) {
    const { evaluation_id: evaluation } = answer.value
    const line = planLine(ledger.plans, plan.id)
    if (line.evaluation !== null && line.evaluation !== evaluation)
      ledger.problem(`plans: ${plan.id} was dispatched under ${line.evaluation}, and later under ${evaluation}`)
    line.evaluation ??= evaluation
  } else if (answer.refusal._tag === "DispatchInReview") {
    const { reviewId } = answer.refusal
    if (reviewId === undefined) return
    const resolution = pick(4) === 0 ? ("reject" as const) : ("approve" as const)
    const by = `usr_${"0".repeat(25)}9`
    const person = { writer: { id: by }, grants: "any" as const, email: null }
    const line = lineOf(ledger.reviewAnswers, `${reviewId} ${by}`, () => ({
      reviewId,
      by,
      tries: 0,
      acknowledged: 0,
      resolutions: new Set<string>(),
      hasApproved: false
    }))
    line.resolutions.add(resolution)
    const resolved = yield* ask(
      client,
      "resolve dispatch",
      Reviews.use((reviews) => reviews.resolve(reviewId, { resolution, reason: client.name }, person)),
      line
    )
    if (resolved !== null && !resolved.done && resolved.refusal._tag !== "ReviewClosed")
      yield* unexpected(client, "resolve dispatch", resolved.refusal._tag)
  } else if (answer.refusal._tag !== "DispatchDenied" && answer.refusal._tag !== "RoutePlanState")
    yield* unexpected(client, "dispatch", answer.refusal._tag)
})

/** The acts by name. */
export const planActs = { appoint, optimize, seePlan: see, cancelPlan: cancel, dispatch } satisfies {
  readonly [name: string]: Act
}
