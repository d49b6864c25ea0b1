/** Runs cases beside an envelope: actions with the outcome that its author expects. Reads no clock and no store. */
import { compile } from "../compile/compile.ts"
import { HOLDS } from "../compile/table.ts"
import { decide, prepare, type Ready, type Situation } from "../decide/decide.ts"
import type { Decision } from "../decide/decision.ts"
import { signalWords } from "../decide/signal-words.ts"
import { type Outcome, outcomes } from "../language/compiled.ts"
import type { Finding } from "../language/findings.ts"
import { MAX_CASES, MAX_SENTENCE, MAX_SIGNALS, MAX_VALUE_TEXT, MAX_WINDOW_MS } from "../language/limits.ts"
import { readEnvelope } from "../language/read-envelope.ts"
import { type Members, Reading } from "../language/reading.ts"
import { withTierFloor } from "../language/tier-floor.ts"
import { foldLatches, latchesSetBy } from "../meters/latches.ts"
import { WindowBook } from "../meters/window-book.ts"

/** How one case ended. `difference` is a sentence; null where the verdict is the expected one. */
export interface CaseResult {
  readonly name: string
  readonly outcome: Outcome
  readonly rule: string
  readonly difference: string | null
}

/** Results of cases, or what is wrong with their file (`tests`) or with the envelope. */
export interface CasesReport {
  readonly findings: ReadonlyArray<Finding & { readonly in: "tests" | "envelope" }>
  readonly cases: ReadonlyArray<CaseResult>
}

const tiers = ["L0", "L1", "L2", "L3", "L4"] as const

interface Input {
  readonly agoMs: number
  readonly server: Members
  readonly args: unknown
  readonly signals: unknown
}

interface Case {
  readonly name: string
  readonly before: ReadonlyArray<Input>
  readonly input: Input
  readonly outcome: Outcome
  readonly rule: string | null
}

/**
 * Runs the cases of a test file, each alone: meters are empty and latches unset but for what its `before` did, in the
 * same run of the same agent.
 *
 * - `tests`: the file as JSON, `{envelope?, tier?, cases}`; a case is `{name, before?, input, outcome, rule?}`.
 * - `envelope`: the envelope as JSON; that of the file where it is left out.
 * - Never throws. An input without `signals` has those that an adapter sends: `action` as `tool`, and the arguments
 *   that the envelope declares by name.
 * - Spec: `envelope/1` section 11, under the tier floor of section 10.
 */
export const runCases = (tests: unknown, envelope?: unknown): CasesReport => {
  const reading = new Reading()
  const members = reading.object(tests, "", ["cases"], ["envelope", "tier"])
  const read = readEnvelope(envelope ?? members?.["envelope"] ?? null)
  const compiled = read.envelope === null ? null : compile(withTierFloor([read.envelope]))
  const combination = compiled?.combination ?? null
  const names = (combination?.signals ?? []).flatMap(({ name, source }) => (source === "caller" ? [name] : []))
  const tier = reading.word(members?.["tier"], "/tier", tiers)
  const list = reading.list(members?.["cases"], "/cases", 1, MAX_CASES) ?? []
  const cases = list.flatMap((one, i) => readCase(reading, one, `/cases/${i}`, tier, names) ?? [])
  const findings = [
    ...reading.findings.map((finding) => ({ ...finding, in: "tests" as const })),
    ...[...read.findings, ...(compiled?.findings ?? [])].map((finding) => ({ ...finding, in: "envelope" as const }))
  ]
  if (combination === null || findings.length > 0) return { findings, cases: [] }
  const ready = prepare(combination)
  return { findings, cases: cases.map((one) => resultOf(ready, one)) }
}

const readCase = (
  reading: Reading,
  value: unknown,
  path: string,
  tier: string | null,
  names: ReadonlyArray<string>
): Case | null => {
  const members = reading.object(value, path, ["name", "input", "outcome"], ["before", "rule"])
  if (members === null) return null
  const name = reading.text(members["name"], `${path}/name`, MAX_SENTENCE)
  const outcome = reading.word(members["outcome"], `${path}/outcome`, outcomes)
  const rule = reading.text(members["rule"], `${path}/rule`, MAX_VALUE_TEXT)
  const input = readInput(reading, members["input"], `${path}/input`, tier, names)
  const before = (reading.list(members["before"], `${path}/before`, 1, MAX_CASES) ?? []).flatMap(
    (one, i) => readInput(reading, one, `${path}/before/${i}`, tier, names, ["ago_ms"]) ?? []
  )
  if (before.some(({ agoMs }, i) => agoMs > (before[i - 1]?.agoMs ?? agoMs)))
    reading.say("E113", `${path}/before`, "What came first stands first: ago_ms may not rise from one to the next.")
  return name === null || outcome === null || input === null ? null : { name, before, input, outcome, rule }
}

