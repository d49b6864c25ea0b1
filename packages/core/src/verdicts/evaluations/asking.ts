/** Prepares an evaluation request for the decision. */
import { ARGS_LIMIT_BYTES, detailItem, type EvaluationIn, InvalidInput, SIGNALS_LIMIT_BYTES } from "@flyball/contract"
import { type Crypto, inOneGo, RawJson, toHex } from "@flyball/evidence"
import { Result } from "effect"
import { partBytes, TextBytes } from "../content/part-bytes.ts"
import type { Writer } from "../../foundation/writer.ts"
import { requestDigest, type RequestedEvaluation, type EvaluationInput } from "./plan-evaluate.ts"
import { argsOf, evaluationId, signalsOf } from "@flyball/rules"

/**
 * Makes the parts, the id and the digest of a request.
 *
 * Every member is read once, here, and the verdict is decided on the bytes of the part. So record and verdict agree
 * whatever a caller does to its object while the call waits. A replay reads the same bytes in the same way. Arguments
 * without a digest get theirs here.
 *
 * - Fails: `InvalidInput` for signals that JSON cannot say, that are no object, or that are too large, and for
 *   arguments that are too large, have no exact form, or another digest than the request says.
 */
export const makeRequestedEvaluation = (
  crypto: Crypto,
  originTag: Uint8Array,
  {
    action = null,
    action_digest = null,
    agent_id,
    approval_id = null,
    args = null,
    args_redacted = null,
    client_ref,
    extraction_id = null,
    instance_id = null,
    run_id = null,
    signals
  }: EvaluationIn,
  { id }: Writer
): Result.Result<RequestedEvaluation, InvalidInput> =>
  Result.gen(function* () {
    const texts = new TextBytes()
    const signalsPart = yield* bytesOf("signals", signals, texts, SIGNALS_LIMIT_BYTES)
    if (!isObject(signalsPart)) return yield* Result.fail(noObject())
    const isRedacted = args_redacted === true
    if (args instanceof RawJson) return yield* Result.fail(invalid("args", notExact))
    if (args === null && isRedacted) return yield* Result.fail(invalid("args_redacted", nothingRedacted))
    if (isRedacted && action_digest === null) return yield* Result.fail(invalid("action_digest", redactedDigest))
    const argsPart = args === null ? null : yield* bytesOf("args", args, texts, ARGS_LIMIT_BYTES)
    const digestOfArgs = argsPart === null ? null : `sha256:${toHex(crypto.sha256(argsPart))}`
    if (!isRedacted && action_digest !== null && digestOfArgs !== null && action_digest !== digestOfArgs)
      return yield* Result.fail(invalid("action_digest", otherDigest))
    const input: EvaluationInput = {
      action,
      action_digest: action_digest ?? digestOfArgs,
      agent_id,
      approval_id,
      args_redacted: isRedacted ? true : null,
      client_ref,
      extraction_id,
      instance_id,
      run_id
    }
    return {
      evaluationId: evaluationId(originTag, agent_id, client_ref, (bytes) => crypto.sha256(bytes)),
      input,
      signals: signalsOf(signalsPart),
      signalsPart,
      argsPart,
      args: once(() => argsOf(argsPart, input.action_digest)),
      digest: requestDigest(crypto, input, signalsPart, argsPart),
      writer: { id }
    }
  })

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | null = null
  return () => (made ??= { value: make() }).value
}

const bytesOf = (
  member: "args" | "signals",
  value: unknown,
  texts: TextBytes,
  limit: number
): Result.Result<Uint8Array, InvalidInput> =>
  Result.mapError(inOneGo(partBytes(value, texts, limit)), (problem) =>
    invalid(
      member,
      problem._tag === "NotCanonical"
        ? problem.message
        : `${member === "args" ? "Arguments" : "Signals"} may have ${limit} bytes as JSON`
    )
  )

/** Content without an exact form arrives as bytes of any JSON type: the schema of the body could not check it. */
const isObject = (json: Uint8Array): boolean => json[0] === 0x7b

const noObject = (): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", "signals"], "dict_type", "Input should be a valid dictionary")] })

const notExact =
  "Expected arguments with an RFC 8785 form, with numbers of double precision; otherwise send only the digest"
const nothingRedacted = "Nothing can be redacted from arguments that are not sent"
const redactedDigest = "Redacted arguments need the digest of those that the action is taken with"
const otherDigest = "The digest is not that of the RFC 8785 form of `args`; where `args` are redacted, say so"

const invalid = (member: string, message: string): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["body", member], "value_error", message)] })
