/** Evaluations: each follows from the records before it, each was requested, and no cap is ever passed. */
import { EvidenceCrypto } from "@flyball/core"
import { nodeCrypto } from "@flyball/evidence/node"
import { Effect } from "effect"
import { Recomputation } from "../../../../packages/rules/src/recompute/recomputation.ts"
import type { Recomputed } from "../../../../packages/rules/src/recompute/recompute-verdict.ts"
import { readRecords } from "../../../../packages/core/src/outward/replay/read-records.ts"
import { CAP } from "../governed-acts.ts"
import { type Checked, type Checker, isOfEngine, type ReadRecord, recordsBy } from "./checked.ts"

/** Evaluates again out of the records alone, and adds up by hand what was let through. */
export const evaluationsChecker: Checker = (world) =>
  Effect.map(evaluatedAgain(world), (again) => {
    const problems = again.flatMap((one) =>
      // A host with a slow clock plans what is sealed a day later: recomputation cannot say whether that was so.
      one.verdict === "ok" || (one.verdict === "withheld" && one.evaluationId === "")
        ? []
        : [`the records of ${one.seq} come to something else: ${JSON.stringify(one).slice(0, 300)}`]
    )
    const made = world.records.filter(({ kind }) => kind === "evaluation.made")
    const recomputed = again.filter(({ evaluationId }) => evaluationId !== "").length
    if (recomputed !== made.length) problems.push(`${made.length} are recorded, ${recomputed} could be made again`)
    return [...problems, ...requested(world), ...capped(world.records)].map((problem) => `evaluations: ${problem}`)
  })

const evaluatedAgain = Effect.fnUntraced(function* ({ isClockSteady, ports: { storage }, records }: Checked) {
  const again = new Recomputation({ fromGenesis: true })
  const found: Array<Recomputed> = []
  if (!records.some(({ kind }) => kind === "evaluation.made")) return found
  yield* readRecords(
    storage,
    nodeCrypto,
    { from: 0, to: records.length - 1 },
    (record) => {
      const one = again.take(record, isClockSteady ? records[record.seq]!.atMs : null)
      if (one !== null) found.push(one)
    },
    () => {},
    "every part"
  ).pipe(Effect.provideService(EvidenceCrypto, nodeCrypto))
  return found
})

/** Once for each reference, and what was acknowledged is what is there. */
const requested = ({ ledger, records }: Checked): ReadonlyArray<string> => {
  const problems: Array<string> = []
  // Two agents may dispatch one plan: then both are evaluated under its name.
  const made = recordsBy(records, "evaluation.made", ({ body }) =>
    String(isOfEngine(String(body["client_ref"])) ? [body["client_ref"], body["agent_id"]] : body["client_ref"])
  )
  for (const [ref, all] of made)
    if (all.length > 1 || !(isOfEngine(ref) || ledger.evaluated.has(ref)))
      problems.push(`${ref} is evaluated ${all.length} times`)
  for (const [ref, { receipt }] of ledger.evaluated) {
    const record = made.get(ref)?.[0]
    if (receipt !== null && (record?.seq !== receipt.seq || record.body["outcome"] !== receipt.outcome))
      problems.push(
        `${ref} was acknowledged as ${receipt.outcome} at ${receipt.seq} and is ` +
          `${String(record?.body["outcome"])} at ${record?.seq}`
      )
  }
  return problems
}

interface Added {
  readonly window: string
  readonly amount: number
}

/** Checks what every window holds after each record against the cap, voided and settled amounts included. */
const capped = (records: ReadonlyArray<ReadRecord>): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const added = new Map<number, Added>()
  const held = new Map<string, number>()
  const put = (seq: number, window: string, amount: number): void => {
    held.set(window, (held.get(window) ?? 0) + amount - (added.get(seq)?.amount ?? 0))
    added.set(seq, { window, amount })
  }
  for (const { body, kind, seq } of records) {
    if (kind === "evaluation.made") {
      for (const { amount, window } of (body["meters"] ?? []) as unknown as ReadonlyArray<{
        readonly amount?: number
        readonly window: string
      }>)
        if (amount !== undefined) put(seq, window, amount)
      for (const [window, sum] of held)
        if (sum > CAP) problems.push(`${seq} passes the cap: ${window} holds ${sum}, and ${CAP} are the most`)
    }
    const of = kind === "meter.voided" || kind === "decision.settled" ? Number(body["evaluation_seq"]) : -1
    const before = added.get(of)
    if (before === undefined) continue
    const actual = (body["actual"] ?? []) as unknown as ReadonlyArray<{ readonly amount: number }>
    if (kind === "meter.voided") put(of, before.window, 0)
    else for (const { amount } of actual) put(of, before.window, amount)
  }
  return problems
}
