/**
 * Runs an action only where it may run: halts, then the verdict, then halts again, right before the effect.
 *
 * A throw anywhere before the effect means that it did not run. Spec: envelopes.md 3.10 and 3.12.
 */
import { UNKNOWN } from "@flyball/envelope"
import { DecisionRefused, type Recorder } from "../capture/recorder.ts"
import { formOf } from "../capture/form-of.ts"
import { isRecordedWhole, recordable, type Recording } from "../capture/recordable.ts"
import { awaitedPause, type ClientClock } from "../clock.ts"
import type { Caller } from "../http/caller.ts"
import { type EffectClass, stoppedSentence } from "../kill/kill-view.ts"
import type { KillWatch } from "../kill/kill-watch.ts"
import { keepAll, type Redact, REDACTED, redactBoth, redactMembers, redactSafely } from "../redact.ts"
import type { Refs } from "../refs.ts"
import type { EnvelopeCache } from "../local/envelope-cache.ts"
import type { GivenLocally } from "../local/read-envelopes.ts"
import { MAX_HOLD_MS, type Reviews } from "../reviews/reviews.ts"
import type { CaptureTier, Decision, Evaluation, EvaluationRequest, Json, Outcome, Settlement } from "../wire.ts"
import { actionDigest, keyedActionDigest } from "../action-digest.ts"
import { isUnchanged, snapshotOf } from "./arguments.ts"
import { ActionDenied } from "./denied.ts"
import { type ActionSignals, declaredOf, type Signals } from "./signals.ts"
import { makePendingReviews } from "./pending-reviews.ts"
import { isPermission, type LocalRule, opensReview, type Verdict, verdictOf } from "./verdict.ts"

/** An action to guard. */
export interface Action {
  /** The tool's name, as the envelope calls it. */
  readonly name: string
  readonly toolServer?: string
  readonly runId?: string
  readonly step?: number
  /** Capture tier of the decisions; `self_reported` where it is left out. */
  readonly capture?: CaptureTier
  /** `read` for what changes nothing outside the agent; `side_effect` where it is left out. */
  readonly effect?: EffectClass
  /** Signals of the envelope, sent as they are; left out, they are those of the client's option `signals`. */
  readonly signals?: { readonly [name: string]: Json }
  /** A review that a person approved for this very action. */
  readonly approvalId?: string
  /** The extraction of the document that it acts on: the service alone decides by its facts. */
  readonly extractionId?: string
  /**
   * Is given a verdict `require_review`, and answers the review that a person approved in the meantime; null where
   * there is none. Then the question is sent once more, with that review: what became stricter in between still denies.
   */
  readonly onReview?: (evaluation: Evaluation) => Promise<string | null>
  /** How long to wait for the person who must approve it; the client's `hold` where it is left out. */
  readonly hold?: { readonly waitMs: number }
}

/** Thrown by an effect that ended in a failure with an answer: `result` is witnessed as it is, with status `error`. */
export class EffectFailed extends Error {
  override readonly name = "EffectFailed"
  readonly result: unknown
  constructor(message: string, result: unknown) {
    super(message)
    this.result = result
  }
}

/** Thrown by an effect whose outcome is unknown: `result` is witnessed with status `unknown`. */
export class EffectUnknown extends Error {
  override readonly name = "EffectUnknown"
  readonly result: unknown
  constructor(message: string, result: unknown) {
    super(message)
    this.result = result
  }
}

/** Argument of an effect: its `signal`, and the action's arguments. */
export interface Running {
  /** Aborts when the agent is halted. */
  readonly signal: AbortSignal
  /** The arguments as they were judged and are witnessed: a copy that nobody else holds. */
  readonly args: Json
  /** The server's verdict; null where the client decided while the server was away. */
  readonly evaluation: Evaluation | null
  /**
   * For an effect that continues for long somewhere else: witnesses the action now, as `intended`, so that it is in the
   * record whatever becomes of this process. How the effect ends settles it.
   */
  readonly goesOn: () => Promise<void>
}

/** Options of a guard. Units: milliseconds. */
export interface GuardOptions {
  readonly agentId: string
  readonly instanceId: string
  readonly caller: Caller
  readonly clock: ClientClock
  readonly kill: KillWatch
  readonly recorder: Recorder
  readonly refs: Refs
  readonly redact: Redact
  readonly timeoutMs: number
  readonly strict: boolean
  readonly signals: (action: string, args: Json) => ActionSignals
  readonly reviews: Reviews
  readonly envelopes: EnvelopeCache
  readonly holdMs: number
  readonly digestKey: Uint8Array
}

