/**
 * Reviews: an approval is used at most once, by the action and signals that people saw, of the agent that they saw,
 * before its end; no question is open twice at a time;
 * enough different people gave it, none of whom may not; an item ends once, and not by an answer where its time, a halt
 * or another version ended it; and in the end every host shows what the records say.
 *
 * What an action needs is read off its amount (desk.ts), without any code of the service.
 */
import { Effect } from "effect"
import { AUTHOR, BYSTANDER, deskAgents, digestOfAmount, type Need, needOf, OWNER } from "../desk.ts"
import type { ReviewsShownLine } from "../ledger.ts"
import type { Review } from "@flyball/contract"
import { type Checked, type Checker, type ReadRecord, recordsBy } from "./checked.ts"

/** Follows every review by hand, record by record. */
export const reviewsChecker: Checker = (world) =>
  Effect.sync(() => {
    const { problems, states } = followed(world)
    return [...problems, ...covered(world), ...acknowledged(world), ...shown(world, states)].map(
      (problem) => `reviews: ${problem}`
    )
  })

/** A review after one of its records. */
interface State {
  readonly id: string
  readonly agentId: string
  readonly amount: number
  readonly need: Need
  readonly digest: string
  readonly layers: string
  readonly requestedBy: string
  readonly expiresAtMs: number
  readonly approvedBy: ReadonlyArray<string>
  readonly answeredBy: ReadonlyArray<string>
  readonly end: "approve" | "reject" | "amend" | "expired" | "cancelled" | null
  readonly cause: Review["cancel_cause"]
  readonly usedBy: string | null
  /** A halt reached its agent since it was opened. */
  readonly wasHalted: boolean
}

/** The reviews after each record that changed one, oldest first. */
type States = ReadonlyArray<{ readonly seq: number; readonly reviews: ReadonlyMap<string, State> }>

/** Versions that bound an action, as text. */
const layersOf = (body: ReadRecord["body"]): string =>
  JSON.stringify(
    ((body["layers"] ?? []) as unknown as ReadonlyArray<{ envelope_id: string; version: number }>).map((one) => [
      one.envelope_id,
      one.version
    ])
  )

/** The state besides reviews: halted agents, and the version that bounds the desk. */
class Around {
  readonly #live = new Map<string, string>()
  #layers = "[]"
  #envelopeId: string | null = null

  take({ body, kind }: ReadRecord, isOfDesk: (envelopeId: string) => boolean): string | null {
    const id = String(body["activation_id"])
    if (kind === "kill.released") this.#live.delete(id)
    if (kind === "envelope.published" && isOfDesk(String(body["envelope_id"]))) {
      this.#envelopeId = String(body["envelope_id"])
      this.#layers = JSON.stringify([[this.#envelopeId, body["version"]]])
    }
    if (kind !== "kill.activated" || !["halt", "quarantine"].includes(String(body["response"]))) return null
    this.#live.set(id, String(body["target_id"]))
    return String(body["target_id"])
  }

