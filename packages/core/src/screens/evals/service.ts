/** Eval runs: results of suites, each compared with the run before it. Spec: document 1 section 4; decision 0067. */
import {
  type AgentNotFound,
  DEFAULT_PAGE,
  detailItem,
  type EvalRun,
  type EvalRunIn,
  type EvalRunsQuery,
  InvalidInput
} from "@flyball/contract"
import { type EvalRecordedBody, formatInstant, readRecord } from "@flyball/evidence"
import { evalClusters, type JsonMap, partMembers, readEvalCases } from "@flyball/rules"
import { clusteredShare, passPower } from "@flyball/statistics"
import { Context, Effect, Layer } from "effect"
import { newId, recordHash } from "../../foundation/ids.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import { type ReadFault, Storage, type StorageApi, type StoredRecord } from "../../storage/port.ts"
import { type EarlierRun, EVAL_SCOPE, planRecordEval } from "./plan-record-eval.ts"

/** Operations on eval runs. Agents outside `scope` are answered as not found. Spec: decision 0067. */
export interface EvalRunsApi {
  /** Records a run, and compares it with `baseline_run_id`, or with the newest run of this agent and suite. */
  readonly record: (
    input: EvalRunIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<EvalRun, AgentNotFound | InvalidInput | ReadFault>
  /** Newest first. A page reads at most 20,000 runs, so an empty page is the end only without a `before` that moves. */
  readonly list: (
    query: EvalRunsQuery,
    scope?: Scope
  ) => Effect.Effect<ReadonlyArray<EvalRun>, AgentNotFound | ReadFault>
}

/** Runs that a search reads at a time, and at most. */
const PAGE = 200
const MOST_READ = 20_000
/** Repeats up to which `pass_power` is answered. */
const MAX_POWER = 8

/** Service of eval runs. Spec: document 1 section 4, GET /evals/eval-runs; decision 0067. */
export class EvalRuns extends Context.Service<EvalRuns, EvalRunsApi>()("flyball/core/EvalRuns") {
  static readonly layer: Layer.Layer<EvalRuns, never, Storage> = Layer.effect(
    EvalRuns,
    Effect.gen(function* () {
      const storage = yield* Storage
      const isCovered = (agentId: string, scope: Scope) =>
        scope.orgUnits === "*"
          ? Effect.succeed(true)
          : readAgent(storage, agentId, scope).pipe(
              Effect.as(true),
              Effect.catchTag("AgentNotFound", () => Effect.succeed(false))
            )
      return EvalRuns.of({
        record: Effect.fnUntraced(function* (input, writer, scope = everyUnit) {
          yield* readAgent(storage, input.agent_id, scope)
          const baseline = yield* baselineOf(storage, input)
          const calibration = yield* findRun(
            storage,
            input,
            ({ is_aa: isAa, verdict }) => isAa === true && verdict === "inconclusive"
          )
          const id = yield* newId("evr")
          const change = yield* Effect.fromResult(
            planRecordEval(id, input, baseline, calibration?.body.eval_run_id ?? null, writer)
          )
          const { records } = yield* commitWithRetry(storage, storage.commit(change))
          return yield* Effect.flatMap(storage.record(records[0]!.seq), (stored) => runOut(storage, stored!))
        }),
        list: Effect.fnUntraced(function* (query, scope = everyUnit) {
          const { agent_id: agentId, before, limit = DEFAULT_PAGE, suite_digest: suite } = query
          if (agentId !== undefined) yield* readAgent(storage, agentId, scope)
          const found: Array<EvalRun> = []
          let to = before === undefined ? undefined : before - 1
          for (let read = 0; found.length < limit && read < MOST_READ && to !== -1; read += PAGE) {
            const page = yield* storage.records({
              kinds: ["eval.recorded"],
              order: "desc",
              limit: PAGE,
              ...(agentId === undefined ? {} : { agentId }),
              ...(to === undefined ? {} : { to })
            })
            for (const record of page) {
              if (found.length === limit) break
              const { body } = yield* bodyOf(record)
              if (suite !== undefined && suite !== `sha256:${body.suite_digest}`) continue
              if (yield* isCovered(body.agent_id, scope)) found.push(yield* runOut(storage, record))
            }
            if (page.length < PAGE) break
            to = page.at(-1)!.seq - 1
          }
          return found
        })
      })
    })
  )
}

/** The run to compare with: the one that is named, or the newest of this agent and suite. */
const baselineOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  input: EvalRunIn
): Effect.fn.Return<EarlierRun | null, InvalidInput | ReadFault> {
  const named = input.baseline_run_id ?? null
  const [taken] = named === null ? [] : yield* storage.once(EVAL_SCOPE, [named])
  const record = taken === undefined ? null : yield* storage.record(taken.seq)
  const run =
    named === null
      ? yield* findRun(storage, input, () => true)
      : record === null
        ? null
        : { record, body: (yield* bodyOf(record)).body }
  const isOther =
    run !== null && (run.body.agent_id !== input.agent_id || `sha256:${run.body.suite_digest}` !== input.suite_digest)
  const part = run === null ? null : yield* suiteOf(storage, run.record.seq)
  const cases = part === null ? null : readEvalCases(part)
  if (run !== null && !isOther && cases !== null)
    return { body: run.body, cases, agentVersion: textOf(part?.["agent_version"]) }
  if (named === null) return null
  return yield* new InvalidInput({
    detail: [
      detailItem(
        ["body", "baseline_run_id"],
        "value_error",
        run === null || isOther ? "This agent has no such run of this suite" : "The cases of this run were erased",
        named
      )
    ]
  })
})

