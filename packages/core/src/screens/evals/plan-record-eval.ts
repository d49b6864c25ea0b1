/** Plans the record of an eval run. Pure. Spec: decision 0067. */
import { detailItem, type EvalRunIn, InvalidInput, PART_LIMIT_BYTES } from "@flyball/contract"
import { canonicalBytes, type EvalRecordedBody, portableCrypto, toHex, utf8 } from "@flyball/evidence"
import { compareRuns, type EvalCase, evalCounts } from "@flyball/rules"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { ChangeSet, IdempotencyKey, JsonObject } from "../../storage/port.ts"

/** Scope of the look-up of runs by their id. */
export const EVAL_SCOPE = "eval_run"

/** The key by which a run is found. Of the id alone: nothing of the part outlives its erasure. */
export const evalKey = (evalRunId: string): IdempotencyKey => ({
  scope: EVAL_SCOPE,
  key: evalRunId,
  digest: toHex(portableCrypto.sha256(utf8(evalRunId)))
})

/** Most lost cases that a record names. */
const MAX_LOST = 100

/** A run that was recorded before. */
export interface EarlierRun {
  readonly body: EvalRecordedBody
  readonly agentVersion: string | null
  readonly cases: ReadonlyArray<EvalCase>
}

/**
 * Decides what recording a run changes: one record, no document. `calibrationId`: an A/A run of this agent and suite
 * that found nothing.
 *
 * - Fails: `InvalidInput` for a case that occurs twice, and where the cases take more than one mebibyte as JSON.
 */
export const planRecordEval = (
  evalRunId: string,
  input: EvalRunIn,
  baseline: EarlierRun | null,
  calibrationId: string | null,
  writer: Writer
): Result.Result<ChangeSet, InvalidInput> => {
  const { agent_version: version = null, cases: given, model = null, suite } = input
  const ids = given.map(({ id }) => id)
  const twice = ids.findIndex((id, at) => ids.indexOf(id) < at)
  if (twice >= 0) return refused(["body", "cases", String(twice), "id"], "Each case may occur once", ids[twice])
  const cases = given.map(caseOf)
  const compared = baseline === null ? null : compareRuns(baseline.cases, cases)
  const part = omitNullish({
    agent_version: version,
    cases,
    lost: compared === null ? null : compared.lost.slice(0, MAX_LOST),
    name: suite
  })
  const bytes = canonicalBytes(part)
  if (bytes.length > PART_LIMIT_BYTES)
    return refused(["body", "cases"], `Expected cases of up to ${PART_LIMIT_BYTES} bytes as JSON`)
  const body = omitNullish({
    agent_id: input.agent_id,
    baseline_id: baseline?.body.eval_run_id,
    calibration_id: calibrationId,
    cases: cases.length,
    eval_run_id: evalRunId,
    model,
    suite_digest: input.suite_digest.slice("sha256:".length),
    writer: writer.id,
    ...evalCounts(cases),
    ...(baseline === null
      ? {}
      : {
          ...compared!.comparison,
          is_aa: baseline.body.model === (model ?? undefined) && baseline.agentVersion === version
        })
  })
  return Result.succeed({
    records: [
      {
        kind: "eval.recorded",
        agentId: input.agent_id,
        body: body as JsonObject,
        parts: [{ name: "suite", bytes }],
        once: evalKey(evalRunId)
      }
    ]
  })
}

const caseOf = ({ id, outcomes }: EvalRunIn["cases"][number]): EvalCase => {
  const of = (outcome: (typeof outcomes)[number]): number => outcomes.filter((one) => one === outcome).length
  return { id, passed: of("passed"), failed: of("failed"), errored: of("errored"), skipped: of("skipped") }
}

const refused = (loc: ReadonlyArray<string>, msg: string, input?: unknown) =>
  Result.fail(new InvalidInput({ detail: [detailItem(loc, "value_error", msg, input)] }))
