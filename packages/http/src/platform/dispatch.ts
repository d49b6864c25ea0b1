/**
 * One request of document 2 from its head to its answer.
 *
 * The order is part of the contract: token (401), permit and limits of the plan (429), path (404), method (405), access
 * (403), parameters (404, 400), body (415, 413, 400), limit of the operation (429), idempotency (409, 422), quota
 * (429), and only then the operation. What is refused before the operation ran counts as a request, and as nothing
 * else.
 *
 * Spec: document 2 sections 4, 5, 7 and 8; platform section 2.
 */
import {
  BODY_LIMIT_BYTES,
  detailItem,
  InvalidInput,
  MethodNotAllowed,
  NotFound,
  type Plan,
  RateLimitExceeded,
  Unauthorized
} from "@flyball/contract"
import type { AnyEndpoint, Body } from "@flyball/contract/http"
import { costProblem, inSlices, type LimitRow, Permits, type PolicyStanding, RateLimits } from "@flyball/core"
import { Clock, Effect, Result } from "effect"
import {
  admittedTo,
  answerOf,
  callerOf,
  type dispatch,
  type Dispatcher,
  type Progress,
  type Reply,
  target
} from "../dispatch.ts"
import type { Incoming, Outgoing } from "../exchange.ts"
import { afterRequest } from "../request/after-request.ts"
import { clientAddress } from "../request/client-address.ts"
import { accessCaller, type KnownCaller } from "../request/caller.ts"
import { decodeBody, decodeTarget } from "../request/decode-call.ts"
import { onlyAuthorization } from "../request/only-authorization.ts"
import { bringsBody, readBody } from "../request/read-body.ts"
import { fileMedia, readFile } from "../request/read-file.ts"
import { AddressLimits } from "./address-limits.ts"
import { type Limited, limitedOf, limitHeaders, operationRow } from "./limits.ts"
import { quotaOf, withQuota } from "./quota.ts"

/** Settings of the platform API that its server decides. */
export interface PlatformOptions {
  /** The plan of those who come with a session. */
  readonly planOfPeople: Plan
  /** True for the address of a proxy whose word on the client's address counts; null: nobody's does. */
  readonly trustedProxy: ((address: string) => boolean) | null
}

/** Makes the dispatch of document 2. */
export const dispatchPlatform = ({ planOfPeople, trustedProxy }: PlatformOptions): typeof dispatch => {
  const addresses = new AddressLimits()
  return Effect.fnUntraced(function* (dispatcher, request, response, progress) {
    const way = { peer: request.socket.remoteAddress, headers: request.headers }
    const address = clientAddress(way, trustedProxy) ?? ""
    const anonymous = addresses.take(address, yield* Clock.currentTimeMillis)
    progress.headers = anonymous.headers
    if (request.method === "OPTIONS") return yield* options(dispatcher, request)
    const { retryAfterS } = anonymous
    const page = publicPage(dispatcher, request)
    if (page !== null) {
      if (retryAfterS !== null) return yield* new RateLimitExceeded({ reason: ADDRESS, retryAfterS })
      progress.endpoint = page
      return yield* answerOf(
        dispatcher,
        page,
        { params: {}, query: {}, body: null, value: undefined },
        request,
        response,
        progress
      )
    }
    const caller = yield* callerOf(request, dispatcher.access, keyHeader(request)).pipe(
      Effect.catchTag("Unauthorized", (refusal) =>
        Effect.fail(retryAfterS === null ? refusal : new RateLimitExceeded({ reason: ADDRESS, retryAfterS }))
      )
    )
    // An ingest key has no plan: it is no key of this API.
    if (caller.kind === "key" || caller.kind === "anonymous") return yield* new Unauthorized({ problem: "key" })
    addresses.back(address)
    if (caller.kind === "user") progress.incompleteClaims = caller.incomplete ?? []
    else progress.caller = caller
    const counted = new Counted(limitedOf(caller, planOfPeople), progress)
    yield* counted.hold(response)
    yield* counted.take(counted.limited.row)
    return yield* admitted(dispatcher, { request, response, progress, caller, counted })
  })
}

/** The key as Anthropic's client sends it, where a request has no Authorization. */
const keyHeader = (request: Incoming): string | undefined => {
  const key = request.headers["x-api-key"]
  return onlyAuthorization(request) ?? (typeof key === "string" ? `Bearer ${key}` : undefined)
}

/** The limit of those without a valid key. */
const ADDRESS = "address-minute"

const options = Effect.fnUntraced(function* (dispatcher: Dispatcher, request: Incoming) {
  const route = dispatcher.route(target(request.url ?? "/").path)
  if (route === null) return yield* new NotFound()
  return { status: 204, answer: { kind: "allow", methods: route.allow } } satisfies Reply
})

/** The page that a request reads, for which nobody needs a key; null for anything else. */
const publicPage = (dispatcher: Dispatcher, request: Incoming): AnyEndpoint | null => {
  const isRead = request.method === "GET" || request.method === "HEAD"
  const found = isRead ? dispatcher.route(target(request.url ?? "/").path)?.methods.get("GET") : undefined
  return found?.access.anonymous === true ? found : null
}

