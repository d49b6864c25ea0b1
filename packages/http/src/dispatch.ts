/**
 * One request from its head to its answer.
 *
 * The order is part of the contract: path (404), method (405), token (401), access (403), parameters of path (404) and
 * query (422, those of both at once), admission (429),
 * body (415, 413, 422), and only then the handler. Nothing is written to the store before the handler.
 *
 * Errors in the forms of a body's members are listed at once, with times that must lie ahead and do not. Rules between
 * members, and those that need the store, are checked when every form is right, as field validators come first.
 */
import { type AnyEndpoint, isRepeatable } from "@flyball/contract/http"
import { BODY_LIMIT_BYTES, Forbidden, InvalidInput, MethodNotAllowed, NotFound, type Refusal } from "@flyball/contract"
import { type Account, inSlices } from "@flyball/core"
import { Clock, Effect, Result } from "effect"
import type { Answer } from "./answer/answer.ts"
import type { Dialect } from "./dialect.ts"
import { type Access, authenticate } from "./request/authenticate.ts"
import type { AnyHandler, Call, Fault, ServerFacts, Services } from "./request/call.ts"
import { accessCaller, admit, type AdmittedCaller, askerOf, type KnownCaller } from "./request/caller.ts"
import type { WorkAdmission } from "./request/admit-work.ts"
import { decodeBody, type DecodedTarget, decodeTarget } from "./request/decode-call.ts"
import type { Incoming, Outgoing } from "./exchange.ts"
import { forbiddenWhereRead } from "./request/forbidden-where-read.ts"
import { authenticateWithHost } from "./request/host-authentication.ts"
import { onlyAuthorization } from "./request/only-authorization.ts"
import { refuseQuarantined } from "./request/quarantine.ts"
import { KEY_HEADER, onceByKey } from "./once-by-key.ts"
import { bringsBody, readBody } from "./request/read-body.ts"
import type { Route } from "./router.ts"

/** Dependencies of dispatching. */
export interface Dispatcher {
  readonly route: (path: string) => Route | null
  readonly handlers: { readonly [id: string]: AnyHandler }
  readonly access: Access
  readonly server: ServerFacts
  readonly admission: WorkAdmission
  /** The last one serves every path. */
  readonly dialects: ReadonlyArray<Dialect>
}

/** Facts about a request that become known while it is served, for the log. */
export interface Progress {
  endpoint: AnyEndpoint | null
  caller: AdmittedCaller
  /** Claims of the person's token that lack values, for every 403 that follows. */
  incompleteClaims: ReadonlyArray<string>
  readonly requestId: string
  /** Headers that every answer to this request has from here on, whatever its end. */
  headers: { readonly [name: string]: string }
}

/** The answer to a request, and its status. */
export interface Reply {
  readonly status: number
  readonly answer: Answer
}

/** Finds the endpoint of a request of document 1, and runs it. */
export const dispatch = Effect.fnUntraced(function* (
  dispatcher: Dispatcher,
  request: Incoming,
  response: Outgoing,
  progress: Progress
): Effect.fn.Return<Reply, Refusal | Fault, Services> {
  const { path, query } = target(request.url ?? "/")
  const route = dispatcher.route(path)
  if (route === null) return yield* new NotFound()
  const endpoint = route.methods.get(request.method === "HEAD" ? "GET" : (request.method ?? ""))
  if (request.method === "OPTIONS") return { status: 204, answer: { kind: "allow", methods: route.allow } }
  if (endpoint === undefined) return yield* new MethodNotAllowed({ allow: route.allow })
  progress.endpoint = endpoint
  // Checked by hand, from here on: an Effect for each costs more than most of them do.
  if (!endpoint.access.anonymous) {
    const caller = yield* callerOf(request, dispatcher.access)
    if (caller.kind === "user") progress.incompleteClaims = caller.incomplete ?? []
    const admitted = admittedTo(endpoint, caller)
    if (Result.isFailure(admitted)) return yield* admitted.failure
    progress.caller = admitted.success
  }
  const requested = decodeTarget(endpoint, route.values, query)
  if (Result.isFailure(requested)) return yield* requested.failure
  return yield* dispatcher.admission.admit(
    endpoint,
    askerOf(progress.caller),
    request,
    requested.success.query,
    answerTo(dispatcher, endpoint, requested.success, request, response, progress)
  )
})

