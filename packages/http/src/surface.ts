/** The API over the services of one governor: every adapter and the server hand their requests to it. */
import { Draining, type Plan } from "@flyball/contract"
import { problemOf } from "@flyball/contract/http"
import type { Capability } from "@flyball/core"
import { Context } from "effect"
import type { Access } from "./request/authenticate.ts"
import type { Services } from "./request/call.ts"
import { dialectOf } from "./dialect.ts"
import { dispatcherOf } from "./dispatcher.ts"
import type { Incoming, Outgoing } from "./exchange.ts"
import type { LogRequest } from "./log.ts"
import { httpCounts } from "./metrics/http-counts.ts"
import { serveRequest, type Serving } from "./serve-request.ts"
import { PING_MS } from "./answer/sse.ts"
import { Tracing } from "./telemetry/tracing.ts"
import { writeProblem } from "./answer/write-answer.ts"

/** Options for opening a surface. */
export interface SurfaceOptions<Request extends Incoming = Incoming> {
  /** The governor's services and the store under them. */
  readonly context: Context.Context<Services>
  readonly access: Access
  /** Products that the governor was opened with. */
  readonly capabilities?: ReadonlyArray<Capability>
  /** The plan of people at the platform API; `enterprise` when left out. */
  readonly planOfPeople?: Plan
  /** Where it is mounted; empty at the root. */
  readonly prefix: string
  readonly version: string
  /** True when it has the pages beside the endpoints: `/`, `/docs`, `/openapi.json`, `/metrics`. */
  readonly pages: boolean
  readonly metricsToken: string | null
  /** Opens the metrics to those who are on this host. Default false. */
  readonly localMetrics?: boolean
  /** How often a stream sends a comment where nothing happens. Unit: milliseconds. */
  readonly pingMs?: number
  readonly log?: LogRequest
  /** True for the address of a proxy whose word on the client's address counts; null or left out: nobody's does. */
  readonly trustedProxy?: ((address: string) => boolean) | null
  /** How long a reader may take nothing of an answer. Unit: milliseconds. */
  readonly stallMs: number
  /** For what is under way when it closes. Unit: milliseconds. */
  readonly closeMs: number
  /** Counts a request under way in its governor; throws where that is closed. */
  readonly enter?: () => () => void
  /** True while its governor or its server is being closed: the health check then says so. */
  readonly isClosing?: () => boolean
  /** Runs when a whole answer has left, and nothing of the exchange is to come. */
  readonly onAnswered?: (request: Request) => void
}

/** The API, open. */
export interface Surface<Request extends Incoming = Incoming> {
  readonly prefix: string
  /** True for the path and query of an endpoint or a page. */
  readonly has: (url: string) => boolean
  /** Serves a request whose URL is below the prefix. It never throws. */
  readonly serve: (request: Request, response: Outgoing) => void
  /** Answers 503 from now on, finishes what is under way, and cuts what is not done in time. */
  readonly close: () => Promise<void>
}

/** Opens the API over services. */
export const openSurface = <Request extends Incoming = Incoming>(
  options: SurfaceOptions<Request>
): Surface<Request> => {
  let closing: Promise<void> | null = null
  let whenIdle = (): void => undefined
  const underWay = new Set<Outgoing>()
  const dispatcher = dispatcherOf(options, {
    version: options.version,
    isDemo: options.access.visitor !== null,
    draining: () => closing !== null || options.isClosing?.() === true,
    count: httpCounts(options.context),
    metricsToken: options.metricsToken,
    prefix: options.prefix,
    localMetrics: options.localMetrics ?? false,
    pingMs: options.pingMs ?? PING_MS
  })
  const serving: Serving<Request> = { ...options, dispatcher, tracing: Context.get(options.context, Tracing) }
  const enter = (): (() => void) | null => {
    if (closing !== null) return null
    try {
      return options.enter?.() ?? uncounted
    } catch {
      return null
    }
  }
  return {
    prefix: options.prefix,
    has: (url) => dispatcher.route(url.replace(/\?[^]*$/, "")) !== null,
    serve: (request, response) => {
      const leave = enter()
      if (leave === null) {
        const dialect = dialectOf(dispatcher, request)
        const id = dialect.requestId(request)
        const shown = dialect.shown(problemOf(new Draining())!, { requestId: id, request })
        return writeProblem(response, shown, { requestId: id, bodiless: request.method === "HEAD" })
      }
      underWay.add(response)
      serveRequest(serving, request, response, () => {
        underWay.delete(response)
        leave()
        if (underWay.size === 0) whenIdle()
      })
    },
    close: () => {
      closing ??= new Promise<void>((resolve) => {
        whenIdle = resolve
        if (underWay.size === 0) return resolve()
        const cut = setTimeout(() => underWay.forEach((response) => response.destroy()), options.closeMs)
        whenIdle = () => {
          clearTimeout(cut)
          resolve()
        }
      })
      return closing
    }
  }
}

const uncounted = (): void => undefined
