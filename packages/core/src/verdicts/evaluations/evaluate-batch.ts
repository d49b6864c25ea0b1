/**
 * Evaluates many requests in one critical section: planned one after the other on one state, recorded in one commit.
 *
 * A crash before the commit leaves nothing; one after it leaves all, and a retry under the same reference gets the
 * first answer.
 */
import { type AgentNotFound, ClientRefReused, detailItem, evaluationOutcomes, InvalidInput } from "@flyball/contract"
import { Effect } from "effect"
import { AGENTS, type StoredAgent } from "../../registry/agents/document.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import {
  type Awaiting,
  documentSignals,
  EVALUATION_SCOPE,
  hasLatches,
  longestWindowOf,
  readsArgs,
  type JsonMap
} from "@flyball/rules"
import { factsOfExtraction } from "../../registry/extractions/document.ts"
import { askingFor } from "@flyball/envelope"
import type { InForce, InForceReader } from "../envelopes/in-force.ts"
import { MAX_ATTEMPTS, returning } from "../../storage/commit-with-retry.ts"
import { counterBy } from "../../foundation/metrics.ts"
import type { Scope } from "../../foundation/scope.ts"
import { type StorageConflict, StorageUnavailable } from "../../storage/faults.ts"
import type {
  AsOf,
  ChangeSet,
  DocumentPut,
  ReadFault,
  RecordDraft,
  RecordReceipt,
  StorageApi
} from "../../storage/port.ts"
import {
  type ApprovalOf,
  type Concluded,
  type EvaluationStepsApi,
  noApproval,
  type PresentedBy,
  type StandingApprovalOf
} from "./ports.ts"
import { addLatches, LATCHES, readRun, type RunLatches, runPut } from "./latch-runs.ts"
import { type MeterKeeper, METERS, windowPut } from "./meter-keeper.ts"
import { type RequestedEvaluation, type EvaluationPlan, planEvaluate, type Windows } from "./plan-evaluate.ts"

const evaluations = counterBy(
  "flyball_evaluations_total",
  "Recorded evaluations by verdict. An evaluation that is answered again is not counted again.",
  "outcome",
  evaluationOutcomes
)

/** One request and its caller. */
export interface Request {
  readonly requested: RequestedEvaluation
  readonly scope: Scope
}

/** Result of a request: a new record, the record it had before, or a refusal. */
export type Evaluated =
  | { readonly kind: "made"; readonly plan: EvaluationPlan; readonly inForce: InForce; readonly receipt: RecordReceipt }
  | { readonly kind: "again"; readonly seq: number }
  | { readonly kind: "refused"; readonly refusal: AgentNotFound | ClientRefReused | InvalidInput }
  /** It reads meters, or began to since it was requested: it must wait in the queue. */
  | { readonly kind: "queued" }

/**
 * Services that evaluation uses. `keeper` is used by one batch at a time, and only by batches with something that
 * `isMetered`.
 */
export interface Evaluating {
  readonly storage: StorageApi
  readonly inForce: InForceReader
  readonly keeper: MeterKeeper
  readonly steps: EvaluationStepsApi
  /** True when the keeper is this batch's alone. */
  readonly holdsLock: boolean
}

/** Everything that was read for one request. */
interface Prepared {
  readonly request: Request
  readonly agent: StoredAgent
  readonly kill: Effect.Success<ReturnType<EvaluationStepsApi["killOf"]>>
  readonly approval: ApprovalOf
  readonly inForce: InForce
  readonly run: RunLatches | null
  /** The signals of the document that it names. */
  readonly document: ReturnType<typeof documentSignals>
}

const noSet: ReadonlySet<string> = new Set()

/**
 * Evaluates requests; answers in their order. Fails for all of them when the store does, or when what they read kept
 * changing.
 */
export const evaluateBatch = (
  context: Evaluating,
  requests: ReadonlyArray<Request>
): Effect.Effect<ReadonlyArray<Evaluated>, ReadFault> => attempt(context, requests, MAX_ATTEMPTS)

