/**
 * `npm run attack` in this folder: requests across a window's edge, sent to limiters of others and to ours. Prints the
 * most requests that each admitted within any ten seconds, where it should admit ten. Time is simulated.
 */
import { mock } from "node:test"
import { layerOf, memoryStorage, RateLimits } from "@flyball/core"
import { Effect, Layer } from "effect"
import { RateLimiter } from "effect/persistence"
import express from "express"
import { rateLimit as expressRateLimit } from "express-rate-limit"
import fastify, { type FastifyPluginCallback } from "fastify"
import { Hono, type MiddlewareHandler } from "hono"
import type { AddressInfo } from "node:net"

const LIMIT = 10
const WINDOW_MS = 10_000
/** One request that begins a window, ten before its end and ten after it; or ten at once and one each second then. */
const attacks: ReadonlyArray<ReadonlyArray<number>> = [
  [0, ...burst(9_900), ...burst(10_100)],
  [...burst(0), ...Array.from({ length: 40 }, (_, at) => 250 * at + 250)]
]
function burst(atMs: number): ReadonlyArray<number> {
  return Array.from({ length: LIMIT }, () => atMs)
}

/** A package of this folder, with the part of it that is used here: the project itself does not install it. */
const installed = async <A>(name: string): Promise<A> => {
  const loaded: A = await import(name)
  return loaded
}

/** Resolves to true when one more request is admitted now. */
type Limiter = () => Promise<boolean>

const limiters: { readonly [name: string]: () => Promise<Limiter> } = {
  "express-rate-limit": async () => {
    const app = express()
    app.use(expressRateLimit({ limit: LIMIT, windowMs: WINDOW_MS, validate: false }))
    app.get("/", (_, response) => void response.send("ok"))
    const server = app.listen(0, "127.0.0.1")
    await new Promise((resolve) => server.once("listening", resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    return async () => (await fetch(url)).status === 200
  },
  "@fastify/rate-limit": async () => {
    const app = fastify()
    const { default: rateLimit } = await installed<{
      readonly default: FastifyPluginCallback<{ readonly max: number; readonly timeWindow: number }>
    }>("@fastify/rate-limit")
    await app.register(rateLimit, { max: LIMIT, timeWindow: WINDOW_MS })
    app.get("/", async () => "ok")
    return async () => (await app.inject("/")).statusCode === 200
  },
  "hono-rate-limiter": async () => {
    const { rateLimiter } = await installed<{
      readonly rateLimiter: (options: {
        readonly limit: number
        readonly windowMs: number
        readonly keyGenerator: () => string
      }) => MiddlewareHandler
    }>("hono-rate-limiter")
    const app = new Hono()
    app.use(rateLimiter({ limit: LIMIT, windowMs: WINDOW_MS, keyGenerator: () => "one" }))
    app.get("/", (context) => context.text("ok"))
    return async () => (await app.request("/")).status === 200
  },
  "rate-limiter-flexible": async () => {
    const { RateLimiterMemory } = await installed<{
      readonly RateLimiterMemory: new (options: { readonly points: number; readonly duration: number }) => {
        readonly consume: (key: string) => Promise<unknown>
      }
    }>("rate-limiter-flexible")
    const limiter = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_MS / 1_000 })
    return () =>
      limiter.consume("one").then(
        () => true,
        () => false
      )
  },
  "effect RateLimiter, fixed window": () => effectLimiter("fixed-window"),
  "effect RateLimiter, token bucket": () => effectLimiter("token-bucket"),
  "flyball RateLimits": async () => {
    const services = await Effect.runPromise(
      Effect.scoped(Effect.context<RateLimits>()).pipe(
        Effect.provide(RateLimits.layer.pipe(Layer.provide(layerOf(memoryStorage()))))
      )
    )
    const rows = [{ subject: "one", policies: [{ name: "p", limit: LIMIT, window: WINDOW_MS / 1_000 }] }]
    const take = RateLimits.use((limits) => limits.take({ rows, cost: 1 }))
    return async () => (await Effect.runPromise(Effect.provide(take, services))).admitted
  }
}

async function effectLimiter(algorithm: "fixed-window" | "token-bucket"): Promise<Limiter> {
  const services = await Effect.runPromise(
    Effect.context<RateLimiter.RateLimiter>().pipe(
      Effect.provide(RateLimiter.layer.pipe(Layer.provide(RateLimiter.layerStoreMemory)))
    )
  )
  const options = { algorithm, onExceeded: "fail", window: WINDOW_MS, limit: LIMIT, key: "one" } as const
  const consume = Effect.flatMap(RateLimiter.RateLimiter, (limiter) => limiter.consume(options))
  return async () => (await Effect.runPromiseExit(Effect.provide(consume, services)))._tag === "Success"
}

/** The most admissions that any window holds. */
const worst = (admitted: ReadonlyArray<number>): number =>
  Math.max(...admitted.map((from) => admitted.filter((at) => at >= from && at < from + WINDOW_MS).length))

for (const [name, make] of Object.entries(limiters)) {
  const found: Array<number> = []
  for (const attack of attacks) {
    // Some windows are aligned to the clock: the first request is at the beginning of one.
    mock.timers.enable({ apis: ["Date", "setInterval"], now: 1_800_000_000_000 })
    const admits = await make()
    const admitted: Array<number> = []
    let nowMs = 0
    for (const atMs of attack) {
      mock.timers.tick(atMs - nowMs)
      nowMs = atMs
      if (await admits()) admitted.push(atMs)
    }
    mock.timers.reset()
    found.push(worst(admitted))
  }
  console.log(`| ${name} | ${found.join(" | ")} |`)
}
process.exit(0)
