/** The HTTP server: `node:http` over the endpoint table. Decision 0003 says why it is our own. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { BATCH_LIMIT_BYTES, Draining } from "@flyball/contract"
import { endpoints, internalError, type Problem, problemOf } from "@flyball/contract/http"
import { Cause, Context, Effect, Exit } from "effect"
import type { Access, TokenVerifier } from "./authenticate.ts"
import type { Services } from "./call.ts"
import { badRequestText } from "./bad-request.ts"
import { dispatch, type Dispatcher, type Progress } from "./dispatch.ts"
import { handlers } from "./handlers/all.ts"
import { httpCounts } from "../metrics/http-counts.ts"
import { requestSpan } from "../telemetry/request-span.ts"
import { readTraceparent } from "../telemetry/trace-context.ts"
import { CurrentSpan, type OpenSpan, Tracing, type TracingApi } from "../telemetry/tracing.ts"
import { clientAddress } from "./client-address.ts"
import { hostProblem } from "./host-problem.ts"
import type { LogRequest } from "./log.ts"
import { pages } from "./pages.ts"
import { discardRest } from "./read-body.ts"
import { requestId } from "./request-id.ts"
import { router } from "./router.ts"
import { writeAnswer, writeProblem } from "./write-answer.ts"

// An import would read all that the module exports, and with it load Node's HTTP client and its WebSocket: a tenth of
// the start.
const { createServer, ServerResponse: NodeResponse } = process.getBuiltinModule("node:http")

/** How long the server waits for slow senders. Unit: milliseconds. */
export interface ServerTimes {
  /** For the head of a request. */
  readonly headersMs: number
  /**
   * For a request with its body, so that 16 MiB arrive over a slow line, and a trickle does not hold a socket for ever.
   */
  readonly requestMs: number
  /**
   * Between two requests of a connection; longer than the usual 60 s of a proxy, so that the proxy is the one to hang
   * up.
   */
  readonly keepAliveMs: number
  /**
   * For a reader that takes nothing of an answer, so that one who stops reading does not hold its source open for ever.
   */
  readonly stallMs: number
  /** How often the first two are checked. */
  readonly checkMs: number
  /** For what is under way when the server closes. */
  readonly closeMs: number
}

/** The default times of a server. */
export const defaultTimes: ServerTimes = {
  headersMs: 15_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  stallMs: 60_000,
  checkMs: 5_000,
  closeMs: 10_000
}

/** What a server is made of. */
export interface ServerOptions {
  /** The governor's services and the store under them. */
  readonly context: Context.Context<Services>
  /** Who vouches for people; null: nobody, every JWT is refused. */
  readonly verifier: TokenVerifier | null
  /** The rule that counts while no access mapping is set. */
  readonly bootstrap?: Access["bootstrap"]
  /** The caller of requests without a token: the demo's visitor. */
  readonly visitor?: Access["visitor"]
  readonly version: string
  /** Opens the metrics to those who are not on this host. */
  readonly metricsToken?: string | null
  readonly log?: LogRequest
  /**
   * Whether this is the address of a proxy whose word on the client's address counts; null or left out: nobody's does.
   */
  readonly trustedProxy?: ((address: string) => boolean) | null
  readonly times?: Partial<ServerTimes>
}

/** A server that can be started and stopped. */
export interface FlyballServer {
  /** Listens; answers where. Port 0 takes a free one. */
  readonly listen: (at: {
    readonly host: string
    readonly port: number
  }) => Promise<{ readonly host: string; readonly port: number; readonly url: string }>
  /** Says at /healthz that it is going, and still answers everything else. */
  readonly drain: () => void
  /** Takes no new connections, finishes what is under way, and cuts what is not done in time. */
  readonly close: () => Promise<void>
}

/** Makes a server. It does not listen yet. */
export const makeServer = (options: ServerOptions): FlyballServer => {
  const times = { ...defaultTimes, ...options.times }
  let draining = false
  const dispatcher: Dispatcher = {
    route: router([...endpoints, ...Object.values(pages)]),
    handlers,
    access: { verifier: options.verifier, bootstrap: options.bootstrap ?? null, visitor: options.visitor ?? null },
    server: {
      version: options.version,
      isDemo: options.visitor !== undefined && options.visitor !== null,
      draining: () => draining,
      count: httpCounts(options.context),
      metricsToken: options.metricsToken ?? null
    }
  }
  const server = createServer({
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.keepAliveMs,
    connectionsCheckingInterval: times.checkMs,
    insecureHTTPParser: false,
    // Node would answer these itself, in another form than everything else here.
    requireHostHeader: false,
    ServerResponse: responseOf(() => draining)
  })
  const tracing = Context.get(options.context, Tracing)
  const answering = new WeakMap<Socket, Answering>()
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    answering.set(request.socket, { request, response })
    const problem = hostProblem(request)
    if (problem !== null)
      return writeProblem(response, problem, {
        requestId: requestId(request.headers["x-request-id"]),
        bodiless: request.method === "HEAD"
      })
    serveRequest(dispatcher, options, tracing, times, request, response)
  }
  server.on("request", serve)
  // The body is requested only after the caller was admitted: see readBody.
  server.on("checkContinue", serve)
  server.on("checkExpectation", serve)
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const before = answering.get(socket)
    const answer = (): void => {
      if (socket.writable && error.code !== "ECONNRESET") socket.end(badRequestText(error.code))
      else socket.destroy()
    }
    if (before === undefined || before.response.writableFinished || !before.request.complete) answer()
    // The request before these bytes was whole, and may be written already: it gets its own answer, and 400 must not
    // pass for that.
    else if (!before.response.headersSent) before.response.once("finish", answer)
    // In the middle of an answer these bytes would pass for a part of it.
    else socket.destroy()
  })
  return {
    listen: async ({ host, port }) => {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject)
        server.listen(port, host, () => {
          server.off("error", reject)
          resolve()
        })
      })
      const address = server.address() as AddressInfo
      const shown = address.family === "IPv6" ? `[${address.address}]` : address.address
      return { host: address.address, port: address.port, url: `http://${shown}:${address.port}` }
    },
    drain: () => {
      draining = true
    },
    close: async () => {
      draining = true
      if (!server.listening) return
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const cut = setTimeout(() => server.closeAllConnections(), times.closeMs)
      await closed
      clearTimeout(cut)
    }
  }
}

