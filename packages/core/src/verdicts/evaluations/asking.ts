/** Prepares an evaluation request for the decision. */
import { detailItem, type EvaluationIn, InvalidInput, SIGNALS_LIMIT_BYTES } from "@flyball/contract"
import { type Crypto, inOneGo } from "@flyball/evidence"
import { Result } from "effect"
import { partBytes } from "../content/part-bytes.ts"
import { TextBytes } from "../content/text-bytes.ts"
import type { Writer } from "../../foundation/writer.ts"
import { requestDigest, type RequestedEvaluation, type EvaluationInput } from "./plan-evaluation.ts"
import { evaluationId, signalsOf } from "@flyball/rules"

/**
 * Makes the part, the id and the digest of a request.
 *
 * Every member is read once, here, and the verdict is decided on the bytes of the part. So record and verdict agree
 * whatever a caller does to its object while the call waits. A replay reads the same bytes in the same way.
 *
 * - Fails: `InvalidInput` for signals that JSON cannot say, that are no object, or that are too large.
 */
export const makeRequestedEvaluation = (
  crypto: Crypto,
  originTag: Uint8Array,
  {
    action = null,
    action_digest = null,
    agent_id,
    approval_id = null,
    client_ref,
    instance_id = null,
    run_id = null,
    signals
  }: EvaluationIn,
  { id }: Writer
): Result.Result<RequestedEvaluation, InvalidInput> => {
  const input: EvaluationInput = { action, action_digest, agent_id, approval_id, client_ref, instance_id, run_id }
  return inOneGo(partBytes(signals, new TextBytes(), SIGNALS_LIMIT_BYTES)).pipe(
    Result.mapError((problem) => invalid(problem._tag === "NotCanonical" ? problem.message : tooLarge)),
    Result.flatMap((signalsPart) =>
      !isObject(signalsPart)
        ? Result.fail(noObject())
        : Result.succeed({
            evaluationId: evaluationId(originTag, agent_id, client_ref, (bytes) => crypto.sha256(bytes)),
            input,
            signals: signalsOf(signalsPart),
            signalsPart,
            digest: requestDigest(crypto, input, signalsPart),
            writer: { id }
          })
    )
  )
}

/** Content without an exact form arrives as bytes of any JSON type: the schema of the body could not check it. */
const isObject = (json: Uint8Array): boolean => json[0] === 0x7b

const noObject = (): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", "signals"], "dict_type", "Input should be a valid dictionary")] })

const tooLarge = `Signals may have ${SIGNALS_LIMIT_BYTES} bytes as JSON`

const invalid = (message: string): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", "signals"], "value_error", message)] })
