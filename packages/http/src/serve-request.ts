/** Serves one request: dispatches it, writes its answer, and reports it to log, metrics and trace. */
import { BATCH_LIMIT_BYTES, Draining, Forbidden, Unauthorized } from "@flyball/contract"
import { internalError, type Problem, problemOf } from "@flyball/contract/http"
import { Cause, type Context, Effect, Exit } from "effect"
import type { Services } from "./request/call.ts"
import { clientAddress } from "./request/client-address.ts"
import { dialectOf } from "./dialect.ts"
import type { Dispatcher, Progress } from "./dispatch.ts"
import type { Incoming, Outgoing } from "./exchange.ts"
import type { LogRequest, RequestLog } from "./log.ts"
import { discardRest } from "./request/read-body.ts"
import { tokenProblems } from "./request/token-problem.ts"
import { requestSpan } from "./telemetry/request-span.ts"
import { readTraceparent } from "./telemetry/trace-context.ts"
import { CurrentSpan, type OpenSpan, type TracingApi } from "./telemetry/tracing.ts"
import { writeAnswer, writeProblem } from "./answer/write-answer.ts"

/** Dependencies of serving requests. */
export interface Serving<Request extends Incoming = Incoming> {
  readonly dispatcher: Dispatcher
  /** The governor's services and the store under them. */
  readonly context: Context.Context<Services>
  /** Null where no spans are made. */
  readonly tracing: TracingApi | null
  readonly log?: LogRequest
  /** True for the address of a proxy whose word on the client's address counts; null or left out: nobody's does. */
  readonly trustedProxy?: ((address: string) => boolean) | null
  /** How long a reader may take nothing of an answer. Unit: milliseconds. */
  readonly stallMs: number
  /** Runs when a whole answer has left, and nothing of the exchange is to come. */
  readonly onAnswered?: (request: Request) => void
}

/** Bytes of an unread body that are let run out after the answer. */
const DISCARD_BYTES = 4 * BATCH_LIMIT_BYTES

/**
 * Serves a request. It never throws; what fails is answered. `onSettled` runs when nothing more will be written. Spec:
 * decision 0003.
 */
export const serveRequest = <Request extends Incoming>(
  serving: Serving<Request>,
  request: Request,
  response: Outgoing,
  onSettled?: () => void
): void => {
  const { dispatcher, log, stallMs, tracing } = serving
  const dialect = dialectOf(dispatcher, request)
  const id = dialect.requestId(request)
  const startedMs = performance.now()
  // Now, because a socket that is gone has no address any more.
  const client =
    log === undefined
      ? null
      : clientAddress({ peer: request.socket.remoteAddress, headers: request.headers }, serving.trustedProxy ?? null)
  const span = requestSpanOf(tracing, request)
  const progress: Progress = {
    endpoint: null,
    caller: { kind: "anonymous" },
    incompleteClaims: [],
    requestId: id,
    headers: {}
  }
  const { headers } = dialect
  const writing = {
    requestId: id,
    bodiless: request.method === "HEAD",
    stallMs,
    ...(headers === undefined ? {} : { headers: () => headers(progress) })
  }
  const answered = Effect.flatMap(dialect.dispatch(dispatcher, request, response, progress), ({ answer, status }) =>
    writeAnswer(response, status, answer, writing)
  )
  const fiber = Effect.runForkWith(serving.context)(
    span === null ? answered : Effect.provideService(answered, CurrentSpan, span)
  )
  const onClose = (): void => {
    if (!response.writableFinished) fiber.interruptUnsafe()
    else serving.onAnswered?.(request)
  }
  response.on("close", onClose)
  response.on("error", ignored)
  fiber.addObserver((exit) => {
    const problem = Exit.isSuccess(exit) ? null : problemOfCause(exit.cause, id, progress)
    // Interrupted: the sender of the request is gone.
    const isWaiting = problem !== null && problem.code !== null && !response.headersSent && !response.destroyed
    if (isWaiting) writeProblem(response, dialect.shown(problem.shown, { requestId: id, request }), writing)
    else if (problem !== null) response.destroy()
    discardRest(request, DISCARD_BYTES)
    onSettled?.()
    const finished = {
      method: request.method ?? "",
      status: response.headersSent && (response.writableFinished || !response.destroyed) ? response.statusCode : 0,
      durationMs: performance.now() - startedMs
    }
    const route = progress.endpoint?.path ?? null
    const code = problem?.code ?? null
    const refused = problem?.refused ?? {}
    dispatcher.server.count({ ...finished, ...refused, endpoint: progress.endpoint?.id ?? null, code })
    span?.end(
      requestSpan({ ...finished, requestId: id, route, code, failed: problem !== null && problem.logged !== null })
    )
    log?.({
      ...finished,
      requestId: id,
      route,
      client,
      ...(span === null ? {} : { traceId: span.traceId }),
      ...refused,
      caller: loggedAs(progress.caller),
      problem: problem?.logged ?? null
    })
  })
}

