/**
 * Decides about an action: the whole pipeline as one pure function of values. Nothing here reads a clock or remembers
 * anything.
 *
 * Spec: `SPEC.md` section 11.
 */
import type { Combination } from "../compile/compile.ts"
import { outcomes } from "../language/compiled.ts"
import { decode, type Decoder, decoderOf, type Values } from "./decode.ts"
import type { Decision, InactiveRule, StopStep } from "./decision.ts"
import type { Rule } from "../language/envelope.ts"
import { DEFAULT_NOTICE_MS } from "../language/limits.ts"
import { type MeterReading, type MeterStep, meterSteps, readMeter, type ReadWindow } from "../meters/meter-reading.ts"
import { mergeObligations } from "../language/obligations.ts"
import { HOLDS, runTable, severityOf, type Table, tableOf, type Verdict } from "../compile/table.ts"
import { TIER_FLOOR } from "../language/tier-floor.ts"

/**
 * The most restrictive kill response in force against an agent, its models, its org unit or the deployment. Spec:
 * `envelope/1` section 11, step 1.
 */
export type KillState = "none" | "notify" | "step_down" | "drain" | "halt" | "quarantine"

/** The intent that is evaluated. `signals` come from outside and are checked here. Spec: `envelope/1` section 11. */
export interface Action {
  readonly signals: unknown
  /**
   * The arguments, as their RFC 8785 form reads; undefined where the action has none, `UNKNOWN` where only their digest
   * is known.
   */
  readonly args?: unknown
  readonly runId: string | null
}

/** Facts of the service at the seq of the evaluation. Spec: `envelope/1` section 11. */
export interface Situation {
  readonly kill: KillState
  /**
   * `isActive` is false for every other status, and for one orphaned too long. `inactiveRule` names the verdict then;
   * `@suspended` when left out.
   */
  readonly agent: {
    readonly id: string
    readonly orgUnit: string
    readonly isActive: boolean
    readonly inactiveRule?: InactiveRule
  }
  /** Values of the signals of source `server`; others are ignored. */
  readonly server: Values
  /** Latches that are set in this run. */
  readonly latches: ReadonlySet<string>
  readonly windows: ReadWindow
  /** True when an approved review of this very action is being consumed. */
  readonly approved: boolean
}

/**
 * A prepared combination. It reuses memory for the current inputs, so it serves one call at a time, as JavaScript's
 * single thread ensures.
 */
export interface Ready {
  readonly combination: Combination
  readonly table: Table
  readonly decoder: Decoder
  readonly meters: ReadonlyArray<MeterStep>
  /** The rules in the order of the table. */
  readonly rules: ReadonlyArray<Rule>
  /** Places of the rules that oblige to something, and of those that say a time. */
  readonly obliging: ReadonlyArray<number>
  readonly timed: ReadonlyArray<number>
  /** Number of rules that belong to the tier floor: the first ones. */
  readonly floorCount: number
  readonly point: Float64Array
}

/** Prepares a combination for `decide`. Spec: `envelope/1` section 11. */
export const prepare = (combination: Combination): Ready => {
  const rules = combination.layers.flatMap((layer) => layer.rules)
  return {
    combination,
    table: tableOf(combination.compiled),
    decoder: decoderOf(combination),
    meters: meterSteps(combination),
    rules,
    obliging: rules.flatMap((rule, i) => (rule.obligations.length > 0 ? [i] : [])),
    timed: rules.flatMap((rule, i) => (rule.noticeMs !== null || rule.retryAfterMs !== null ? [i] : [])),
    floorCount: rules.filter((rule) => rule.id.startsWith(TIER_FLOOR)).length,
    point: new Float64Array(combination.compiled.axes.length)
  }
}

/**
 * Decides whether an action is allowed. `ready` is null where no envelope is in force. Never throws, whatever the
 * signals are. Spec: `envelope/1` section 11.
 */
export const decide = (ready: Ready | null, action: Action, situation: Situation): Decision => {
  const end = endedBefore(ready, situation)
  if (end !== null || ready === null) return end ?? stopped("@no_envelope", "envelope", null)
  const problem = decode(
    ready.decoder,
    action,
    situation.server,
    action.runId === null ? null : situation.latches,
    ready.point
  )
  return problem === null ? decideAt(ready, action.runId, situation) : stopped(problem.rule, "signals", problem.signal)
}

/** The verdict that needs no signals; null if they are needed. */
const endedBefore = (ready: Ready | null, { agent, kill }: Situation): Decision | null => {
  if (kill === "drain" || kill === "halt" || kill === "quarantine") return stopped("@killed", "kill", null)
  if (!agent.isActive) return stopped(agent.inactiveRule ?? "@suspended", "agent", null)
  return ready === null ? stopped("@no_envelope", "envelope", null) : null
}

