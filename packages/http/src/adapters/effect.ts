/** The adapter for `effect/http`'s `HttpRouter`, on any of Effect's platforms. */
import type { IncomingHttpHeaders } from "node:http"
import { Effect, Layer, Option, Stream } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { BodyRequest, chunkOf, type RequestHead } from "./body-request.ts"
import { readBodyAgain } from "./given-body.ts"
import { belowPrefix } from "./prefix.ts"
import { requestOfChunks, requestOfRead } from "./web-request.ts"
import { WebResponse } from "./web-response.ts"
import type { Services } from "../request/call.ts"
import { openSurface, type Surface, type SurfaceOptions } from "../surface.ts"

/** Routes of a surface that is opened with the layer, and closed with it. */
export const effectRoutes = (
  options: Omit<SurfaceOptions, "context" | "enter" | "isClosing">
): Layer.Layer<never, never, HttpRouter.HttpRouter | Services> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const router = yield* HttpRouter.HttpRouter
      const context = yield* Effect.context<Services>()
      const surface = yield* Effect.acquireRelease(
        Effect.sync(() => openSurface({ context, ...options })),
        ({ close }) => Effect.promise(close)
      )
      const answer = (request: HttpServerRequest.HttpServerRequest) => answerEffect(surface, request)
      yield* router.add("*", `${options.prefix}/*` as `/${string}`, answer)
    })
  )

const answerEffect = (
  surface: Surface,
  request: HttpServerRequest.HttpServerRequest
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.gen(function* () {
    const incoming = yield* incomingOf(surface, request)
    const response = new WebResponse()
    surface.serve(incoming, response)
    return yield* Effect.tryPromise(() => response.response).pipe(
      Effect.map(HttpServerResponse.fromWeb),
      // It was cut off before its head: its reader is gone.
      Effect.catch(() => Effect.interrupt),
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          incoming.destroy()
          response.destroy()
        })
      )
    )
  })

const incomingOf = Effect.fnUntraced(function* (
  { prefix }: Surface,
  request: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<BodyRequest> {
  // The router sent the request here, so a router below a prefix of its own has taken that off, or it is ours.
  const url = belowPrefix(request.url, prefix) ?? belowPrefix(request.originalUrl, prefix) ?? request.url
  const headers: IncomingHttpHeaders = { ...request.headers }
  const source = request.source as Partial<SourceRequest>
  const head: RequestHead = {
    method: request.method,
    url,
    headers,
    rawHeaders: source.rawHeaders ?? Object.entries(request.headers).flat(),
    remoteAddress: Option.getOrUndefined(request.remoteAddress),
    native: request
  }
  const announced = headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined
  if (BODILESS.has(request.method) && !announced) return new BodyRequest(head, chunkOf(new Uint8Array()))
  if (source.readableDidRead === true || source.bodyUsed === true) {
    // What a middleware has read as text or JSON is kept with the request.
    const body = yield* Effect.orElseSucceed(request.text, () => undefined)
    return requestOfRead(head, readBodyAgain(body))
  }
  const chunks = Stream.toAsyncIterable(request.stream)[Symbol.asyncIterator]()
  // A body that breaks off is found out by its reader.
  return yield* Effect.promise(() => requestOfChunks(head, chunks).catch(() => new BodyRequest(head, chunks)))
})

const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"])

/** The members of Node's request and of the web's that are read here. */
interface SourceRequest {
  readonly rawHeaders: ReadonlyArray<string>
  readonly readableDidRead: boolean
  readonly bodyUsed: boolean
}
