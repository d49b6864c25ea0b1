/** What an agent asks, made ready to be decided on. */
import { detailItem, type EvaluationIn, InvalidInput, SIGNALS_LIMIT_BYTES } from "@flyball/contract"
import { type Crypto, RawJson } from "@flyball/evidence"
import { Result } from "effect"
import { partBytes } from "../capture/part-bytes.ts"
import type { Writer } from "../writer.ts"
import { askedDigest, type Asked } from "./plan-evaluation.ts"
import { evaluationId } from "./rules/evaluation-id.ts"

/**
 * Makes the part, the id and the digest of what is asked.
 *
 * - Fails: `InvalidInput` for signals that JSON cannot say, or that are too large.
 */
export const makeAsked = (crypto: Crypto, originTag: Uint8Array, input: EvaluationIn, writer: Writer): Result.Result<Asked, InvalidInput> =>
  partBytes(input.signals).pipe(
    Result.mapError((problem) => invalid(problem._tag === "NotCanonical" ? problem.message : tooLarge)),
    Result.flatMap((signalsPart) => signalsPart.length > SIGNALS_LIMIT_BYTES ? Result.fail(invalid(tooLarge)) : Result.succeed({
      evaluationId: evaluationId(originTag, input.agent_id, input.client_ref, (bytes) => crypto.sha256(bytes)),
      input,
      signals: input.signals instanceof RawJson ? null : input.signals,
      signalsPart,
      digest: askedDigest(crypto, input, signalsPart),
      writer
    }))
  )

const tooLarge = `Signals may have ${SIGNALS_LIMIT_BYTES} bytes as JSON`

const invalid = (message: string): InvalidInput => new InvalidInput({ detail: [detailItem(["body", "signals"], "value_error", message)] })