/** A request whose caller and plan admit it, from its path on. */
const admitted = Effect.fnUntraced(function* (
  dispatcher: Dispatcher,
  of: {
    readonly request: Incoming
    readonly response: Outgoing
    readonly progress: Progress
    readonly caller: KnownCaller
    readonly counted: Counted
  }
) {
  const { caller, counted, progress, request, response } = of
  const { path, query } = target(request.url ?? "/")
  const route = dispatcher.route(path)
  if (route === null) return yield* new NotFound()
  const endpoint = route.methods.get(request.method === "HEAD" ? "GET" : (request.method ?? ""))
  if (endpoint === undefined) return yield* new MethodNotAllowed({ allow: route.allow })
  progress.endpoint = endpoint
  counted.says(sunsetOf(endpoint))
  const allowed = admittedTo(endpoint, caller)
  if (Result.isFailure(allowed)) return yield* allowed.failure
  progress.caller = allowed.success
  const requested = decodeTarget(endpoint, route.values, query)
  if (Result.isFailure(requested)) return yield* requested.failure
  const value = bringsBody(request) ? yield* bodyOf(endpoint, request, response) : undefined
  const body = yield* inSlices(decodeBody(endpoint, value, accessCaller(progress.caller)))
  if (Result.isFailure(body)) return yield* body.failure
  const row = operationRow(endpoint, counted.limited, body.success)
  if (row !== null) yield* counted.take(row, endpoint.platform?.cost(body.success) ?? 1)
  const decoded = { ...requested.success, body: body.success, value }
  const use = yield* quotaOf(endpoint, progress.caller, decoded, counted.limited)
  const own = endpoint.platform?.quota?.byOperation === true ? use : null
  return yield* answerOf(dispatcher, endpoint, decoded, request, response, progress, (run) =>
    withQuota(own === null ? use : null, (reservation) => run({ ...counted.limited, reservation, use: own }))
  )
})

const noBody = { limitBytes: BODY_LIMIT_BYTES, keepRaw: null }

const bodyOf = ({ body }: AnyEndpoint, request: Incoming, response: Outgoing) => {
  const file = (body as Body | null)?.file
  const media = fileMedia(request, file)
  return media === null || file === undefined
    ? readBody(request, response, body ?? noBody)
    : readFile(request, response, { media, limitBytes: file.limitBytes })
}

/** When an endpoint was deprecated (RFC 9745) and when it ends (RFC 8594). */
const sunsetOf = ({ platform }: AnyEndpoint): { readonly [name: string]: string } =>
  platform?.sunset === null || platform === null
    ? {}
    : {
        deprecation: `@${Math.floor(Date.parse(platform.sunset.deprecatedAt) / 1_000)}`,
        sunset: new Date(platform.sunset.endsAt).toUTCString()
      }

/** Counts what a request has taken so far, for the headers that say it. */
class Counted {
  readonly limited: Limited
  readonly #progress: Progress
  readonly #rows: Array<LimitRow> = []
  readonly #standings: Array<PolicyStanding> = []
  #inFlight = 0
  #more: { readonly [name: string]: string } = {}

  constructor(limited: Limited, progress: Progress) {
    this.limited = limited
    this.#progress = progress
  }

  /** Adds headers to those of the limits. */
  says(headers: { readonly [name: string]: string }): void {
    this.#more = { ...this.#more, ...headers }
    this.#progress.headers = { ...this.#progress.headers, ...headers }
  }

  /** Takes a permit until nothing of the request goes on. */
  readonly hold = Effect.fnUntraced(function* (this: Counted, response: Outgoing) {
    const { limits, subject } = this.limited
    // Until the release is bound to the answer: a caller that leaves meanwhile would keep its permit.
    const isHeld = yield* Effect.uninterruptible(
      Permits.use((permits) =>
        Effect.flatMap(permits.hold(subject, limits.concurrent), (permit) =>
          permit.held
            ? Effect.as(
                afterRequest(response, () => void Effect.runFork(permit.release)),
                true
              )
            : Effect.succeed(false)
        )
      )
    )
    this.#inFlight = isHeld ? 1 : limits.concurrent
    if (isHeld) return
    yield* this.#say()
    return yield* new RateLimitExceeded({ reason: "concurrency", retryAfterS: 1 })
  })

  /** Takes units of a row's policies, all or none. */
  readonly take = Effect.fnUntraced(function* (this: Counted, row: LimitRow, cost = 1) {
    if (row.policies.length === 0) return yield* this.#say()
    const problem = costProblem([row], cost)
    if (problem !== null)
      return yield* new InvalidInput({ detail: [detailItem(["body"], "value_error", problem, cost)] })
    const taken = yield* RateLimits.use((limits) => limits.take({ rows: [row], cost }))
    this.#rows.push(row)
    this.#standings.push(...taken.policies)
    yield* this.#say()
    if (!taken.admitted)
      return yield* new RateLimitExceeded({ reason: taken.binding.policy, retryAfterS: taken.retryAfterS ?? 1 })
  })

  readonly #say = Effect.fnUntraced(function* (this: Counted) {
    const nowS = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
    const known = { rows: this.#rows, standings: this.#standings, inFlight: this.#inFlight, nowS }
    this.#progress.headers = { ...limitHeaders(this.limited, known), ...this.#more }
  })
}
