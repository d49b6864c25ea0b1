/** Decodes path, query and body of a request for its endpoint, and reports all problems of path and query at once. */
import { type DetailItem, detailItem, InvalidInput, missingBody, type Refusal } from "@flyball/contract"
import type { AnyEndpoint, Caller } from "@flyball/contract/http"
import type { Slices } from "@flyball/evidence"
import { Result } from "effect"
import { paramNames } from "../router.ts"

/** Parameters of path and query, read. */
export interface DecodedTarget {
  readonly params: { readonly [name: string]: unknown }
  readonly query: unknown
}

/**
 * The decoded parameters of a path and of a query, or all errors of both. An id that cannot be one is reported alone:
 * nothing can exist under it.
 */
export const decodeTarget = (
  endpoint: AnyEndpoint,
  values: ReadonlyArray<string>,
  queryText: string
): Result.Result<DecodedTarget, Refusal> => {
  const params = decodeParams(endpoint, values)
  const refusal = Result.isFailure(params) ? params.failure : null
  if (refusal !== null && refusal._tag !== "InvalidInput") return Result.fail(refusal)
  const query = decodeQuery(endpoint, queryText)
  if (refusal !== null)
    return Result.fail(
      Result.isSuccess(query)
        ? refusal
        : invalid([...refusal.detail, ...query.failure.detail] as ReadonlyArray<DetailItem>)
    )
  return Result.isFailure(query)
    ? Result.fail(query.failure)
    : Result.succeed({ params: Result.getOrThrow(params), query: query.success })
}

const decodeParams = (
  endpoint: AnyEndpoint,
  values: ReadonlyArray<string>
): Result.Result<{ readonly [name: string]: unknown }, Refusal> => {
  const params: { [name: string]: unknown } = {}
  const names = namesOf(endpoint.path)
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!
    const decoded = endpoint.params[name].decode(values[index]!, name) as Result.Result<unknown, Refusal>
    if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
    params[name] = decoded.success
  }
  return Result.succeed(params)
}

/** By path; there are as many as there are endpoints. */
const knownNames = new Map<string, ReadonlyArray<string>>()

const namesOf = (path: string): ReadonlyArray<string> => {
  const known = knownNames.get(path)
  if (known !== undefined) return known
  const names = paramNames(path)
  knownNames.set(path, names)
  return names
}

/** Unknown parameters that one answer lists, of the thousands that a query may have. */
const MOST_UNKNOWN = 64

/**
 * Decodes the parameters that the endpoint knows, each of which may occur once. Others are problems below `/api/v1`,
 * and are passed over elsewhere.
 */
const decodeQuery = (endpoint: AnyEndpoint, text: string): Result.Result<unknown, InvalidInput> => {
  if (endpoint.query === null && text === "") return Result.succeed({})
  const names = endpoint.query?.names ?? []
  const given = pairsOf(text)
  const known: { [name: string]: string } = {}
  const problems: Array<DetailItem> = []
  if (endpoint.path.startsWith("/api/v1/"))
    for (const [name, [first]] of given)
      if (!names.includes(name) && problems.length < MOST_UNKNOWN)
        problems.push(
          detailItem(["query", name], "extra_forbidden", "Extra inputs are not permitted", first?.value ?? null)
        )
  for (const name of names) {
    const [first, second] = given.get(name) ?? []
    const malformed = given.get(name)?.find(({ sent }) => !isUriText(sent))
    const refuse = (msg: string, input: string): void =>
      void problems.push(detailItem(["query", name], "value_error", msg, input))
    if (malformed !== undefined) refuse("This is not percent-encoded UTF-8", malformed.sent)
    else if (second !== undefined) refuse("This parameter may occur once", second.value)
    else if (first !== undefined) known[name] = first.value
  }
  const decoded = (endpoint.query?.decode(known) ?? Result.succeed({})) as Result.Result<
    unknown,
    ReadonlyArray<DetailItem>
  >
  const detail = [...problems, ...(Result.isFailure(decoded) ? decoded.failure : [])]
  return detail.length > 0 ? Result.fail(new InvalidInput({ detail })) : (decoded as Result.Result<unknown, never>)
}

/** A parameter, and how it was sent: `URLSearchParams` puts U+FFFD where that is not percent-encoded UTF-8. */
interface Given {
  readonly value: string
  readonly sent: string
}

/** The parameters by name, in one pass: a query may have thousands. */
const pairsOf = (text: string): ReadonlyMap<string, ReadonlyArray<Given>> => {
  const given = new Map<string, Array<Given>>()
  for (const pair of text.replace(/^\?/, "").split("&")) {
    // A question mark belongs to the name, but for one at the start of the query.
    for (const [name, value] of new URLSearchParams(`&${pair}`)) {
      const mark = pair.indexOf("=")
      const one = { value, sent: mark < 0 ? "" : pair.slice(mark + 1) }
      const before = given.get(name)
      if (before === undefined) given.set(name, [one])
      else before.push(one)
    }
  }
  return given
}

// The value is taken: of a call whose value nobody takes the bundler keeps nothing where it knows the function, not
// even that it throws.
const isUriText = (text: string): boolean => {
  try {
    return typeof decodeURIComponent(text) === "string"
  } catch {
    return false
  }
}

/**
 * The decoded body, in slices. An endpoint without one takes nothing, or an empty object. Where no body is needed, the
 * JSON value null is no body.
 */
export function* decodeBody(
  endpoint: AnyEndpoint,
  sent: unknown,
  caller: Caller | null
): Slices<Result.Result<unknown, InvalidInput>> {
  const value = sent === null && (endpoint.body === null || endpoint.body.optional) ? undefined : sent
  if (endpoint.body === null)
    return value === undefined ? Result.succeed(null) : Result.mapError(emptyBody(value), invalid)
  if (value === undefined && !endpoint.body.optional) return Result.fail(invalid(missingBody))
  if (endpoint.body.decodeInSlices !== undefined) {
    const decoded = yield* endpoint.body.decodeInSlices(value)
    return Result.mapError(decoded as Result.Result<unknown, ReadonlyArray<DetailItem>>, invalid)
  }
  return Result.mapError(
    endpoint.body.decode(value === undefined ? {} : value, caller) as Result.Result<unknown, ReadonlyArray<DetailItem>>,
    invalid
  )
}

const invalid = (detail: ReadonlyArray<DetailItem>): InvalidInput => new InvalidInput({ detail })

const emptyBody = (value: unknown): Result.Result<null, ReadonlyArray<DetailItem>> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return Result.fail([detailItem(["body"], "dict_type", "Input should be a valid dictionary", value)])
  }
  const [name] = Object.keys(value)
  return name === undefined
    ? Result.succeed(null)
    : Result.fail(
        Object.keys(value)
          .slice(0, MAX_NAMED)
          .map((member) =>
            detailItem(
              ["body", member],
              "extra_forbidden",
              "This endpoint takes no body",
              (value as { readonly [name: string]: unknown })[member]
            )
          )
      )
}

/** Members of an unwanted body that are named. */
const MAX_NAMED = 100
