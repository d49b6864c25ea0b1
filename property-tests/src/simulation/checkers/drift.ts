/**
 * Behaviour: alarms share no decision, say by hand how many runs were over, and activate what they say; and a threshold
 * that good runs set is the one of them that it should be.
 */
import { Effect } from "effect"
import { type Checker, type ReadRecord } from "./checked.ts"

/** Decisions of other runs after which a run is over. */
const QUIET = 20
/** Runs of a block: an alarm comes at the end of a second one or later. */
const BLOCK = 8

/** See the file's first line. */
export const driftChecker: Checker = ({ ledger, records }) =>
  Effect.sync(() => {
    const alarms = records.filter(({ kind }) => kind === "drift.alarmed")
    const problems = [...alarmed(alarms, records), ...records.flatMap((one) => calibrated(one, records))]
    if (alarms.length < ledger.alarms)
      problems.push(`${ledger.alarms} alarms were acknowledged, and ${alarms.length} are there`)
    return problems.map((problem) => `drift: ${problem}`)
  })

const alarmed = (alarms: ReadonlyArray<ReadRecord>, records: ReadonlyArray<ReadRecord>): Array<string> => {
  const problems: Array<string> = []
  const ended = new Map<string, number>()
  for (const { agentId, body, seq } of alarms) {
    const [from, to] = [Number(body["epoch_from_seq"]), Number(body["as_of_seq"])]
    const before = ended.get(agentId!) ?? -1
    if (from <= before) problems.push(`the alarm ${seq} begins with ${from}, and one before it ends with ${before}`)
    ended.set(agentId!, to)
    const over = runsOver(records.slice(from, to + 1).filter((one) => one.agentId === agentId))
    if (over !== body["runs"] || over < 2 * BLOCK || over % BLOCK !== 0)
      problems.push(`the alarm ${seq} is about ${String(body["runs"])} runs, and ${over} were over`)
    const next = records[seq + 1]
    const isActivated = next?.kind === "kill.activated" && next.body["writer"] === "policy:drift"
    if ((body["activation_id"] ?? null) !== (isActivated ? next.body["activation_id"] : null))
      problems.push(`the alarm ${seq} says ${String(body["activation_id"])}, and the next record another activation`)
  }
  return problems
}

/** Runs whose last decision lies twenty decisions back. */
const runsOver = (records: ReadonlyArray<ReadRecord>): number => {
  const runs = records.flatMap(({ body, kind }) =>
    kind === "decision.witnessed" && typeof body["run_id"] === "string" ? [body["run_id"]] : []
  )
  return [...new Set(runs)].filter((run) => runs.lastIndexOf(run) < runs.length - QUIET).length
}

/** Counts the decisions of each run that lies whole in the range, and takes the one of that rank. */
const calibrated = ({ body, kind, seq }: ReadRecord, records: ReadonlyArray<ReadRecord>): ReadonlyArray<string> => {
  const good = body["good_runs"] as { readonly from_seq: number; readonly to_seq: number; readonly runs: number }
  if (kind !== "breaker.armed" || good === undefined) return []
  const lengths = new Map<string, number>()
  const cut = new Set<string>()
  for (const { agentId, body: of, seq: at } of records.slice(0, Number(body["as_of_seq"]) + 1)) {
    const run = of["run_id"]
    if (agentId !== body["agent_id"] || typeof run !== "string") continue
    if (at < good.from_seq || at > good.to_seq) cut.add(run)
    lengths.set(run, (lengths.get(run) ?? 0) + 1)
  }
  const scores = [...lengths].flatMap(([run, length]) => (cut.has(run) ? [] : [length])).toSorted((a, b) => a - b)
  const rank = Math.ceil(((scores.length + 1) * (10_000 - Number(body["max_false_stop_bp"]))) / 10_000)
  const params = body["params"] as unknown as ReadonlyArray<{ readonly name: string; readonly number?: number }>
  const said = params.find(({ name }) => name === "max_count")?.number
  return said === scores[rank - 1] && good.runs === scores.length
    ? []
    : [`${seq} says ${good.runs} good runs and ${said}: ${scores.length} and ${scores[rank - 1]} are there`]
}