const attempt = (
  context: Evaluating,
  requests: ReadonlyArray<Request>,
  left: number
): Effect.Effect<ReadonlyArray<Evaluated>, ReadFault> =>
  Effect.catchTag(again(once(context, requests), left), "StorageConflict", (conflict: StorageConflict) => {
    if (context.holdsLock) context.keeper.invalidate(conflict)
    context.inForce.invalidate()
    return left > 1
      ? attempt(context, requests, left - 1)
      : Effect.fail(
          new StorageUnavailable({
            reason: `the documents that these evaluations read kept changing, ${MAX_ATTEMPTS} times in a row`,
            wrote: "no",
            contended: true
          })
        )
  })

const again = <A, E>(attempt: Effect.Effect<A, E>, left: number): Effect.Effect<A, E> =>
  left === MAX_ATTEMPTS ? attempt : returning(attempt)

const once = Effect.fnUntraced(function* (
  context: Evaluating,
  requests: ReadonlyArray<Request>
): Effect.fn.Return<ReadonlyArray<Evaluated>, ReadFault | StorageConflict> {
  const { keeper, storage } = context
  const answers = new Map<Request, Evaluated>()
  const fresh = yield* notYetMade(storage, requests, answers)
  const asOf = yield* storage.asOf
  const all = yield* prepareAll(context, fresh, asOf, answers)
  const reach = Math.max(
    0,
    ...all.flatMap(({ inForce }) => [
      longestWindowOf(inForce.live),
      inForce.shadow === null ? 0 : longestWindowOf(inForce.shadow)
    ])
  )
  const isAlone = all.some(({ inForce }) => isMetered(inForce))
  if (isAlone && !context.holdsLock) return requests.map(() => ({ kind: "queued" }))
  if (isAlone) yield* keeper.catchUp(asOf, reach)
  const keys = keysOf(keeper, all, asOf)
  // A window whose document was read only now may have been added to before: what the book lacks is folded, what comes
  // after conflicts.
  if (yield* keeper.learn(keys)) yield* keeper.catchUp(yield* storage.asOf, reach)
  const atMs = Math.max(asOf.ms, ...[...keys].map((key) => keeper.latestMs(keeper.of(key)!.window)))
  // A breaker that is due trips before the outcome: then all is read again, and what it activated counts. Each trip
  // latches, so that this ends.
  if (yield* context.steps.tripDue(new Set(all.map(({ agent }) => agent.id)), { ms: atMs, seq: asOf.seq }))
    return yield* once(context, requests)
  const then = yield* asOfThen(context, all, asOf.ms, atMs)
  const thenAt = { ms: atMs, seq: asOf.seq }
  const advance = yield* advanceApprovals(context, then, thenAt)
  const decided = planAll(context, then, thenAt, advance, answers)
  const planned = yield* withReviews(context.steps, decided)
  const change = changeOf(keeper, planned, keys, atMs)
  if (planned.length > 0) {
    const kept = planned.flatMap(({ records }) => records).map(({ body, kind }) => ({ kind, body: body as JsonMap }))
    const { records } = yield* storage.commit(change.set)
    keeper.put(change.put)
    if (isAlone) keeper.committed(kept, records)
    let at = 0
    for (const {
      one,
      plan,
      records: { length }
    } of planned) {
      answers.set(one.request, { kind: "made", plan, inForce: one.inForce, receipt: records[at]! })
      at += length
      yield* evaluations[plan.live.outcome].one
    }
  }
  return requests.map(
    (request) =>
      answers.get(request) ??
      answers.get(requests.find((other) => other.requested.evaluationId === request.requested.evaluationId)!)!
  )
})

/** Leaves out what was evaluated before, and what stands twice among these. */
const notYetMade = Effect.fnUntraced(function* (
  storage: StorageApi,
  requests: ReadonlyArray<Request>,
  answers: Map<Request, Evaluated>
) {
  // Made where it is needed: an error takes down its stack, which costs as much as deciding.
  const reused = (): Evaluated => ({ kind: "refused", refusal: new ClientRefReused({ indexes: [0] }) })
  const first = new Map<string, Request>()
  for (const request of requests) {
    const other = first.get(request.requested.evaluationId)
    if (other === undefined) first.set(request.requested.evaluationId, request)
    else if (other.requested.digest !== request.requested.digest) answers.set(request, reused())
  }
  const made = new Map((yield* storage.once(EVALUATION_SCOPE, [...first.keys()])).map((one) => [one.key, one]))
  return [...first.values()].filter((request) => {
    const before = made.get(request.requested.evaluationId)
    if (before !== undefined)
      answers.set(
        request,
        before.digest === null || before.digest === request.requested.digest
          ? { kind: "again", seq: before.seq }
          : reused()
      )
    return before === undefined
  })
})