/** Decides by the signals in `ready.point`. */
const decideAt = (ready: Ready, runId: string | null, situation: Situation): Decision => {
  const { decoder, point, table } = ready
  const meters = ready.meters.length === 0 ? none : readMeters(ready, runId, situation)
  if (meters === null) return stopped("@missing_signal", "signals", "run_id")
  if (decoder.listed !== null) return decideList(ready, meters, situation.approved)
  const failedOn = table.blank.slice()
  const verdict = runTable(table, point, failedOn)
  return concluded(ready, verdict, failedOn, failedOn, meters, situation.approved)
}

/** Decides each element of the list; the first with the most restrictive verdict is the decision's point. */
const decideList = (ready: Ready, meters: ReadonlyArray<MeterReading>, mayBeApproved: boolean): Decision => {
  const { decoder, point, table } = ready
  const held = table.blank.slice()
  const decided = decoder.rows.map((row) => {
    point.set(row)
    const failedOn = table.blank.slice()
    const verdict = runTable(table, point, failedOn)
    for (let place = 0; place < held.length; place++) if (failedOn[place] === HOLDS) held[place] = HOLDS
    return { row, verdict, failedOn, severity: severityOf(table, verdict) }
  })
  const worst = decided.reduce((found, one) => (one.severity > found.severity ? one : found))
  point.set(worst.row)
  return concluded(ready, worst.verdict, worst.failedOn, held, meters, mayBeApproved)
}

const none: ReadonlyArray<never> = Object.freeze([])
const ALLOW_WITH_NOTICE = 1
const REQUIRE_REVIEW = 2
const DENY = 3

const stopped = (matchedRule: string, step: StopStep, id: string | null): Decision => ({
  outcome: "deny",
  matchedRule,
  stopped: { step, id },
  failedOn: none,
  meters: none,
  obligations: none,
  noticeMs: null,
  retryAfterMs: null,
  suggestion: null,
  approved: false
})

const readMeters = (
  { meters, point }: Ready,
  runId: string | null,
  { agent, windows }: Situation
): ReadonlyArray<MeterReading> | null => {
  const actor = { agentId: agent.id, orgUnit: agent.orgUnit, runId }
  const readings: Array<MeterReading> = []
  for (let i = 0; i < meters.length; i++) {
    const reading = readMeter(meters[i]!, point, actor, windows)
    if (reading === null) return null
    readings.push(reading)
  }
  return readings
}

const concluded = (
  ready: Ready,
  verdict: Verdict,
  failedOn: ReadonlyArray<number>,
  /** The same, where a rule that holds for any element of a list holds. */
  held: ReadonlyArray<number>,
  meters: ReadonlyArray<MeterReading>,
  mayBeApproved: boolean
): Decision => {
  const { rules, table } = ready
  const said = severityOf(table, verdict)
  const rule = verdict >= 0 ? rules[verdict]! : null
  const isFloor = verdict >= 0 && verdict < ready.floorCount
  const full = meters.length === 0 ? undefined : meters.find((meter) => meter.over)
  // The meters' own bound stands between the floor and the rules: of equal verdicts the floor's comes before it, a
  // rule's after.
  const isFull = full !== undefined && (said < DENY || (said === DENY && !isFloor))
  const severity = isFull ? DENY : said
  const approved = severity === REQUIRE_REVIEW && mayBeApproved
  return {
    outcome: approved ? "allow" : outcomes[severity]!,
    matchedRule: isFull ? `@budget:${full.id}` : rule === null ? "@default" : isFloor ? TIER_FLOOR : rule.id,
    stopped: null,
    failedOn,
    meters,
    obligations: ready.obliging.length === 0 ? none : obligationsOf(ready, severity, held),
    noticeMs:
      severity === ALLOW_WITH_NOTICE
        ? (strictest(ready, severity, held, noticeOf, Math.min) ?? DEFAULT_NOTICE_MS)
        : null,
    retryAfterMs:
      severity === DENY && ready.timed.length > 0 ? strictest(ready, severity, held, retryAfterOf, Math.max) : null,
    suggestion: isFull ? null : (rule?.suggestion ?? null),
    approved
  }
}

/**
 * Of what may still run, everything that any rule that holds asks for; of what will not, what the rules ask for that
 * say so.
 */
const obligationsOf = ({ obliging, rules, table }: Ready, severity: number, failedOn: ReadonlyArray<number>) =>
  mergeObligations(
    obliging.flatMap((place) =>
      failedOn[place] === HOLDS && (severity < DENY || table.severities[place] === severity)
        ? rules[place]!.obligations
        : []
    )
  )

const noticeOf = (rule: Rule): number | null => rule.noticeMs
const retryAfterOf = (rule: Rule): number | null => rule.retryAfterMs

const strictest = (
  { rules, table, timed }: Ready,
  severity: number,
  failedOn: ReadonlyArray<number>,
  of: (rule: Rule) => number | null,
  pick: (a: number, b: number) => number
): number | null => {
  let found: number | null = null
  for (const place of timed) {
    if (failedOn[place] !== HOLDS || table.severities[place] !== severity) continue
    const value = of(rules[place]!)
    if (value !== null) found = found === null ? value : pick(found, value)
  }
  return found
}
