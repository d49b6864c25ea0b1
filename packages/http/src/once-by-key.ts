/**
 * Requests with an `Idempotency-Key`: one runs, and its answer is the answer to all that come within 24 hours.
 *
 * Spec: document 2 section 4; platform section 4; api.md "Conventions".
 */
import { createHash } from "node:crypto"
import { detailItem, IdempotencyNotSupported, InvalidInput, type Refusal } from "@flyball/contract"
import { type AnyEndpoint, JSON_MEDIA, keepsAnswer, LINES_MEDIA, problemOf, ReceivedFile } from "@flyball/contract/http"
import { Idempotency, inSlices, type KeptAnswer } from "@flyball/core"
import { canonicalizeInSlices, fromUtf8, RawJson } from "@flyball/evidence"
import { Effect, Result } from "effect"
import type { Answer } from "./answer/answer.ts"
import { dialectOf } from "./dialect.ts"
import { type Dispatcher, type Progress, type Reply, statusOf } from "./dispatch.ts"
import { answerIn } from "./handlers/derived.ts"
import type { AnyHandler, Fault, Services } from "./request/call.ts"
import { type AdmittedCaller, askerOf, scopeOf } from "./request/caller.ts"

/** Name of the header, as Node reads it. */
export const KEY_HEADER = "idempotency-key"

/** A request with a key. */
interface Keyed {
  readonly endpoint: AnyEndpoint
  readonly call: Parameters<AnyHandler>[0]
  /** The body, decoded. */
  readonly body: unknown
  /** The JSON value of its body, or its file; undefined without one. */
  readonly value: unknown
  readonly progress: Progress
}

/** An answer as it is kept, and the refusal that it tells of. */
interface Attempted extends KeptAnswer {
  readonly refusal: Refusal | null
}

/** Statuses of refusals that depend on the caller or the moment: they are not kept. Nor are wrong forms. */
const unkept: ReadonlySet<number> = new Set([401, 403, 413, 415, 429])

/** Runs the handler under the key of a request, or answers what was kept. */
export const onceByKey = Effect.fnUntraced(function* (
  dispatcher: Dispatcher,
  keyed: Keyed,
  handled: Effect.Effect<Reply, Refusal | Fault, Services>
): Effect.fn.Return<Reply, Refusal | Fault, Services> {
  const { body, call, endpoint, progress, value } = keyed
  const idempotency = yield* Idempotency
  const key = yield* Effect.fromResult(keyOf(call.request.headers[KEY_HEADER]))
  if (!keepsAnswer(endpoint, body) || (endpoint.showsSecret === true && !idempotency.keepsSecrets))
    return yield* new IdempotencyNotSupported()
  const refused = (refusal: Refusal | Fault): Attempted | null => {
    const problem = problemOf(refusal, endpoint)
    const isForm = refusal._tag === "InvalidInput"
    if (problem === null || isForm || problem.status >= 500 || unkept.has(problem.status)) return null
    const { request } = call
    const {
      body: shown,
      headers,
      status
    } = dialectOf(dispatcher, request).shown(problem, {
      requestId: progress.requestId,
      request
    })
    return { status, headers, body: JSON.stringify(shown), refusal: refusal as Refusal }
  }
  // A caller that leaves does not end it, so that it must not give its permit back either.
  const ran = yield* Effect.uninterruptible(
    idempotency.run(
      {
        owner: ownerOf(call.caller),
        key,
        fingerprint: yield* fingerprintOf(endpoint, call, value),
        requestId: progress.requestId,
        isSecret: endpoint.showsSecret === true,
        // What uses a quota is work of a product: a model's, a reader's.
        actsOutside: endpoint.platform?.quota != null,
        answerOf: (answered) => {
          const answer = answerIn(endpoint.success)(answered, call)
          return keptOf({ status: statusOf(answer) ?? endpoint.success.status, answer })
        }
      },
      handled.pipe(
        Effect.map((reply): Attempted => ({ ...keptOf(reply), refusal: null })),
        Effect.catch((refusal) => {
          const attempted = refused(refusal)
          return attempted === null ? Effect.fail(refusal) : Effect.succeed(attempted)
        })
      )
    )
  )
  if ("repeats" in ran) return replyOf(ran, { "idempotent-replayed": "true", "original-request-id": ran.repeats })
  return ran.refusal === null ? replyOf(ran, {}) : yield* ran.refusal
})

/** The account of a caller, which outlives its token. An ingest key sees its own requests alone. */
const ownerOf = (caller: AdmittedCaller): string => {
  switch (caller.kind) {
    case "platform":
      return `unit:${caller.orgUnit}`
    case "key":
    case "user":
      return `${caller.kind}:${askerOf(caller)}`
    case "anonymous":
      return "anonymous"
  }
}