const prepareAll = Effect.fnUntraced(function* (
  { inForce, steps, storage }: Evaluating,
  requests: ReadonlyArray<Request>,
  asOf: AsOf,
  answers: Map<Request, Evaluated>
) {
  const prepared: Array<Prepared> = []
  const runs = new Map<string, RunLatches>()
  for (const request of requests) {
    const { agent_id, approval_id, extraction_id, run_id } = request.requested.input
    const agent = yield* Effect.catchTag(readAgent(storage, agent_id, request.scope), "AgentNotFound", (refusal) =>
      Effect.sync(() => void answers.set(request, { kind: "refused", refusal }))
    )
    if (agent === undefined) continue
    const facts =
      typeof extraction_id === "string"
        ? yield* factsOfExtraction(storage, extraction_id, agent.body.orgUnit)
        : undefined
    if (facts === null) {
      answers.set(request, { kind: "refused", refusal: noFacts(extraction_id) })
      continue
    }
    const bound = yield* inForce.of(agent.id, agent.body.orgUnit, asOf.ms)
    const inRun = [bound.live, bound.shadow].some((binding) => hasLatches(binding?.ready))
    const runKey = `${agent.id} ${run_id ?? ""}`
    if (inRun && typeof run_id === "string" && !runs.has(runKey))
      runs.set(runKey, yield* readRun(storage, agent.id, run_id))
    prepared.push({
      request,
      agent,
      inForce: bound,
      kill: yield* steps.killOf(agent),
      approval:
        typeof approval_id === "string"
          ? yield* steps.approval(approval_id, presentedBy(request, agent.id))
          : noApproval,
      document: facts === undefined ? {} : documentSignals(facts),
      run: inRun ? (runs.get(runKey) ?? null) : null
    })
  }
  return prepared
})

const presentedBy = ({ requested: { argsPart, input, signals } }: Request, agentId: string): PresentedBy => ({
  agentId,
  actionDigest: input.action_digest ?? null,
  action: input.action ?? null,
  signals,
  redactedArgs: input.args_redacted === true ? argsPart : null
})

/** The same, as of a time that a window demands: its last contribution lies after this reading of the clock. */
const asOfThen = (
  context: Evaluating,
  prepared: ReadonlyArray<Prepared>,
  readMs: number,
  atMs: number
): Effect.Effect<ReadonlyArray<Prepared>, ReadFault> =>
  atMs === readMs
    ? Effect.succeed(prepared)
    : Effect.forEach(prepared, (one) =>
        Effect.map(context.inForce.of(one.agent.id, one.agent.body.orgUnit, atMs), (inForce) => ({ ...one, inForce }))
      )

const standingOf = ({ agent, document, inForce, kill, run }: Prepared, asOf: AsOf) => ({
  agent,
  asOf,
  document,
  inForce,
  kill,
  approved: false,
  latches: run?.set ?? noSet
})

/** The verdict, with the approval that it presents where that counts for it. */
const planOne = (one: Prepared, asOf: AsOf, windows: Windows): EvaluationPlan => {
  const { requested } = one.request
  const alone = planEvaluate(requested, standingOf(one, asOf), windows)
  return one.approval.approvedAt(one.inForce.live.layers, alone.obligations, asOf.ms)
    ? planEvaluate(requested, { ...standingOf(one, asOf), approved: true }, windows)
    : alone
}

