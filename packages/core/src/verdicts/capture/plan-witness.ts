/** Plans the capture of decisions. */
import type { DecisionIn } from "@flyball/contract"
import { DecisionTooLarge, detailItem, InvalidInput, MAX_BATCH, PART_LIMIT_BYTES } from "@flyball/contract"
import type { Crypto, Slices } from "@flyball/evidence"
import { Result } from "effect"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { AGENTS } from "../../registry/agents/document.ts"
import type { ChangeSet, RecordDraft } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type ContentProblem, decisionContent, type Frame } from "./decision-content.ts"
import { TextBytes } from "../content/part-bytes.ts"

/** Everything that witnessing needs to know. */
export interface WitnessCommand {
  readonly agent: StoredAgent
  readonly decisions: ReadonlyArray<DecisionIn>
  readonly writer: Writer
}

/**
 * Bytes of decisions that are planned in one slice, about two milliseconds' work.
 *
 * - Unit: bytes of their parts, and {@link DECISION_BYTES} for each decision.
 */
const SLICE_BYTES = 131_072
/** Cost of a decision besides its parts, in bytes of parts that take as long. */
const DECISION_BYTES = 512

/**
 * Decides what witnessing decisions would change: one record each, all or nothing. In slices; a small batch is one.
 *
 * The agent's version is expected unchanged, so the status in a record is the agent's status at that place in the
 * chain. Capture is accepted in every status.
 *
 * - Fails: `DecisionTooLarge` with every offending index; `InvalidInput` for no decision or too many, and for a value
 *   that has no RFC 8785 form and was not received as JSON, and for a `local_verdict` of another decider than
 *   `sdk_cache`: replay would find it wrong, in a record that nobody can take back.
 * - Spec: document 1 section 4, POST /agents/{agent_id}/decisions; decision 0002 for what "the same again" means.
 */
export function* planWitness(
  crypto: Crypto,
  command: WitnessCommand
): Slices<Result.Result<ChangeSet, DecisionTooLarge | InvalidInput>> {
  const count = command.decisions.length
  if (count < 1 || count > MAX_BATCH) return Result.fail(batchRefusal(count))
  const misplaced = command.decisions.flatMap(({ decided_by: by, local_verdict: verdict }, index) =>
    verdict != null && by !== "sdk_cache" ? [index] : []
  )
  if (misplaced.length > 0) return Result.fail(verdictRefusal(misplaced))
  const records: Array<RecordDraft> = []
  const problems: Array<readonly [number, ContentProblem]> = []
  const {
    id: agentId,
    body: { status: agentStatus }
  } = command.agent
  const writer = command.writer.id
  const frame: Frame = { agentId, agentStatus, writer }
  const texts = new TextBytes()
  let sliceLeft = SLICE_BYTES
  for (let index = 0; index < count; index++) {
    const content = yield* decisionContent(crypto, command.decisions[index]!, frame, texts)
    if (Result.isFailure(content)) problems.push([index, content.failure])
    else records.push(content.success)
    sliceLeft -= Result.isFailure(content) ? SLICE_BYTES : DECISION_BYTES + content.success.partBytes
    if (sliceLeft > 0 || index === count - 1) continue
    sliceLeft = SLICE_BYTES
    yield
  }
  if (problems.length > 0) return Result.fail(contentRefusal(problems))
  return Result.succeed({
    turn: { class: "capture", key: writer },
    expects: [{ collection: AGENTS, id: command.agent.id, version: command.agent.version }],
    records
  })
}

const batchRefusal = (count: number): InvalidInput =>
  new InvalidInput({
    detail: [
      detailItem(
        ["body", "decisions"],
        count < 1 ? "too_short" : "too_long",
        `List should have 1 to ${MAX_BATCH} items`
      )
    ]
  })

const verdictRefusal = (indexes: ReadonlyArray<number>): InvalidInput =>
  new InvalidInput({
    detail: indexes.map((index) =>
      detailItem(
        ["body", "decisions", String(index), "local_verdict"],
        "value_error",
        "A local verdict is allowed only with `decided_by: sdk_cache`"
      )
    )
  })

/** One refusal for all invalid parts: sizes first, since they do not depend on the content. */
export const contentRefusal = (
  problems: ReadonlyArray<readonly [number, ContentProblem]>
): DecisionTooLarge | InvalidInput => {
  const tooLarge = problems.filter(([, { problem }]) => problem._tag === "TooLarge")
  if (tooLarge.length > 0)
    return new DecisionTooLarge({ indexes: tooLarge.map(([index]) => index), limitBytes: PART_LIMIT_BYTES })
  return new InvalidInput({
    detail: problems.map(([index, { part, problem }]) =>
      detailItem(
        ["body", "decisions", String(index), part],
        "value_error",
        problem._tag === "NotCanonical" ? problem.message : "The value is too large."
      )
    )
  })
}