/** The newest run of an agent and a suite that fits. Runs further back than {@link MOST_READ} are not found. */
const findRun = Effect.fnUntraced(function* (
  storage: StorageApi,
  { agent_id: agentId, suite_digest: suite }: EvalRunIn,
  fits: (body: EvalRecordedBody) => boolean
): Effect.fn.Return<{ readonly record: StoredRecord; readonly body: EvalRecordedBody } | null, ReadFault> {
  let to: number | undefined
  for (let read = 0; read < MOST_READ; read += PAGE) {
    const page = yield* storage.records({
      kinds: ["eval.recorded"],
      agentId,
      order: "desc",
      limit: PAGE,
      ...(to === undefined ? {} : { to })
    })
    for (const record of page) {
      const { body } = yield* bodyOf(record)
      if (`sha256:${body.suite_digest}` === suite && fits(body)) return { record, body }
    }
    if (page.length < PAGE || page.at(-1)!.seq === 0) return null
    to = page.at(-1)!.seq - 1
  }
  return null
})

const bodyOf = Effect.fnUntraced(function* (record: StoredRecord) {
  const read = readRecord(record.bytes)
  if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${read.code})` })
  return { body: read.record.body as unknown as EvalRecordedBody }
})

/** The members of the part `suite`; null once it was erased. */
const suiteOf = Effect.fnUntraced(function* (storage: StorageApi, seq: number) {
  const [part] = yield* storage.parts([seq])
  const read = part === undefined || part.bytes === null ? null : partMembers({ state: "present", bytes: part.bytes })
  return read?.state === "known" ? read.members : null
})

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null)

const runOut = Effect.fnUntraced(function* (
  storage: StorageApi,
  record: StoredRecord
): Effect.fn.Return<EvalRun, ReadFault> {
  const { body } = yield* bodyOf(record)
  const part = yield* suiteOf(storage, record.seq)
  const { errored, failed, passed, skipped } = body
  return {
    id: body.eval_run_id,
    agent_id: body.agent_id,
    suite: textOf(part?.["name"]),
    suite_digest: `sha256:${body.suite_digest}`,
    model: body.model ?? null,
    agent_version: textOf(part?.["agent_version"]),
    cases: body.cases,
    result_counts: { total: passed + failed + errored + skipped, passed, failed, errored, skipped },
    ...scoresOf(part),
    comparison:
      body.baseline_id === undefined
        ? null
        : {
            baseline_run_id: body.baseline_id,
            is_aa: body.is_aa === true,
            common_cases: body.common_cases!,
            wins: body.wins!,
            losses: body.losses!,
            p: body.p!,
            verdict: body.verdict!,
            lost_cases: part === null ? null : ((part["lost"] ?? []) as ReadonlyArray<string>)
          },
    gate: body.verdict !== "worse" ? "pass" : body.calibration_id === undefined ? "uncalibrated" : "fail",
    calibration_run_id: body.calibration_id ?? null,
    recorded_by: body.writer,
    created_at: formatInstant(record.atMs),
    seq: record.seq,
    record_hash: recordHash(record.hash)
  }
})

/** Scores over cases: repeats of one case say less than as many cases. */
const scoresOf = (part: JsonMap | null): Pick<EvalRun, "pass_power" | "scores"> => {
  const cases = part === null ? null : readEvalCases(part)
  if (cases === null) return { scores: null, pass_power: null }
  const clusters = evalClusters(cases)
  const rate = clusteredShare(clusters)
  const most = Math.min(MAX_POWER, Math.max(0, ...clusters.map(({ trials }) => trials)))
  return {
    scores:
      rate === null
        ? []
        : [
            {
              name: "pass_rate",
              value: rate.share,
              ci95: [rate.low, rate.high],
              n: rate.trials,
              clusters: rate.clusters
            }
          ],
    pass_power: Array.from({ length: most }, (_, at) => ({ k: at + 1, value: passPower(clusters, at + 1)! }))
  }
}
