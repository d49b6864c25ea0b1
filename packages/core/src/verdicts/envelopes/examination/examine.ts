/** Everything that is found out about an envelope before it is published. Pure, given what surrounds it. */
import type { BacktestOut, DiffOut, EnvelopeFinding, LintOut } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { serverSignalNames } from "@flyball/rules"
import type { JsonMap } from "@flyball/rules"
import type { History } from "../history.ts"
import {
  backtest,
  type BacktestReport,
  budgetsOf,
  type Combination,
  compile,
  decisionTable,
  envelopeSentences,
  type GateLayer,
  lint,
  type LintCode,
  lintCodes,
  readEnvelope,
  recordedInputs,
  tableAsMarkdown,
  withTierFloor
} from "@flyball/envelope"
import type { DiffReport, Envelope, Finding, LintFinding, LintReport } from "@flyball/envelope"
import { tierNeeds } from "../../tier-needs.ts"
import { factsAround } from "./facts-around.ts"
import { changedUnits } from "./meter-units.ts"
import type { LayerText, Limits, Surroundings } from "./questions.ts"

/**
 * An envelope that was read and fits: alone with its outer layers, and under the tier floor too. Null where it does
 * not.
 */
export interface Fitted {
  readonly envelope: Envelope
  /** With its outer layers, and the tier floor under all of them: what decides. */
  readonly floored: Combination
}

/** Result of reading and fitting. Every finding is an error. */
export interface Reading {
  readonly fitted: Fitted | null
  readonly findings: ReadonlyArray<Finding>
}

/** Reads an envelope and fits it into its surroundings. */
export const fit = (json: unknown, { inner, meterUnits = [], outer }: Surroundings): Reading => {
  const { envelope, findings } = readEnvelope(json)
  if (envelope === null) return { fitted: null, findings }
  const around = outer.flatMap((layer) => envelopeOf(layer) ?? [])
  const floored = compile(withTierFloor([...around, envelope]))
  const misfits = inner.flatMap((layer) => {
    const within = envelopeOf(layer)
    if (within === null) return []
    return compile(withTierFloor([envelope, within])).findings.map((one) => ({
      ...one,
      message: `With the envelope ${layer.envelopeId} of an agent of this org unit: ${one.message}`
    }))
  })
  const all = [
    ...findings,
    ...unknownToServer(envelope),
    ...changedUnits(json as JsonMap, meterUnits),
    ...floored.findings,
    ...misfits
  ]
  return { fitted: floored.combination === null ? null : { envelope, floored: floored.combination }, findings: all }
}

/** Server signals that the service cannot provide: each evaluation would be denied. */
const unknownToServer = ({ signals }: Envelope): ReadonlyArray<Finding> =>
  signals.flatMap(({ name, source }) =>
    source !== "server" || serverSignalNames.includes(name)
      ? []
      : [
          {
            code: "E100" as const,
            path: `/signals/${name}`,
            message: `There is no server signal called ${name}. It can be ${serverSignalNames.join(", ")}.`
          }
        ]
  )

/** The envelope of a version that was published; null where its text is gone or cannot be read any more. */
const envelopeOf = ({ envelope }: LayerText): Envelope | null =>
  envelope === null ? null : readEnvelope(envelope).envelope

/** A layer by what its text says. */
export const readLayer = (layer: LayerText): GateLayer => ({
  envelopeId: layer.envelopeId,
  envelope: envelopeOf(layer)
})

/** Lints what was read. Codes in `acknowledged` may stay open. */
export const lintRead = (
  { findings, fitted }: Reading,
  surroundings: Surroundings,
  history: History | null,
  acknowledged: ReadonlyArray<string>,
  limits: Limits
): LintOut => {
  const ownFindings = findings.map(readingOut)
  if (fitted === null)
    return {
      publishable: false,
      complete: false,
      findings: ownFindings,
      proved: [],
      open: [],
      not_checked: [],
      domain: null,
      decides: null,
      table: null,
      sentences: []
    }
  const report = lint(
    fitted.floored.compiled,
    {
      envelope: fitted.envelope,
      ...(history === null || history.evaluations.length === 0
        ? {}
        : { history: { inputs: recordedInputs(history.evaluations, fitted.floored), days: daysOf(history) } }),
      ...factsAround(surroundings, fitted.envelope, history),
      ...(surroundings.agentTier === undefined ? {} : { agentTier: { tier: surroundings.agentTier, needs: tierNeeds } })
    },
    {
      ...budgetsOf(limits, fitted.floored),
      acknowledgePartial: acknowledged.filter((code): code is LintCode => Object.hasOwn(lintCodes, code))
    }
  )
  const all = [...ownFindings, ...report.findings.map(findingOut)]
  return lintOut(report, all, fitted.envelope)
}

const lintOut = (report: LintReport, findings: ReadonlyArray<EnvelopeFinding>, envelope: Envelope): LintOut => ({
  publishable: !findings.some(({ level }) => level === "error"),
  complete: report.complete,
  findings,
  proved: report.proved,
  open: report.open.map(({ code, reason, rules }) => ({ code, rules, reason })),
  not_checked: report.notChecked.map(({ code, reason, rules }) => ({ code, rules, reason })),
  domain: report.domain,
  decides: report.decides,
  table: tableAsMarkdown(decisionTable(envelope)),
  sentences: envelopeSentences(envelope)
    .split("\n")
    .filter((line) => line !== "")
})

const readingOut = ({ code, example, message, path }: Finding): EnvelopeFinding => ({
  code,
  level: "error",
  path,
  rules: [],
  message,
  example: example ?? null,
  volume: null,
  share: null,
  history_count: null
})

const findingOut = ({
  code,
  example,
  historyCount,
  level,
  message,
  rules,
  share,
  volume
}: LintFinding): EnvelopeFinding => ({
  code,
  level,
  path: null,
  rules,
  message,
  example,
  volume,
  share,
  history_count: historyCount
})

/** A diff as the interface shows it; numbers of versions, 0 for the draft or for nothing. */
export const diffOut = (from: number, to: number, report: DiffReport): DiffOut => ({
  from,
  to,
  change: report.change,
  complete: report.complete,
  domain: report.domain,
  notes: report.notes,
  history_total: report.historyTotal,
  sentence: report.sentence,
  transitions: report.transitions.map(({ decidedBy, direction, example, from, historyCount, share, to, volume }) => ({
    from,
    to,
    direction,
    volume,
    share,
    example,
    decided_by: decidedBy,
    history_count: historyCount
  }))
})

/** Runs history through an envelope. */
export const test = ({ floored }: Fitted, history: History, meters: BacktestReport["meters"]): BacktestOut => {
  const report = backtest(history.events, floored, { meters, fromGenesis: history.fromGenesis })
  return {
    from_seq: history.fromSeq,
    to_seq: history.toSeq,
    meters: report.meters,
    total: report.total,
    classes: report.classes,
    not_replayable: report.notReplayable,
    transitions: report.transitions.map(({ count, evaluationIds, from, to }) => ({
      from,
      to,
      count,
      evaluation_ids: evaluationIds
    })),
    from_at: report.fromAtMs === null ? null : formatInstant(report.fromAtMs),
    to_at: report.toAtMs === null ? null : formatInstant(report.toAtMs)
  }
}

/** Days that a history spans. */
const daysOf = ({ evaluations }: History): number => (evaluations.at(-1)!.atMs - evaluations[0]!.atMs) / 86_400_000