  isHalted(agentId: string): boolean {
    return [...this.#live.values()].includes(agentId)
  }

  get layers(): string {
    return this.#layers
  }
}

const followed = ({ ledger, records }: Checked): { readonly states: States; readonly problems: Array<string> } => {
  const problems: Array<string> = []
  const around = new Around()
  const deskIds = new Set(deskAgents.map((name) => ledger.agents.get(name)))
  // The desk is the only unit with an envelope: all others are of one agent.
  const ofUnits = new Set(
    records.filter(({ agentId, kind }) => kind === "envelope.drafted" && agentId === null).map(envelopeIdOf)
  )
  let reviews: ReadonlyMap<string, State> = new Map()
  const states: Array<States[number]> = [{ seq: -1, reviews }]
  for (const [place, record] of records.entries()) {
    const { body, kind, seq } = record
    const halted = around.take(record, (id) => ofUnits.has(id))
    if (halted !== null)
      reviews = new Map(
        [...reviews].map(([id, one]) => [
          id,
          one.agentId === halted && one.end === null ? { ...one, wasHalted: true } : one
        ])
      )
    if (!kind.startsWith("review.") || !deskIds.has(String(body["agent_id"]))) continue
    const id = String(body["review_id"])
    const before = reviews.get(id)
    const after =
      kind === "review.opened"
        ? opened(id, record, records[place - 1], ledger, problems)
        : before === undefined
          ? null
          : changed(before, record, { ledger, records }, around, problems)
    if (kind === "review.opened" ? before !== undefined : before === undefined)
      problems.push(`${id} is opened ${before === undefined ? "by nothing" : "twice"}, at ${seq}`)
    if (kind === "review.opened" && after !== null) problems.push(...openTwice(after, record, reviews))
    if (after === null) continue
    reviews = new Map([...reviews, [id, after]])
    states.push({ seq, reviews })
  }
  for (const one of reviews.values())
    if (one.end === null && one.wasHalted) problems.push(`${one.id} lives on, and a halt reached its agent`)
  return { states, problems }
}

const envelopeIdOf = ({ body }: ReadRecord): string => String(body["envelope_id"])

const opened = (
  id: string,
  { agentId, body, seq }: ReadRecord,
  made: ReadRecord | undefined,
  ledger: Checked["ledger"],
  problems: Array<string>
): State | null => {
  const amount = ledger.evaluated.get(String(made?.body["client_ref"]))?.amount
  const need = amount === undefined ? undefined : needOf(amount)
  if (made?.kind !== "evaluation.made" || made.body["review_id"] !== id || amount === undefined || need === undefined) {
    problems.push(`${id} opens at ${seq}, and the record before it needs none`)
    return null
  }
  const { argsAmount = amount } = ledger.evaluated.get(String(made.body["client_ref"]))!
  const digest = digestOfAmount(argsAmount)
  const wanted = [agentId, made.body["evaluation_id"], digest, need.rule, made.body["writer"]]
  const found = ["agent_id", "evaluation_id", "action_digest", "matched_rule", "writer"].map((name) => body[name])
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    problems.push(`${id} opens for ${JSON.stringify(found)}: its evaluation is ${JSON.stringify(wanted)}`)
  const expiresAtMs = Number(made.body["as_of_ms"]) + need.ttlMs
  if (body["expires_at_ms"] !== expiresAtMs)
    problems.push(`${id} ends at ${String(body["expires_at_ms"])}: ${expiresAtMs} is ${need.ttlMs} ms after it opened`)
  return {
    id,
    agentId: String(agentId),
    amount,
    need,
    digest,
    layers: layersOf(made.body),
    requestedBy: String(made.body["writer"]),
    expiresAtMs,
    approvedBy: [],
    answeredBy: [],
    end: null,
    cause: null,
    usedBy: null,
    wasHalted: false
  }
}

/** A review that asks what another one asks already, or that people approved and nothing used yet. */
const openTwice = (
  { agentId, amount, digest, id, layers, requestedBy }: State,
  { body, seq }: ReadRecord,
  reviews: ReadonlyMap<string, State>
): ReadonlyArray<string> =>
  [...reviews.values()].flatMap((one) =>
    one.agentId === agentId &&
    one.amount === amount &&
    one.digest === digest &&
    one.layers === layers &&
    one.requestedBy === requestedBy &&
    one.expiresAtMs > Number(body["opened_at_ms"]) &&
    // What a halt ended is over before that is on record, and gives its place to the new one.
    ((one.end === null && !one.wasHalted) || (one.end === "approve" && one.usedBy === null))
      ? [`${id} opens at ${seq}, and asks the same as ${one.id}`]
      : []
  )

const changed = (
  before: State,
  { body, kind, seq }: ReadRecord,
  checked: Pick<Checked, "ledger" | "records">,
  around: Around,
  problems: Array<string>
): State => {
  const { id } = before
  const writer = String(body["writer"])
  const wrong = (what: string): number => problems.push(`${id} ${what}, at ${seq}`)
  if (kind === "review.consumed") return consumed(before, body, checked, wrong)
  if (kind !== "review.presented" && before.end !== null) wrong(`has ${kind} after it was over (${before.end})`)
  if (kind === "review.claimed" && mayNot(before, writer))
    wrong(`is taken up by ${writer}, who ${mayNot(before, writer)}`)
  if (kind === "review.expired") {
    if (body["expires_at_ms"] !== before.expiresAtMs) wrong("expires at another time than its own")
    return { ...before, end: "expired" }
  }
  if (kind === "review.cancelled")
    return { ...before, end: "cancelled", cause: String(body["cause"]) as State["cause"] }
  if (kind !== "review.resolved") return before
  const resolution = String(body["resolution"]) as "approve" | "reject" | "amend"
  const who = mayNot(before, writer)
  if (who !== null) wrong(`is answered by ${writer}, who ${who}`)
  if (before.answeredBy.includes(writer)) wrong(`is answered twice by ${writer}`)
  if (Number(body["resolved_at_ms"]) >= before.expiresAtMs)
    wrong(`is answered ${Number(body["resolved_at_ms"]) - before.expiresAtMs} ms after its end`)
  if (around.isHalted(before.agentId)) wrong("is answered while its agent is halted")
  else if (before.wasHalted) wrong("is answered, and a halt ended it")
  if (around.layers !== before.layers) wrong(`is answered under ${around.layers}, and opened under ${before.layers}`)
  const approvedBy = resolution === "approve" ? [...before.approvedBy, writer] : before.approvedBy
  const ends = resolution !== "approve" || new Set(approvedBy).size >= before.need.approvals
  if (body["ends"] !== ends)
    wrong(
      `${body["ends"] === true ? "ends" : "goes on"} with ${approvedBy.length} of ${before.need.approvals} approvals`
    )
  return {
    ...before,
    approvedBy,
    answeredBy: [...before.answeredBy, writer],
    end: body["ends"] === true ? resolution : before.end
  }
}

/** Why a person may not answer; null where nothing is in the way. */
const mayNot = ({ need, requestedBy }: State, writer: string): string | null =>
  writer === requestedBy
    ? "requested it"
    : writer === AUTHOR
      ? "wrote its envelope"
      : writer === OWNER && need.withoutOwner
        ? "owns its agent"
        : writer === BYSTANDER
          ? "has no such role"
          : writer.startsWith("usr_")
            ? null
            : "is no person"

/** Checks the use or the end of an approval: the very action, in time, once. */
const consumed = (
  before: State,
  body: ReadRecord["body"],
  { ledger, records }: Pick<Checked, "ledger" | "records">,
  wrong: (what: string) => number
): State => {
  const evaluationId = String(body["evaluation_id"])
  const made = records.find(
    ({ body: one, kind }) => kind === "evaluation.made" && one["evaluation_id"] === evaluationId
  )
  if (before.usedBy !== null) wrong(`is consumed twice: by ${before.usedBy} and ${evaluationId}`)
  if (before.end !== "approve") wrong(`is consumed, and is ${before.end ?? "open"}`)
  if (made === undefined || made.body["approval_id"] !== before.id) wrong("is consumed by what does not present it")
  else {
    if (made.agentId !== before.agentId) wrong("is consumed by another agent")
    if (made.body["action_digest"] !== before.digest) wrong("is consumed by another action")
    if (ledger.evaluated.get(String(made.body["client_ref"]))?.amount !== before.amount)
      wrong("is consumed by other signals")
    if (Number(made.body["as_of_ms"]) >= before.expiresAtMs) wrong("is consumed after its end")
    const isAllowed = made.body["outcome"] === "allow"
    if ((body["result"] === "used") !== isAllowed)
      wrong(`is ${String(body["result"])} by an evaluation that comes out at ${String(made.body["outcome"])}`)
    if (isAllowed && layersOf(made.body) !== before.layers) wrong("is used under other versions than people saw")
  }
  return { ...before, usedBy: evaluationId }
}

/** Nothing that needs people is allowed without them: each such evaluation used one approval of either kind. */
const covered = ({ ledger, records }: Checked): ReadonlyArray<string> => {
  const deskIds = new Set(deskAgents.map((name) => ledger.agents.get(name)))
  const uses = [
    recordsBy(records, "review.consumed", ({ body }) => String(body["evaluation_id"])),
    recordsBy(records, "standing_approval.used", ({ body }) => String(body["evaluation_id"]))
  ]
  return records.flatMap(({ agentId, body, kind, seq }) => {
    if (kind !== "evaluation.made" || !deskIds.has(agentId ?? "")) return []
    const amount = ledger.evaluated.get(String(body["client_ref"]))?.amount
    if (amount === undefined || needOf(amount) === undefined || body["outcome"] !== "allow") return []
    const used = uses
      .flatMap((by) => by.get(String(body["evaluation_id"])) ?? [])
      .filter((one) => one.kind !== "review.consumed" || one.body["result"] === "used")
    return used.length === 1 ? [] : [`${seq} is allowed with ${used.length} approvals of ${amount}`]
  })
}

/** Checks that what was acknowledged is there, and nothing that nobody wanted. */
const acknowledged = ({ ledger, records }: Checked): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const answers = recordsBy(
    records,
    "review.resolved",
    ({ body }) => `${String(body["review_id"])} ${String(body["writer"])}`
  )
  for (const [key, found] of answers) {
    const line = ledger.reviewAnswers.get(key)
    if (found.some(({ body }) => line?.resolutions.has(String(body["resolution"])) !== true))
      problems.push(`${key} answered, and nobody wanted that`)
  }
  for (const [key, { acknowledged: sure, tries }] of ledger.reviewAnswers) {
    const times = answers.get(key)?.length ?? 0
    if (times < sure || times > tries)
      problems.push(`${key} answered ${times} times, of ${tries} tries ${sure} were acknowledged`)
  }
  const withdrawn = recordsBy(
    records.filter(({ body }) => body["cause"] === "withdrawn"),
    "review.cancelled",
    ({ body }) => String(body["review_id"])
  )
  for (const id of withdrawn.keys())
    if (!ledger.reviewWithdrawals.has(id)) problems.push(`${id} is withdrawn, and nobody wanted that`)
  for (const [id, line] of ledger.reviewWithdrawals)
    if (line.acknowledged > (withdrawn.get(id)?.length ?? 0))
      problems.push(`${id} was acknowledged as withdrawn, and is not`)
  return problems
}