/** The request of document 1 from its body on. */
const answerTo = Effect.fnUntraced(function* (
  dispatcher: Dispatcher,
  endpoint: AnyEndpoint,
  { params, query }: DecodedTarget,
  request: Incoming,
  response: Outgoing,
  progress: Progress
): Effect.fn.Return<Reply, Refusal | Fault, Services> {
  const value = bringsBody(request) ? yield* readBody(request, response, endpoint.body ?? noBody) : undefined
  const decoding = decodeBody(endpoint, value, accessCaller(progress.caller))
  const slice = decoding.next()
  const body = slice.done === true ? slice.value : yield* inSlices(decoding)
  if (Result.isFailure(body)) return yield* withPastTimes(endpoint, value, body.failure)
  const decoded = { params, query, body: body.success, value }
  return yield* answerOf(dispatcher, endpoint, decoded, request, response, progress)
})

/** A decoded request, with the JSON value of its body. */
interface Decoded extends DecodedTarget {
  readonly body: unknown
  readonly value: unknown
}

/** Runs an operation with what its caller may use. */
type Accounted = (
  run: (account: Account | null) => Effect.Effect<Reply, Refusal | Fault, Services>
) => Effect.Effect<Reply, Refusal | Fault, Services>

/** Runs the handler of an endpoint whose caller is admitted, with what the request says. */
export const answerOf = Effect.fnUntraced(function* (
  dispatcher: Dispatcher,
  endpoint: AnyEndpoint,
  { value, ...decoded }: Decoded,
  request: Incoming,
  response: Outgoing,
  progress: Progress,
  accounted: Accounted = (run) => run(null)
): Effect.fn.Return<Reply, Refusal | Fault, Services> {
  const admission = (caller: AdmittedCaller) => Effect.as(refuseQuarantined(endpoint, caller, decoded), caller)
  const callOf = (account: Account | null) =>
    ({
      ...decoded,
      value,
      caller: progress.caller,
      accept: (request.headers.accept ?? "").toLowerCase(),
      request,
      account,
      signal: () => signalOf(response),
      server: dispatcher.server,
      readmit: Effect.suspend(() =>
        callerOf(request, dispatcher.access).pipe(
          Effect.flatMap((caller) => Effect.fromResult(admittedTo(endpoint, caller))),
          Effect.flatMap(admission)
        )
      )
    }) as Call<never, never, never>
  yield* admission(progress.caller)
  const handled = accounted((account) =>
    Effect.map(
      forbiddenWhereRead(endpoint, progress.caller, dispatcher.handlers[endpoint.id]!(callOf(account))),
      (answer): Reply => ({ status: statusOf(answer) ?? endpoint.success.status, answer })
    )
  )
  return yield* isRepeatable(endpoint) && request.headers[KEY_HEADER] !== undefined
    ? onceByKey(dispatcher, { endpoint, call: callOf(null), body: decoded.body, value, progress }, handled)
    : handled
})

/** The status that an answer has in place of its row's. */
export const statusOf = (answer: Answer): number | undefined =>
  answer.kind === "unchanged" ? 304 : answer.kind === "kept" || answer.kind === "stream" ? answer.status : undefined

/** A signal that aborts when an answer ends before it is written whole. */
const signalOf = (response: Outgoing): AbortSignal => {
  const gone = new AbortController()
  if (response.destroyed) gone.abort()
  else response.once("close", () => response.writableFinished || gone.abort())
  return gone.signal
}

/** Adds the times of a body that must lie ahead and do not to what is wrong with its form. */
const withPastTimes = ({ body }: AnyEndpoint, value: unknown, { detail }: InvalidInput) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    Effect.fail(new InvalidInput({ detail: [...detail, ...(body?.past?.(value, nowMs) ?? [])] }))
  )

const noBody = { limitBytes: BODY_LIMIT_BYTES, keepRaw: null }

/** The caller of a request, by its token or the host. `header`: in place of its Authorization. */
export const callerOf = (request: Incoming, access: Access, header = onlyAuthorization(request)) =>
  access.host === undefined || access.host === null
    ? authenticate(header, access)
    : authenticateWithHost(request, access, access.host)

/** The caller, if this endpoint admits it. The demo's persona only reads, whatever its role may do. */
export const admittedTo = (endpoint: AnyEndpoint, caller: KnownCaller) =>
  caller.kind === "user" && caller.readOnly === true && endpoint.method !== "GET"
    ? Result.fail(new Forbidden({ need: "a service of your own; this one is only shown" }))
    : admit(endpoint.access, caller)

/** Path and query of a request target, which proxies may write with scheme and host. */
export const target = (url: string): { readonly path: string; readonly query: string } => {
  const local = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "") || "/"
  const mark = local.indexOf("?")
  return mark < 0 ? { path: local, query: "" } : { path: local.slice(0, mark), query: local.slice(mark + 1) }
}
