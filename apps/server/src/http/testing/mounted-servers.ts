/** Servers of other frameworks that mount the API below a prefix, in the place of the standalone server. */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { answerFetch, answerNode, effectRoutes, openSurface } from "@flyball/http/testing"
import { serve } from "@hono/node-server"
import { Effect, Exit, Layer, Scope } from "effect"
import { HttpRouter } from "effect/http"
import express from "express"
import fastify from "fastify"
import { Hono } from "hono"
import type { FlyballServer, ServerOptions } from "../server.ts"

/** Where each of them mounts the API. */
export const PREFIX = "/flyball"

/** Reads bodies up to what the API takes: the host's own limit comes first where its parser does. */
const MOST_BYTES = 32 * 1_024 * 1_024

const surfaceOptions = ({ log, verifier, version }: ServerOptions) => ({
  access: { verifier, bootstrap: null, visitor: null },
  prefix: PREFIX,
  version,
  pages: false,
  metricsToken: null,
  ...(log === undefined ? {} : { log }),
  stallMs: 60_000,
  closeMs: 10_000
})

const surfaceOf = (options: ServerOptions) => openSurface({ context: options.context, ...surfaceOptions(options) })

/** A server of Node's as the world of the tests knows one. */
const listening = (open: (port: number, host: string) => Promise<Server>, end: () => Promise<void>): FlyballServer => {
  let server: Server | null = null
  return {
    listen: async ({ host, port }) => {
      server = await open(port, host)
      const at = server.address() as AddressInfo
      return { host: at.address, port: at.port, url: `http://127.0.0.1:${at.port}${PREFIX}` }
    },
    drain: () => undefined,
    close: async () => {
      await end()
      const closed = new Promise<void>((resolve) => server?.close(() => resolve()))
      server?.closeAllConnections()
      await closed
    }
  }
}

const onceListening = (server: Server): Promise<Server> =>
  new Promise((resolve) => server.once("listening", () => resolve(server)))

/** Express: the API before the host's parsers, or behind its parser of JSON. */
export const onExpress =
  ({ parsed }: { readonly parsed: boolean }) =>
  (options: ServerOptions): FlyballServer => {
    const surface = surfaceOf(options)
    const app = express()
    if (parsed) app.use(express.json({ limit: MOST_BYTES, strict: false }))
    app.use(PREFIX, (request, response, next) => answerNode(surface, request, response, next))
    app.use((_request, response) => void response.status(418).send("the host's"))
    return listening((port, host) => onceListening(app.listen(port, host)), surface.close)
  }

/** Fastify: in a scope without parsers, or with what its parsers have read. */
export const onFastify =
  ({ parsed }: { readonly parsed: boolean }) =>
  (options: ServerOptions): FlyballServer => {
    const surface = surfaceOf(options)
    const app = fastify({ bodyLimit: MOST_BYTES })
    void app.register(
      async (scope) => {
        if (!parsed) {
          scope.removeAllContentTypeParsers()
          scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
        }
        scope.all("/*", (request, reply) => {
          reply.hijack()
          answerNode(surface, request.raw, reply.raw, { body: request.body })
        })
      },
      { prefix: PREFIX }
    )
    return listening(async (port, host) => {
      await app.listen({ port, host })
      return app.server
    }, surface.close)
  }

/** Hono, on the web's `Request` and `Response`. */
export const onHono = (options: ServerOptions): FlyballServer => {
  const surface = surfaceOf(options)
  const app = new Hono()
  app.all(`${PREFIX}/*`, (context) => answerFetch(surface, context.req.raw))
  return listening(
    (port, host) => onceListening(serve({ fetch: app.fetch, port, hostname: host }) as Server),
    surface.close
  )
}

/** Effect's router on its Node server. */
export const onEffect = (options: ServerOptions): FlyballServer => {
  const server = createServer()
  const scope = Scope.makeUnsafe()
  return {
    ...listening(
      async (port, host) => {
        const layer = HttpRouter.serve(effectRoutes(surfaceOptions(options)), {
          disableLogger: true,
          disableListenLog: true
        }).pipe(
          Layer.provide(NodeHttpServer.layer(() => server, { port, host })),
          Layer.provide(Layer.succeedContext(options.context))
        )
        await Effect.runPromise(Layer.buildWithScope(layer, scope))
        return server
      },
      async () => undefined
    ),
    close: async () => {
      server.closeAllConnections()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}