/** Every host shows of each review what the records, and the time, say. */
const shown = ({ ledger }: Checked, states: States): ReadonlyArray<string> => [
  ...ledger.reviewsShown.flatMap((line) => line.shown.flatMap((one) => asRecorded(line, one, states))),
  ...ledger.reviewsListed.flatMap((line) => {
    const last = states.findLast(({ seq }) => seq <= line.after)!.reviews
    const missing = [...last.keys()].filter((id) => !line.shown.some((one) => one.id === id))
    return [
      ...missing.map((id) => `${line.by} does not list ${id}`),
      // The governed agent has reviews too, which nobody answers.
      ...line.shown
        .filter((one) => deskAgents.some((name) => ledger.agents.get(name) === one.agent_id))
        .flatMap((one) => asRecorded(line, one, states))
    ]
  })
]

const asRecorded = (line: ReviewsShownLine, one: Review, states: States): ReadonlyArray<string> => {
  const found = text(one.status, one)
  const first = states.findLastIndex(({ seq }) => seq <= line.before)
  const possible = states
    .slice(first)
    .filter(({ seq }) => seq <= line.after)
    .flatMap(({ reviews }) => {
      const state = reviews.get(one.id)
      return state === undefined
        ? []
        : statusesOf(state, line, one.status).map((status) =>
            text(status, {
              resolution: state.end !== null && isResolution(state.end) ? state.end : null,
              approvals_given: state.approvedBy.length,
              resolved_by: state.answeredBy,
              consumed_by: state.usedBy,
              cancel_cause: state.cause
            })
          )
    })
  return possible.includes(found) || isOverUnrecorded(one, line)
    ? []
    : [`${line.by} shows ${one.id} as ${found}: the records say ${possible.at(-1)}`]
}

/** A reader knows of a halt, or of another version, before that is recorded of the review. */
const isOverUnrecorded = (one: Review, { shown: all }: ReviewsShownLine): boolean =>
  all.length === 1 && one.status === "cancelled" && one.cancel_cause !== "withdrawn"

const isResolution = (end: string): end is "approve" | "reject" | "amend" =>
  ["approve", "reject", "amend"].includes(end)

const statusesOf = (
  { end, expiresAtMs }: State,
  { fromMs, toMs }: ReviewsShownLine,
  claimed: string
): ReadonlyArray<string> => {
  if (end !== null) return [isResolution(end) ? "resolved" : end]
  return [
    // The clock of the store may step back in between.
    ...(Math.min(fromMs, toMs) < expiresAtMs ? ["open", ...(claimed === "claimed" ? ["claimed"] : [])] : []),
    ...(Math.max(fromMs, toMs) >= expiresAtMs ? ["expired"] : [])
  ]
}

const text = (
  status: string,
  one: Pick<Review, "resolution" | "approvals_given" | "resolved_by" | "consumed_by" | "cancel_cause">
): string =>
  JSON.stringify([status, one.resolution, one.approvals_given, one.resolved_by, one.consumed_by, one.cancel_cause])