/**
 * Responses that end their connection from the moment the server drains, whenever their request came: what holds is
 * what holds when the head is written.
 */
const responseOf = (draining: () => boolean) =>
  class extends NodeResponse {
    override writeHead(status: number, ...rest: ReadonlyArray<unknown>): this {
      if (draining()) this.shouldKeepAlive = false
      return super.writeHead(status, ...(rest as []))
    }
  }

/** Bytes of an unread body that are let run out after the answer. */
const DISCARD_BYTES = 4 * BATCH_LIMIT_BYTES

/** The last request of a connection, and its answer. */
interface Answering {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const serveRequest = (
  dispatcher: Dispatcher,
  options: ServerOptions,
  tracing: TracingApi | null,
  { stallMs }: ServerTimes,
  request: IncomingMessage,
  response: ServerResponse
): void => {
  const id = requestId(request.headers["x-request-id"])
  const startedMs = performance.now()
  // Now, because a socket that is gone has no address any more.
  const client =
    options.log === undefined
      ? null
      : clientAddress({ peer: request.socket.remoteAddress, headers: request.headers }, options.trustedProxy ?? null)
  const span = requestSpanOf(tracing, request)
  const progress: Progress = { endpoint: null, caller: { kind: "anonymous" } }
  const writing = { requestId: id, bodiless: request.method === "HEAD", stallMs }
  const answered = Effect.flatMap(dispatch(dispatcher, request, response, progress), ({ answer, status }) =>
    writeAnswer(response, status, answer, writing)
  )
  const fiber = Effect.runForkWith(options.context)(
    span === null ? answered : Effect.provideService(answered, CurrentSpan, span)
  )
  const onClose = (): void => {
    if (!response.writableFinished) fiber.interruptUnsafe()
    // A connection that was in use when the server began to go would stay open until its idle time is over.
    // Nor is its end waited for: who reads on and sends nothing would hold up the exit.
    else if (dispatcher.server.draining()) request.socket.destroySoon()
  }
  response.on("close", onClose)
  response.on("error", ignored)
  fiber.addObserver((exit) => {
    const problem = Exit.isSuccess(exit) ? null : problemOfCause(exit.cause, id)
    if (problem !== null && !response.headersSent && !response.destroyed) writeProblem(response, problem.shown, writing)
    else if (problem !== null) response.destroy()
    discardRest(request, DISCARD_BYTES)
    const finished = {
      method: request.method ?? "",
      status: response.headersSent && (response.writableFinished || !response.destroyed) ? response.statusCode : 0,
      durationMs: performance.now() - startedMs
    }
    const route = progress.endpoint?.path ?? null
    const code = problem?.code ?? null
    dispatcher.server.count({ ...finished, endpoint: progress.endpoint?.id ?? null, code })
    span?.end(
      requestSpan({ ...finished, requestId: id, route, code, failed: problem !== null && problem.logged !== null })
    )
    options.log?.({
      ...finished,
      requestId: id,
      route,
      client,
      ...(span === null ? {} : { traceId: span.traceId }),
      caller:
        progress.caller.kind === "key" ? progress.caller.writer.id : progress.caller.kind === "user" ? "user" : null,
      problem: problem?.logged ?? null
    })
  })
}

const ignored = (): void => undefined

/** The span of a request, in the trace that its caller names; null where no spans are made. */
const requestSpanOf = (tracing: TracingApi | null, { headers }: IncomingMessage): OpenSpan | null => {
  if (tracing === null) return null
  const parent = readTraceparent(headers["traceparent"])
  return tracing.start("server", parent, parent !== null)
}

/** What a failed request is answered, and what the log says of it. Interruption means that the caller is gone. */
const problemOfCause = (
  cause: Cause.Cause<unknown>,
  id: string
): { readonly shown: Problem; readonly code: string | null; readonly logged: string | null } => {
  const error = Cause.findErrorOption(cause)
  const known = error._tag === "Some" ? problemOf(error.value) : null
  // The shutdown was requested: an error in the log for each probe of each deployment would bury real errors.
  const meant = error._tag === "Some" && error.value instanceof Draining
  if (known !== null)
    return {
      shown: known,
      code: codeOfProblem(known),
      logged: known.status >= 500 && !meant ? Cause.pretty(cause) : null
    }
  const gone = Cause.hasInterruptsOnly(cause)
  const shown = internalError(id)
  return { shown, code: gone ? null : codeOfProblem(shown), logged: gone ? null : Cause.pretty(cause) }
}

/** The word for it; a validation error carries none. */
const codeOfProblem = ({ body }: Problem): string => (typeof body["code"] === "string" ? body["code"] : "invalid_input")