/** Longest key. Unit: characters. */
const MAX_KEY = 255

/** Reads the header: bare, or a string of RFC 8941; `"abc"` and `abc` are one key. */
const keyOf = (header: string | ReadonlyArray<string> | undefined): Result.Result<string, InvalidInput> => {
  const text = String(header)
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(text)?.[1]
  const key = quoted === undefined ? text : quoted.replaceAll(/\\(.)/g, "$1")
  const isKey = /^[\x20-\x7e]+$/.test(key) && key.length <= MAX_KEY && (quoted !== undefined || !text.startsWith('"'))
  return isKey
    ? Result.succeed(key)
    : Result.fail(invalidKey(`Expected 1 to ${MAX_KEY} printable ASCII characters, bare or in quotation marks`, text))
}

const invalidKey = (msg: string, input: string | null): InvalidInput =>
  new InvalidInput({ detail: [detailItem(["header", "Idempotency-Key"], "value_error", msg, input)] })

/**
 * Digest of what makes two requests the same: method, path, query, the org units in which the caller may send it, the
 * agent that acts, and the canonical form of the body. So what was answered before access was taken away is not
 * answered after, and what one agent was allowed is given to no other.
 */
const fingerprintOf = Effect.fnUntraced(function* (
  { method }: AnyEndpoint,
  { caller, request }: Keyed["call"],
  value: unknown
) {
  const { orgUnits } = scopeOf(caller)
  if (isInexact(value))
    return yield* invalidKey("A body with a number or a text that has no canonical form cannot be repeated", null)
  const body = value === undefined ? "" : yield* inSlices(canonicalizeInSlices(exact(value), MAX_DEPTH, MAX_LENGTH))
  const agent = (caller.kind === "platform" ? caller.agentId : null) ?? request.headers["x-flyball-agent"]
  const same = [method, request.url, orgUnits === "*" ? orgUnits : [...orgUnits].sort(), body]
  return createHash("sha256")
    .update(JSON.stringify(agent === undefined ? same : [...same, agent]))
    .digest("hex")
})

/** Bodies are bounded when they are read; these are only bounds of the writer. */
const MAX_DEPTH = 128
const MAX_LENGTH = Number.MAX_SAFE_INTEGER

/** True for a value with a part that has no canonical form: a number too large for one, half a surrogate pair. */
const isInexact = (value: unknown): boolean => {
  if (typeof value === "number") return !Number.isFinite(value)
  if (typeof value === "string") return !value.isWellFormed()
  if (typeof value !== "object" || value === null || value instanceof RawJson || value instanceof ReceivedFile)
    return false
  return Object.entries(value).some(([name, member]) => !name.isWellFormed() || isInexact(member))
}

/** The value with the text of what has no exact form. */
const exact = (value: unknown): unknown => {
  if (value instanceof ReceivedFile) return { file: value.sha256, media: value.media }
  if (value instanceof RawJson) return { "raw json": fromUtf8(value.bytes) }
  if (Array.isArray(value)) return value.map(exact)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, exact(member)]))
}

const replyOf = (
  { body, headers: { "content-type": media = JSON_MEDIA, ...headers }, status }: KeptAnswer,
  more: KeptAnswer["headers"]
): Reply => ({
  status,
  answer: { kind: "kept", media, bytes: Buffer.from(body), headers: { ...headers, ...more } }
})

const keptOf = ({ answer, status }: Reply): KeptAnswer => {
  const text = textOf(answer)
  const headers = "headers" in answer && answer.headers !== undefined ? answer.headers : {}
  return { status, headers: { ...headers, "content-type": text.media }, body: text.body }
}

const textOf = (answer: Answer): { readonly media: string; readonly body: string } => {
  switch (answer.kind) {
    case "json":
      return { media: JSON_MEDIA, body: JSON.stringify(answer.value) }
    case "text":
      return { media: JSON_MEDIA, body: joined(answer.text.pieces) }
    case "lines":
      return { media: LINES_MEDIA, body: answer.lines.map(({ pieces }) => `${joined(pieces)}\n`).join("") }
    case "pieces":
      return { media: answer.media, body: joined(answer.pieces) }
    case "kept":
      return { media: answer.media, body: joined([answer.bytes]) }
    case "allow":
    case "stream":
    case "unchanged":
      throw new Error(`An answer of kind ${answer.kind} cannot be kept for a repeat.`)
  }
}

const joined = (pieces: ReadonlyArray<Uint8Array>): string => Buffer.concat(pieces).toString("utf8")