/** A verdict to act on, and the signals that it was given on. */
type GivenVerdict = Verdict | { readonly by: "cache"; readonly given: GivenLocally; readonly signals: Json }

/** Questions under envelopes that changed meanwhile. After these the signals are sent whole. */
const MAX_OVERTAKEN = 2

/** Added to a denial where the signals may hold more than the envelope declares. */
const SENT_WHOLE =
  "The client could not read which signals the envelope declares, so it sent every argument that could be one."

/** Members of the record that say who decided. */
type DecidedAs = Pick<Decision, "decided_by" | "evaluation_id" | "labels" | "local_verdict" | "signals">

/** Members of a decision that say how it went, with values that are not known to be JSON. */
type MoreMembers = Partial<Omit<Decision, "result"> & { readonly result: unknown }>

/** Questions that are sent again after no answer. */
const RETRIES = 2

/**
 * Arguments that are sent along. Unit: characters of JSON, of which each is up to three of the server's 262,144
 * bytes.
 */
const MAX_ARGS_CHARS = 87_381

/** Twice the code points of the longest text that a signal can have: no signal has a longer one. */
const MAX_READ_CHARS = 8_192

/** Arguments without the texts that make them too large: what else they hold, rules and reviewers read. */
const withoutLongTexts = (value: Json): Json => {
  if (typeof value === "string") return value.length > MAX_READ_CHARS ? REDACTED : value
  if (typeof value !== "object" || value === null) return value
  return Array.isArray(value)
    ? value.map(withoutLongTexts)
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutLongTexts(member)]))
}

/** Guards actions of one agent. */
export type Guard = <A>(action: Action | string, args: Json, effect: (running: Running) => A | Promise<A>) => Promise<A>