/** Which meters and keys these evaluations read: their values on empty windows do not change that. */
const keysOf = (keeper: MeterKeeper, prepared: ReadonlyArray<Prepared>, asOf: AsOf): ReadonlySet<string> => {
  const keys = new Set<string>()
  const windowOf: Windows["windowOf"] = (trial, owner, meter, key) => {
    const name = keeper.keyOf(trial, owner, meter, key)
    keys.add(name)
    return name
  }
  for (const one of prepared)
    if (isMetered(one.inForce))
      planEvaluate(one.request.requested, standingOf(one, asOf), { windowOf, state: () => ({ value: 0, count: 0 }) })
  return keys
}

/** Reports whether an evaluation under these would read meters or latches, and so must be alone with them. */
export const isMetered = ({ live, shadow }: InForce): boolean =>
  [live.ready, shadow?.ready ?? null].some((ready) => ready !== null && (ready.meters.length > 0 || hasLatches(ready)))

interface Planned {
  readonly one: Prepared
  readonly plan: EvaluationPlan
  readonly concluded: Concluded
  /** Its record, then those of what follows. */
  readonly records: ReadonlyArray<RecordDraft>
  /** Changes that consume an approval or open a review. */
  readonly follow: ReadonlyArray<ChangeSet>
  /** The standing approval that it used, and what is left of that. */
  readonly standing: { readonly of: StandingApprovalOf; readonly left: number } | null
}

/** Standing approvals by agent. */
type Advance = ReadonlyMap<string, ReadonlyArray<StandingApprovalOf>>

/**
 * Reads the standing approvals of agents of which an evaluation would be reviewed. One that others of the same batch
 * turn into a review is not among these: it is reviewed.
 */
const advanceApprovals = Effect.fnUntraced(function* (
  { keeper, steps }: Evaluating,
  prepared: ReadonlyArray<Prepared>,
  asOf: AsOf
): Effect.fn.Return<Advance, ReadFault> {
  const found = new Map<string, ReadonlyArray<StandingApprovalOf>>()
  for (const one of prepared) {
    if (found.has(one.agent.id) || !asksForReviews(one.inForce)) continue
    const { live } = planOne(one, asOf, windowsOf(keeper, asOf))
    if (live.outcome === "require_review") found.set(one.agent.id, yield* steps.standingApprovals(one.agent.id))
  }
  return found
})

/** Reports whether anything in force can ask for a review. */
const asksForReviews = ({ live: { ready } }: InForce): boolean =>
  ready !== null &&
  (ready.combination.compiled.rules.some(({ outcome }) => outcome === "require_review") ||
    ready.combination.compiled.otherwise.includes("require_review"))

/** Amounts in the windows of meters before this batch. */
const windowsOf = (keeper: MeterKeeper, asOf: AsOf): Windows => ({
  windowOf: (trial, owner, meter, key) => keeper.of(keeper.keyOf(trial, owner, meter, key))!.window,
  state: (window, windowMs) => keeper.window(window, windowMs, asOf.ms)
})

const planAll = (
  { keeper }: Evaluating,
  prepared: ReadonlyArray<Prepared>,
  asOf: AsOf,
  advance: Advance,
  answers: Map<Request, Evaluated>
): ReadonlyArray<Planned> => {
  const before = windowsOf(keeper, asOf)
  const added = new Map<string, { value: number; count: number }>()
  const windows: Windows = {
    windowOf: before.windowOf,
    state: (window, windowMs) => {
      const { count, value } = before.state(window, windowMs)
      const more = added.get(window)
      return more === undefined ? { count, value } : { count: count + more.count, value: value + more.value }
    }
  }
  const consumed = new Set<string>()
  const used = new Map<string, number>()
  return prepared.flatMap((read): ReadonlyArray<Planned> => {
    // Consumed by one before it in the same commit: it counts once.
    const isSpent = read.approval.id !== null && consumed.has(read.approval.id)
    const one = isSpent ? { ...read, approval: noApproval } : read
    const { requested } = one.request
    const alone = planOne(one, asOf, windows)
    const standing = standingFor(advance.get(one.agent.id) ?? [], one, alone, asOf, used)
    const plan =
      standing === null
        ? alone
        : planEvaluate(
            requested,
            { ...standingOf(one, asOf), approved: true, standingApprovalId: standing.of.id },
            windows
          )
    if (standing !== null) used.set(standing.of.id, standing.left)
    if (plan.live.outcome === "require_review" && plan.record.body["action_digest"] === undefined) {
      answers.set(one.request, { kind: "refused", refusal: digestMissing() })
      return []
    }
    if (plan.live.matchedRule === "@invalid_signal" && readsArgs(one.inForce.live.ready) && isDigestOnly(requested)) {
      answers.set(one.request, { kind: "refused", refusal: argsMissing() })
      return []
    }
    for (const { amount, window } of plan.reservations) {
      const more = added.get(window) ?? { value: 0, count: 0 }
      added.set(window, { value: more.value + amount, count: more.count + 1 })
    }
    if (one.run !== null) addLatches(one.run, one.request.requested.evaluationId, plan.latches)
    const planned = followed(one, plan, standing, asOf.ms)
    if (planned.follow.length > 0) consumed.add(one.approval.id!)
    return [planned]
  })
}

