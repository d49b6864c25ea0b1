/** Decides what a requested pack holds. Pure. */
import { detailItem, Forbidden, InvalidInput, type PackRequest } from "@flyball/contract"
import { parseInstant } from "@flyball/evidence"
import { Result } from "effect"
import type { Scope } from "../../foundation/scope.ts"
import type { PackSpec } from "./document.ts"
import type { SeqSpan } from "./seqs-between.ts"

/**
 * Members that only make sense for some kinds of packs: they would leave records out, and a full or range pack leaves
 * none out.
 */
const notFor = {
  full: ["from", "to", "agent_id", "run_id", "kinds", "since", "until"],
  range: ["agent_id", "run_id", "kinds"],
  sparse: []
} as const

/**
 * Turns a request into what the pack holds, for the tree of `treeSize` records. `since` is inclusive, `until`
 * exclusive. A range covers the seqs that they delimit, which `span` names.
 *
 * - Fails: `InvalidInput` for members that contradict the kind, or seqs outside the tree, and a range that ends before
 *   it begins, or between whose times no record was made; `Forbidden` when a caller that sees only some org units
 *   requests more than a sparse pack.
 */
export const planRequestPack = (
  request: PackRequest,
  scope: Scope,
  agentIds: ReadonlyArray<string> | null,
  treeSize: number,
  span: SeqSpan = { first: 0, end: treeSize }
): Result.Result<PackSpec, Forbidden | InvalidInput> => {
  if (scope.orgUnits !== "*" && request.kind !== "sparse")
    return Result.fail(
      new Forbidden({
        need: "a role that covers every org unit; with your role you can request a sparse pack of your own agents"
      })
    )
  const problems = notFor[request.kind].flatMap((member) =>
    present(request[member])
      ? [
          problem(
            member,
            `Leave it out: a ${request.kind} pack cannot be filtered. Request kind sparse to filter`,
            request[member]
          )
        ]
      : []
  )
  const from = request.from ?? 0
  const to = request.to ?? treeSize - 1
  const isRange = request.kind === "range"
  const [first, last] = isRange ? [Math.max(from, span.first), Math.min(to, span.end - 1)] : [from, to]
  const sinceMs = instant(request.since)
  const untilMs = instant(request.until)
  if (problems.length === 0) {
    if (to >= treeSize) problems.push(problem("to", `Expected a seq up to ${treeSize - 1}`, to))
    if (from > Math.min(to, treeSize - 1))
      problems.push(problem("from", `Expected a seq up to ${Math.min(to, treeSize - 1)}`, from))
    if (sinceMs === undefined)
      problems.push(problem("since", "Expected a time such as 2026-01-31T00:00:00.000Z", request.since))
    if (untilMs === undefined)
      problems.push(problem("until", "Expected a time such as 2026-01-31T00:00:00.000Z", request.until))
    if (typeof sinceMs === "number" && typeof untilMs === "number" && untilMs < sinceMs)
      problems.push(problem("until", "Expected a time not before `since`", request.until))
    if (problems.length === 0 && isRange && first > last)
      problems.push(
        present(request.until)
          ? problem("until", "No record of the range was made between these times", request.until)
          : problem("since", "No record of the range was made since then", request.since)
      )
  }
  if (problems.length > 0) return Result.fail(new InvalidInput({ detail: problems }))
  return Result.succeed({
    kind: request.kind,
    from: first,
    to: last,
    treeSize,
    agentId: request.agent_id ?? null,
    agentIds,
    runId: request.run_id ?? null,
    kinds: request.kinds ?? null,
    sinceMs: sinceMs ?? null,
    untilMs: untilMs ?? null,
    disclose: request.disclose ?? "none"
  })
}

const present = (value: unknown): boolean => value !== undefined && value !== null

/** Null when absent, undefined when it is no instant. */
const instant = (text: string | null | undefined): number | null | undefined =>
  text === undefined || text === null ? null : (parseInstant(text) ?? undefined)

const problem = (member: string, msg: string, input: unknown) =>
  detailItem(["body", member], "value_error", msg, input ?? null)