/** Makes the guard of one agent. */
export const makeGuard = (options: GuardOptions): Guard => {
  const { agentId, caller, clock, kill, recorder, refs, strict, timeoutMs } = options
  const pending = makePendingReviews()

  /** The arguments that reviewers see, redacted, and the digest of all arguments, to which a review is bound. */
  const bound = (args: Json): Pick<EvaluationRequest, "action_digest" | "args" | "args_redacted"> => {
    const whole = redactSafely(options.redact, args)!
    const shown = JSON.stringify(whole).length > MAX_ARGS_CHARS ? withoutLongTexts(whole) : whole
    const text = JSON.stringify(shown)
    const isRedacted = text !== JSON.stringify(args)
    return {
      action_digest: isRedacted ? keyedActionDigest(options.digestKey, args) : actionDigest(args),
      // The server takes no larger ones, nor those of which a record would hold a digest; that stands for them.
      ...(text.length > MAX_ARGS_CHARS || formOf(shown).reason !== null
        ? {}
        : { args: shown, ...(isRedacted ? { args_redacted: true } : {}) })
    }
  }

  /**
   * Asks with the signals that the envelopes in force declare. Which these are was read before: a verdict under others
   * counts only where they declare the same of these signals. Where it cannot be known, all are sent: a declared one
   * that is left out could make the verdict milder, and an undeclared one denies.
   */
  const ask = async (action: Action, args: Json): Promise<GivenVerdict> => {
    if (action.signals !== undefined) return question(action, args, action.signals, true)
    const { isStated, signals: all } = options.signals(action.name, args)
    if (isStated) return question(action, args, all, true)
    let declared = await options.envelopes.declared()
    for (let tries = 0; declared !== null && tries < MAX_OVERTAKEN; tries++) {
      const signals = declaredOf(all, declared.names)
      const verdict = await question(action, args, signals, false, all)
      if (verdict.by !== "server" || declared.isOf(verdict.evaluation.layers)) return verdict
      declared = await options.envelopes.declared(true)
      const isSame =
        declared?.isOf(verdict.evaluation.layers) === true &&
        Object.keys(declaredOf(all, declared.names)).join("\n") === Object.keys(signals).join("\n")
      if (isSame) return verdict
    }
    const verdict = await question(action, args, all, false)
    return verdict.by === "server" && verdict.evaluation.matched_rule === "@invalid_signal"
      ? { ...verdict, evaluation: { ...verdict.evaluation, suggestion: SENT_WHOLE } }
      : verdict
  }

  const question = async (
    action: Action,
    args: Json,
    signals: Signals,
    isStated: boolean,
    all = signals
  ): Promise<GivenVerdict> => {
    const json = {
      agent_id: agentId,
      client_ref: refs.next().ref,
      instance_id: options.instanceId,
      action: action.name,
      signals,
      ...bound(args),
      ...(action.runId === undefined ? {} : { run_id: action.runId }),
      ...(action.approvalId === undefined ? {} : { approval_id: action.approvalId }),
      ...(action.extractionId === undefined ? {} : { extraction_id: action.extractionId })
    }
    for (let attempt = 0; ; attempt++) {
      const answer = await caller.send({ method: "POST", path: "/api/v1/bound/evaluations", json, timeoutMs })
      const verdict = verdictOf(answer, json)
      if (verdict.by === "server" || !verdict.retry) return verdict
      const local =
        action.effect === "read" && action.extractionId === undefined
          ? options.envelopes.verdict(all, isStated, readArgs(args), action.runId ?? null)
          : null
      if (local !== null) return { by: "cache", ...local }
      if (attempt === RETRIES) return verdict
      await awaitedPause(clock, 50 + clock.random() * 100 * 2 ** attempt)
    }
  }

  /** The arguments that a local verdict reads: those that the record will show. */
  const readArgs = (args: Json): unknown =>
    isRecordedWhole(args, options.redact) ? redactSafely(options.redact, args) : UNKNOWN

  const recordingOf = (hidden: Redact): Recording => ({
    redact: redactBoth(options.redact, hidden),
    digestKey: options.digestKey
  })

  /** The decision that witnesses this action; `more` says how it went. */
  const decisionOf = (action: Action, args: unknown, hidden: Redact, more: MoreMembers): Decision => {
    const { ref, seq } = refs.next()
    const members = {
      client_ref: ref,
      writer_seq: seq,
      instance_id: options.instanceId,
      kind: "tool_call",
      action: action.name,
      capture: action.capture ?? "self_reported",
      mode: "enforced",
      observed_at: new Date(clock.nowMs()).toISOString(),
      ...(action.toolServer === undefined ? {} : { tool_server: action.toolServer }),
      ...(action.runId === undefined ? {} : { run_id: action.runId }),
      ...(action.step === undefined ? {} : { step: action.step }),
      ...(action.approvalId === undefined || more.status === "denied" ? {} : { approval_id: action.approvalId }),
      args,
      ...more
    }
    return recordable<Decision>(members, recordingOf(hidden))
  }

  const deniedOf = (action: Action, args: unknown, as: DecidedAs): Decision =>
    decisionOf(action, args, keepAll, { status: "denied", ...as })

  const refuse = async (
    action: Action,
    args: unknown,
    by: {
      readonly rule: string
      readonly reason: string
      readonly evaluation: Evaluation | null
      readonly as?: DecidedAs
    }
  ): Promise<never> => {
    const { evaluation, reason, rule } = by
    const isHalt = rule === "@killed"
    const outcome = isHalt
      ? "halt"
      : evaluation === null
        ? "deny"
        : (evaluation.outcome as "deny" | "halt" | "require_review")
    const as = by.as ?? (evaluation === null ? byClient(rule) : byServer(evaluation))
    await recorder.keep({ kind: "decision", agentId, decision: deniedOf(action, args, as) })
    throw new ActionDenied(action.name, outcome, rule, reason, evaluation)
  }

  /** The review that a person approved while the action waited; null where there is none. */
  const approvalOf = async (action: Action, verdict: GivenVerdict): Promise<string | null> => {
    if (verdict.by !== "server" || verdict.evaluation.outcome !== "require_review") return null
    if (action.onReview !== undefined) return action.onReview(verdict.evaluation)
    const { review_id: reviewId } = verdict.evaluation
    const withinMs = Math.min(action.hold?.waitMs ?? options.holdMs, MAX_HOLD_MS)
    if (reviewId === null || (withinMs === 0 && opensReview(verdict.evaluation))) return null
    // Where the server cannot be reached, the action is pending as before.
    const review = await options.reviews.wait(reviewId, { withinMs }).catch(() => null)
    return review?.status === "resolved" && review.resolution === "approve" ? reviewId : null
  }

  const stopped = (action: Action, effect: EffectClass): { rule: LocalRule; reason: string } | null => {
    const rule = kill.denial(effect)
    if (rule === null) return null
    return { rule, reason: rule === "@killed" ? stoppedSentence(kill.view()) : staleReason(kill, clock) }
  }

  return async (named, given, effect) => {
    let action: Action = typeof named === "string" ? { name: named } : named
    const kind = action.effect ?? "side_effect"
    if (kind === "read") options.envelopes.start()
    let args: Json = null
    /** The recorded arguments: the copy, and before there is one what was given. */
    let shown: unknown = given
    let decided: DecidedAs
    let evaluation: Evaluation | null = null
    let decisionId: string | null = null
    /** The decision that was witnessed while the effect runs, and whose receipt nobody waited for. */
    let intended: Decision | null = null
    let hidden: Redact = keepAll
    let startedMs: number
    let running: ReturnType<KillWatch["signal"]>
    try {
      // What is judged, digested and witnessed is one copy: the caller may change its own meanwhile.
      shown = args = snapshotOf(given)
      const firstStop = stopped(action, kind)
      if (firstStop !== null) {
        // A first question may be under way still; one more is what a caller would expect before a no.
        await kill.refresh()
        const still = stopped(action, kind)
        if (still !== null) return await refuse(action, args, { ...still, evaluation: null })
      }
      action = pending.resumed(action, args)
      let requestedMs = clock.monotonicMs()
      let verdict = await ask(action, args)
      pending.note(action, args, verdict)
      const approvalId = await approvalOf(action, verdict)
      if (approvalId !== null) {
        action = { ...action, approvalId }
        requestedMs = clock.monotonicMs()
        verdict = await ask(action, args)
        pending.note(action, args, verdict)
      }
      if (verdict.by === "client") return await refuse(action, args, { ...verdict, evaluation: null })
      decided = verdict.by === "server" ? byServer(verdict.evaluation) : byCache(verdict)
      evaluation = verdict.by === "server" ? verdict.evaluation : null
      const terms = verdict.by === "server" ? termsOfServer(verdict.evaluation) : termsOfCache(verdict.given)
      if (!isPermission(terms.outcome)) {
        const { rule } = terms
        // The verdict may know of a halt that is not followed yet; what was said with it comes with the status.
        if (rule === "@killed" && stopped(action, kind)?.rule !== rule) await kill.refresh()
        const reason = rule === "@killed" ? stoppedSentence(kill.view()) : terms.reason
        return await refuse(action, args, { rule, reason, evaluation, as: decided })
      }
      hidden = redactionOf(terms.obligations)
      if (strict) {
        const intent = decisionOf(action, args, hidden, { status: "intended", ...decided })
        const receipt = await recorder.sendNow(agentId, intent)
        if (receipt === null)
          return await refuse(action, args, {
            rule: "@fail_closed:unreachable",
            reason: "The decision could not be witnessed, and capture is strict.",
            evaluation: null
          })
        decisionId = receipt.decision_id
      }
      const secondStop = stopped(action, kind)
      if (secondStop !== null) return await refuse(action, args, { ...secondStop, evaluation: null })
      if (clock.monotonicMs() - requestedMs > terms.validMs)
        return await refuse(action, args, {
          rule: "@stale_status",
          reason: `The verdict is older than ${terms.validMs} ms.`,
          evaluation: null
        })
      if (!isUnchanged(given, args))
        return await refuse(action, args, {
          rule: "@fail_closed:guard",
          reason: "The arguments were changed after they were judged.",
          evaluation: null
        })
      running = kill.signal()
      startedMs = clock.monotonicMs()
    } catch (cause) {
      if (cause instanceof ActionDenied) throw cause
      if (cause instanceof DecisionRefused) {
        await recorder.keep({
          kind: "decision",
          agentId,
          decision: deniedOf(action, shown, byClient("@fail_closed:protocol"))
        })
        throw cause
      }
      return refuse(action, shown, { rule: "@fail_closed:guard", reason: sentenceOf(cause), evaluation: null })
    }
    // From here on the effect has begun: whatever happens, its outcome is witnessed.
    const goesOn = async (): Promise<void> => {
      if (decisionId !== null || intended !== null) return
      const decision = decisionOf(action, args, hidden, { status: "intended", ...decided })
      if (await recorder.keep({ kind: "decision", agentId, decision })) intended = decision
    }
    const end = async (status: "ok" | "error" | "unknown", result: unknown): Promise<void> => {
      running.done()
      const latency_ms = Math.max(0, Math.round(clock.monotonicMs() - startedMs))
      const outcome = recordable<Settlement>({ status, latency_ms, result }, recordingOf(hidden))
      if (decisionId !== null)
        await recorder.keep({ kind: "settle", agentId, decisionId, clientRef: decisionId, settlement: outcome })
      else if (intended !== null)
        await recorder.keep({ kind: "outcome", agentId, decision: intended, settlement: outcome })
      else {
        const decision = decisionOf(action, args, hidden, { ...outcome, ...decided })
        await recorder.keep({ kind: "decision", agentId, decision })
      }
    }
    let result: Awaited<ReturnType<typeof effect>>
    try {
      result = await effect({ signal: running.signal, args: snapshotOf(args), evaluation, goesOn })
    } catch (cause) {
      if (cause instanceof EffectUnknown) await end("unknown", cause.result)
      else await end("error", cause instanceof EffectFailed ? cause.result : { error: sentenceOf(cause) })
      throw cause
    }
    await end("ok", result)
    return result
  }
}