const noFacts = (id: unknown): InvalidInput =>
  new InvalidInput({
    detail: [
      detailItem(
        ["body", "extraction_id"],
        "value_error",
        "Expected the id of a completed extraction in the org unit of the agent",
        id
      )
    ]
  })

const digestMissing = (): InvalidInput =>
  new InvalidInput({
    detail: [
      detailItem(
        ["body", "action_digest"],
        "missing",
        "This action needs a review, and an approval is bound to its arguments. Send `args`, or their digest"
      )
    ]
  })

/** Reports whether the request names its arguments by their digest and does not have them. */
const isDigestOnly = ({ argsPart, input }: RequestedEvaluation): boolean =>
  argsPart === null && input.action_digest !== null

const argsMissing = (): InvalidInput =>
  new InvalidInput({
    detail: [
      detailItem(
        ["body", "args"],
        "missing",
        "The envelope in force reads signals from the arguments, and a digest does not show them. Send `args`"
      )
    ]
  })

/** The oldest standing approval that approves what would be reviewed; null where none does. */
const standingFor = (
  candidates: ReadonlyArray<StandingApprovalOf>,
  { agent, inForce: { live }, request: { requested } }: Prepared,
  plan: EvaluationPlan,
  { ms: atMs }: AsOf,
  used: ReadonlyMap<string, number>
): Planned["standing"] => {
  if (candidates.length === 0 || plan.live.outcome !== "require_review" || live.ready === null) return null
  const { args, argsPart, input, signals } = requested
  const awaiting: Awaiting = {
    agentId: agent.id,
    layers: plan.live.layers,
    asks: askingFor(live.ready.combination.compiled, plan.live.trace),
    inputs: {
      action: input.action ?? null,
      signals,
      args: argsPart === null ? undefined : args()
    },
    isRedacted: input.args_redacted === true,
    atMs
  }
  for (const of of candidates) {
    const left = used.get(of.id) ?? of.left
    if (of.approves(awaiting, left)) return { of, left: left - 1 }
  }
  return null
}

/** A verdict with the use of the approval that it presents, or of a standing one. */
const followed = (one: Prepared, plan: EvaluationPlan, standing: Planned["standing"], atMs: number): Planned => {
  const { requested } = one.request
  const digest = plan.record.body["action_digest"]
  const { layers, matchedRule, outcome } = plan.live
  const concluded: Concluded = {
    evaluationId: requested.evaluationId,
    agentId: one.agent.id,
    outcome,
    matchedRule,
    kill: one.kill.state,
    layers,
    obligations: plan.obligations,
    actionDigest: typeof digest === "string" ? digest : null,
    writer: requested.writer,
    atMs
  }
  const consumed = one.approval.consumed(concluded)
  return {
    one,
    plan,
    concluded,
    records: [
      plan.record,
      ...(standing === null ? [] : [standing.of.used(standing.left, requested.evaluationId, requested.writer)]),
      ...(consumed?.records ?? [])
    ],
    follow: consumed === null ? [] : [consumed],
    standing
  }
}