const readInput = (
  reading: Reading,
  value: unknown,
  path: string,
  tierOfFile: string | null,
  names: ReadonlyArray<string>,
  more: ReadonlyArray<string> = []
): Input | null => {
  const members = reading.object(value, path, [], ["action", "args", "signals", "server", "tier", ...more])
  if (members === null) return null
  const tier = reading.word(members["tier"], `${path}/tier`, tiers) ?? tierOfFile
  if (tier === null)
    return reading.say(
      "E113",
      path,
      `The tier of the agent is missing, ${tiers.join(", ")}. Add it here or above cases.`
    )
  const tool = reading.text(members["action"], `${path}/action`, MAX_SENTENCE)
  const args = members["args"]
  const sent: Members = { ...(typeof args === "object" ? args : {}), ...(tool === null ? {} : { tool }) }
  return {
    agoMs: reading.integer(members["ago_ms"], `${path}/ago_ms`, 0, MAX_WINDOW_MS) ?? 0,
    args,
    signals:
      members["signals"] ??
      Object.fromEntries(names.flatMap((name) => (Object.hasOwn(sent, name) ? [[name, sent[name]]] : []))),
    server: { ...reading.map(members["server"], `${path}/server`, MAX_SIGNALS), tier: tiers.indexOf(tier as "L0") }
  }
}

const resultOf = (ready: Ready, { before, input, name, outcome, rule }: Case): CaseResult => {
  const book = new WindowBook()
  let seq = 0
  let latches: ReadonlySet<string> = new Set()
  const decisionOf = ({ agoMs, args, server, signals }: Input): Decision => {
    // The oldest action is at least one window after the beginning of time.
    const atMs = 2 * MAX_WINDOW_MS - agoMs
    const situation: Situation = {
      kill: "none",
      agent: { id: "agent", orgUnit: "org_unit", isActive: true },
      server,
      latches,
      approved: false,
      windows: ({ id, windowMs }, key) => book.state(`${id} ${key}`, windowMs, atMs)
    }
    const decision = decide(ready, { signals, args, runId: "run" }, situation)
    const reserved = decision.meters.filter(({ contributes }) => contributes && decision.outcome.startsWith("allow"))
    book.reserve(
      ++seq,
      atMs,
      reserved.map(({ amount, id, key }) => ({ meter: id, window: `${id} ${key}`, amount }))
    )
    latches = foldLatches(latches, latchesSetBy(ready.combination.signals, signals, server, args))
    return decision
  }
  for (const earlier of before) decisionOf(earlier)
  const found = decisionOf(input)
  const isExpected = found.outcome === outcome && (rule === null || found.matchedRule === rule)
  return {
    name,
    outcome: found.outcome,
    rule: found.matchedRule,
    difference: isExpected
      ? null
      : `Expected ${outcome}${rule === null ? "" : ` by ${rule}`}, found ${found.outcome} by ${found.matchedRule}.` +
        whyNot(ready, found, rule, input)
  }
}

/** Says why the signals were refused, or where the expected rule does not hold. */
const whyNot = (
  { combination, rules }: Ready,
  found: Decision,
  expected: string | null,
  { args, signals }: Input
): string => {
  const { failedOn, matchedRule, stopped } = found
  if (stopped !== null)
    return ` ${signalWords(combination, { rule: matchedRule as "@missing_signal", signal: stopped.id }, signals, args)}`
  if (expected === null || expected === matchedRule || expected.startsWith("@")) return ""
  const place = rules.findIndex(({ id }) => id === expected)
  if (place < 0) return ` The envelope has no rule ${expected}.`
  const failed = failedOn[place]!
  if (failed === HOLDS) return ` The rule ${expected} holds too, and the other one is decided before it.`
  return ` The rule ${expected} does not hold: see ${combination.compiled.axes[failed]?.name ?? "its conditions"}.`
}