/** Names a key by its id, and a person not at all. */
const loggedAs = (caller: Progress["caller"]): string | null => {
  switch (caller.kind) {
    case "anonymous":
      return null
    case "key":
    case "platform":
      return caller.writer.id
    case "user":
      return "user"
  }
}

const ignored = (): void => undefined

/** The span of a request, in the trace that its caller names; null where no spans are made. */
const requestSpanOf = (tracing: TracingApi | null, { headers }: Incoming): OpenSpan | null => {
  if (tracing === null) return null
  const parent = readTraceparent(headers["traceparent"])
  return tracing.start("server", parent, parent !== null)
}

/**
 * Converts the cause of a failed request to its problem response and its log text. Interruption means that the caller
 * is gone.
 */
const problemOfCause = (
  cause: Cause.Cause<unknown>,
  id: string,
  { endpoint, incompleteClaims }: Progress
): {
  readonly shown: Problem
  readonly code: string | null
  readonly logged: string | null
  readonly refused?: RefusedToken
} => {
  const error = Cause.findErrorOption(cause)
  const refusal = error._tag === "Some" ? error.value : null
  const answered = refusal === null ? null : problemOf(refusal, endpoint)
  // Whatever refused: a role may be missing because of what the token lacks.
  const lacking =
    answered?.status !== 403 ? [] : ((refusal instanceof Forbidden ? refusal.incomplete : null) ?? incompleteClaims)
  const known = answered === null ? null : namingClaims(answered, lacking)
  // The shutdown was requested: an error in the log for each probe of each deployment would bury real errors.
  const meant = refusal instanceof Draining
  if (known !== null)
    return {
      shown: known,
      code: codeOfProblem(known),
      logged: known.status >= 500 && !meant ? Cause.pretty(cause) : null,
      refused: refusedToken(refusal, lacking)
    }
  const gone = Cause.hasInterruptsOnly(cause)
  const shown = internalError(id)
  return { shown, code: gone ? null : codeOfProblem(shown), logged: gone ? null : Cause.pretty(cause) }
}

type RefusedToken = Pick<RequestLog, "tokenProblem" | "incompleteClaims">

/** Describes the token of a refused request for the log. */
const refusedToken = (error: unknown, incompleteClaims: ReadonlyArray<string>): RefusedToken => {
  if (error instanceof Unauthorized) {
    const problem = tokenProblems.find((one) => one === error.problem)
    return problem === undefined ? {} : { tokenProblem: problem }
  }
  return incompleteClaims.length === 0 ? {} : { incompleteClaims }
}

/** The answer, with the claims that lack values. */
const namingClaims = (problem: Problem, claims: ReadonlyArray<string>): Problem => {
  if (claims.length === 0) return problem
  const more = `Claims of the token are incomplete (${claims.join(", ")}), so a role may be missing.`
  return { ...problem, body: { ...problem.body, detail: `${String(problem.body["detail"])} ${more}` } }
}

/** The word for it; a validation error carries none. */
const codeOfProblem = ({ body }: Problem): string => (typeof body["code"] === "string" ? body["code"] : "invalid_input")