/** The same with the reviews that verdicts open, or that are open already. */
const withReviews = Effect.fnUntraced(function* (
  steps: EvaluationStepsApi,
  decided: ReadonlyArray<Planned>
): Effect.fn.Return<ReadonlyArray<Planned>, ReadFault> {
  const inCommit = { consumed: new Set<string>(), opened: new Map<string, string>() }
  return yield* Effect.forEach(decided, (planned) => {
    const { concluded, follow, one, plan, records } = planned
    if (follow.length > 0) inCommit.consumed.add(one.approval.id!)
    if (concluded.outcome !== "require_review") return Effect.succeed(planned)
    const presented = one.approval.reviewAt(concluded.layers, concluded.atMs)
    return Effect.map(
      presented === null
        ? steps.review(concluded, presentedBy(one.request, one.agent.id), inCommit)
        : Effect.succeed({ reviewId: presented, change: {} as ChangeSet }),
      ({ change, reviewId }): Planned => {
        if (reviewId === null) return planned
        const record = { ...plan.record, body: { ...plan.record.body, review_id: reviewId } }
        return {
          ...planned,
          plan: { ...plan, record },
          records: [record, ...(change.records ?? []), ...records.slice(1)],
          follow: [...follow, change]
        }
      }
    )
  })
})

const changeOf = (
  keeper: MeterKeeper,
  planned: ReadonlyArray<Planned>,
  keys: ReadonlySet<string>,
  atMs: number
): { readonly set: ChangeSet; readonly put: ReadonlyArray<string> } => {
  const added = new Set(planned.flatMap(({ plan }) => plan.reservations.map(({ window }) => window)))
  const put: Array<string> = []
  const puts: Array<DocumentPut> = []
  const expects = new Map<string, { readonly collection: string; readonly id: string; readonly version: number }>()
  // Two requests may have read one document at two times. The older version is expected: what was planned on it
  // conflicts, and is planned again.
  const expect = (one: { readonly collection: string; readonly id: string; readonly version: number }): void => {
    const key = `${one.collection} ${one.id}`
    const other = expects.get(key)
    if (other === undefined || one.version < other.version) expects.set(key, one)
  }
  for (const key of keys) {
    const { version, window } = keeper.of(key)!
    if (version > 0 && !added.has(window)) expect({ collection: METERS, id: window, version })
    else {
      puts.push(windowPut(window, version, key, atMs))
      put.push(key)
    }
  }
  const runs = new Set(planned.flatMap(({ one }) => one.run ?? []))
  for (const run of runs) {
    const changed = runPut(run)
    if (changed === null) expect({ collection: LATCHES, id: run.id, version: run.version })
    else puts.push(changed)
  }
  for (const { follow, one } of planned) {
    expect({ collection: AGENTS, id: one.agent.id, version: one.agent.version })
    for (const all of [one.inForce.expects, one.kill.expects, one.approval.expects, ...follow.map(expectsOf)])
      all.forEach(expect)
    puts.push(...follow.flatMap((change) => change.puts ?? []))
  }
  // The last use in this commit says what is left.
  for (const { of, left } of new Map(
    planned.flatMap(({ standing }) => (standing === null ? [] : [[standing.of.id, standing] as const]))
  ).values())
    puts.push(of.put(left))
  for (const { collection, id } of puts) expects.delete(`${collection} ${id}`)
  const sealBefore = planned.flatMap(({ follow, standing }) => [
    ...follow.flatMap(({ sealBeforeMs }) => sealBeforeMs ?? []),
    ...(standing === null ? [] : [standing.of.endsAtMs])
  ])
  return {
    put,
    // What another process made meanwhile is in its window already: those planned behind it here would count it twice.
    set: {
      expectNew: true,
      // Of a batch of many keys, the first one's.
      turn: { class: "verdict", key: planned[0]?.one.request.requested.writer.id ?? "" },
      expects: [...expects.values()],
      ...(sealBefore.length === 0 ? {} : { sealBeforeMs: Math.min(...sealBefore) }),
      puts,
      records: planned.flatMap(({ records }) => records),
      events: planned.flatMap(({ follow, plan }) => [
        ...plan.events,
        ...follow.flatMap((change) => change.events ?? [])
      ])
    }
  }
}

const expectsOf = ({ expects }: ChangeSet): NonNullable<ChangeSet["expects"]> => expects ?? []