/** How old the kill status is, and why nothing newer is known. */
const staleReason = (kill: KillWatch, clock: ClientClock): string => {
  const { sentAtMs } = kill.view()
  const age =
    sentAtMs === null
      ? "was never confirmed"
      : `was last confirmed ${Math.round((clock.monotonicMs() - sentAtMs) / 1_000)} s ago`
  return `The kill status ${age}: ${kill.trouble() ?? "the server has not answered yet"}.`
}

const byClient = (rule: string): DecidedAs => ({ decided_by: "fail_closed", labels: { rule } })

const byServer = ({ id }: Evaluation): DecidedAs => ({ decided_by: "server", evaluation_id: id })

const byCache = ({ given, signals }: Extract<GivenVerdict, { by: "cache" }>): DecidedAs => ({
  decided_by: "sdk_cache",
  local_verdict: given.verdict,
  signals
})

/** Result of a verdict, of the server or of the client. `validMs`: how long the agent may act on it. */
interface VerdictTerms {
  readonly outcome: Outcome
  readonly rule: string
  readonly reason: string
  readonly obligations: Evaluation["obligations"]
  readonly validMs: number
}

/** Hints for an agent's developer on the service's own rules, where the verdict suggests nothing. */
const hints: { readonly [rule: string]: string | undefined } = {
  "@invalid_signal": "A signal is not one that the envelope declares, or not of its type.",
  "@missing_signal": "A signal that the envelope needs was not sent.",
  "@no_envelope": "No envelope is in force for the agent: a governor publishes one first.",
  "@not_active": "The agent is not active: an operator activates it first.",
  "@suspended": "The agent is suspended.",
  "@tier_floor": "The agent's autonomy tier does not allow it alone, whatever its envelope says."
}

