/** Recomputes `eval.recorded`: its counts and its comparison, from the parts of both runs. Spec: decision 0067. */
import type { EvalRecordedBody } from "@flyball/evidence"
import { partMembers } from "../../records/part-json.ts"
import type { ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"
import { compareRuns, type EvalCase, evalCounts, readEvalCases } from "../../evals/compare-runs.ts"

/** Most cases that are kept for later comparisons: 50 runs of the longest suite. The oldest are dropped. */
const MAX_KEPT_CASES = 100_000

interface Run {
  readonly body: EvalRecordedBody
  readonly agentVersion: string | null
  /** Null where they are not shown, or were dropped. */
  cases: ReadonlyArray<EvalCase> | null
}

/** The runs of a chain up to a record. It grows with runs, and keeps the cases of the newest. */
export class EvalJudge {
  readonly #runs = new Map<string, Run>()
  readonly #kept: Array<Run> = []
  #keptCases = 0
  readonly #fromGenesis: boolean

  constructor(fromGenesis: boolean) {
    this.#fromGenesis = fromGenesis
  }

  /** Judges a record that matches the catalogue, and keeps it. `isAgent`: the records before it register its agent. */
  take(record: ReplayRecord, isAgent: boolean): Problem | null {
    const body = record.body as unknown as EvalRecordedBody
    const part = partMembers(record.parts.get("suite"))
    const cases = part.state === "known" ? readEvalCases(part.members) : null
    const version = part.state === "known" ? part.members["agent_version"] : undefined
    const run: Run = { body, agentVersion: typeof version === "string" ? version : null, cases }
    const found = this.#problem(run, isAgent, part.state === "known")
    this.#keep(run)
    return found
  }

  #problem({ agentVersion, body, cases }: Run, isAgent: boolean, isShown: boolean): Problem | null {
    const wrongName = this.#wrongName(body, isAgent)
    if (wrongName !== null) return problem("reference_mismatch", wrongName)
    if (!isShown) return problem("withheld", "The cases of the run are not shown.")
    if (cases === null) return problem("eval_mismatch", "The part holds no list of cases with whole numbers.")
    const counts = { cases: cases.length, ...evalCounts(cases) }
    for (const [name, count] of Object.entries(counts))
      if (body[name as keyof typeof counts] !== count) return differs(name, count, body[name as keyof typeof counts])
    if (body.baseline_id === undefined) return null
    const baseline = this.#runs.get(body.baseline_id)
    if (baseline?.cases === undefined || baseline.cases === null)
      return problem("withheld", "The cases of the run that it is compared with are not shown.")
    const isAa = baseline.body.model === body.model && baseline.agentVersion === agentVersion
    const expected = { ...compareRuns(baseline.cases, cases).comparison, is_aa: isAa }
    for (const [name, value] of Object.entries(expected))
      if (body[name as keyof typeof expected] !== value)
        return differs(name, value, body[name as keyof typeof expected])
    return null
  }

  #wrongName(body: EvalRecordedBody, isAgent: boolean): string | null {
    if (this.#runs.has(body.eval_run_id)) return `${body.eval_run_id} was recorded before.`
    if (!this.#fromGenesis) return null
    if (!isAgent) return `No record before it registers ${body.agent_id}.`
    for (const id of [body.baseline_id, body.calibration_id]) {
      const other = id === undefined ? null : this.#runs.get(id)?.body
      if (other === undefined) return `No record before it is the run ${id!}.`
      if (other !== null && (other.agent_id !== body.agent_id || other.suite_digest !== body.suite_digest))
        return `${other.eval_run_id} is of another agent or suite.`
    }
    const calibration = body.calibration_id === undefined ? null : this.#runs.get(body.calibration_id)!.body
    return calibration === null || (calibration.is_aa === true && calibration.verdict === "inconclusive")
      ? null
      : `${calibration.eval_run_id} is no A/A run that found nothing.`
  }

  #keep(run: Run): void {
    this.#runs.set(run.body.eval_run_id, run)
    this.#kept.push(run)
    this.#keptCases += run.cases?.length ?? 0
    while (this.#keptCases > MAX_KEPT_CASES) {
      const oldest = this.#kept.shift()!
      this.#keptCases -= oldest.cases?.length ?? 0
      oldest.cases = null
    }
  }
}

const differs = (name: string, expected: unknown, found: unknown): Problem =>
  problem("eval_mismatch", `${name} is ${String(expected)}; the record says ${String(found ?? "nothing")}.`)
