/** What an agent asks, made ready to be decided on. */
import { detailItem, type EvaluationIn, InvalidInput, SIGNALS_LIMIT_BYTES } from "@flyball/contract"
import { type Crypto, inOneGo } from "@flyball/evidence"
import { Result } from "effect"
import { partBytes } from "../content/part-bytes.ts"
import { TextBytes } from "../content/text-bytes.ts"
import type { Writer } from "../../foundation/writer.ts"
import { askedDigest, type Asked, type AskedInput } from "./plan-evaluation.ts"
import { evaluationId, signalsOf } from "@flyball/rules"

/**
 * Makes the part, the id and the digest of what is asked.
 *
 * Every member is read once, here, and what is decided on is read back from the bytes of the part: whatever a caller
 * does to its object while the call waits,
 * record and verdict speak of the same. Whoever evaluates again reads the same bytes in the same way.
 *
 * - Fails: `InvalidInput` for signals that JSON cannot say, that are no object, or that are too large.
 */
export const makeAsked = (
  crypto: Crypto,
  originTag: Uint8Array,
  {
    action = null,
    action_digest = null,
    agent_id,
    approval_id = null,
    client_ref,
    run_id = null,
    signals
  }: EvaluationIn,
  { id }: Writer
): Result.Result<Asked, InvalidInput> => {
  const input: AskedInput = { action, action_digest, agent_id, approval_id, client_ref, run_id }
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
            digest: askedDigest(crypto, input, signalsPart),
            writer: { id }
          })
    )
  )
}

/** What has no exact form comes as bytes, whatever it is: the shape of the body could not look. */
const isObject = (json: Uint8Array): boolean => json[0] === 0x7b

const noObject = (): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", "signals"], "dict_type", "Input should be a valid dictionary")] })

const tooLarge = `Signals may have ${SIGNALS_LIMIT_BYTES} bytes as JSON`

const invalid = (message: string): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", "signals"], "value_error", message)] })