/** Words a verdict for the agent and its model: the rule's reason, and what the rule suggests. */
const wordsOf = (rule: string, { reason, suggestion }: Pick<Evaluation, "reason" | "suggestion">): string =>
  [reason, suggestion].filter((one) => typeof one === "string" && one !== "").join(" ") || (hints[rule] ?? "")

const termsOfServer = (evaluation: Evaluation): VerdictTerms => ({
  outcome: evaluation.outcome,
  rule: evaluation.matched_rule,
  reason: wordsOf(evaluation.matched_rule, evaluation),
  obligations: evaluation.obligations,
  validMs: evaluation.valid_ms
})

/** Given at once, and acted on at once: the check of halts right before the effect bounds it. */
const termsOfCache = ({ obligations, reason, suggestion, verdict }: GivenLocally): VerdictTerms => ({
  outcome: verdict.outcome,
  rule: verdict.matched_rule,
  reason: wordsOf(verdict.matched_rule, { reason, suggestion }),
  obligations,
  validMs: Number.POSITIVE_INFINITY
})

/** Redaction that an envelope obliges to. */
const redactionOf = (obligations: Evaluation["obligations"]): Redact => {
  const fields = obligations.flatMap((one) => (one["type"] === "redact_fields" ? (one["fields"] as Array<string>) : []))
  return redactMembers(fields)
}

/** Describes a thrown value in words. Any value can be thrown, and none may stop the witnessing. */
export const sentenceOf = (cause: unknown): string => {
  try {
    return String(cause instanceof Error ? cause.message : cause)
  } catch {
    return "something was thrown that has no text"
  }
}
