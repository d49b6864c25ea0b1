/**
 * The sender of webhooks: pinned at the socket.
 *
 * At each attempt every address of the name is resolved and vetted, and the connection goes to those addresses alone;
 * TLS and the `Host` header still speak to
 * the name. Redirects are answers, proxies of the environment do not exist, and no connection is used again for other
 * addresses than it was made for.
 *
 * - Spec: document 1 section 6. What is denied, ports and time limits are gaps: decision 0020.
 */
import type { IncomingMessage } from "node:http"
import {
  type AgentCalled,
  type AgentStream,
  type Attempted,
  Egress,
  type EgressApi,
  type OutgoingRequest,
  WebhookSender,
  type WebhookSenderApi
} from "@flyball/core"
import { isOptions, describeValue } from "@flyball/core/storage"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { NOTHING_ALLOWED, parseAllowList } from "./egress.ts"
import { EXCERPT_BYTES, excerptOf } from "./excerpt.ts"
import { headersProblem } from "./headers.ts"
import { pinnedAgents, type PinnedAgents } from "./pinned-agents.ts"
import { post, type Posted, type Reading } from "./post.ts"
import { hostResolver, type Resolve } from "./resolve.ts"
import { retryAfterMs } from "./retry-after.ts"
import { Routes } from "./routes.ts"
import { readTarget, type UrlRules } from "./target.ts"

/** Options of egress. Everything that is not allowed here is denied. Spec: decision 0020. */
export interface EgressOptions {
  /**
   * Denied addresses that may be reached all the same: addresses, ranges such as `10.0.0.0/8`, exact names. Link-local
   * and metadata addresses are opened by
   * the very address only.
   */
  readonly egressAllow?: ReadonlyArray<string>
  /** Plain http too. */
  readonly allowHttp?: boolean
  /** The only ports that may be used. Without it: 443, 80 for http, and ports above 1023 that no browser blocks. */
  readonly ports?: ReadonlyArray<number>
  /** Certificates in PEM that are trusted in place of the usual ones. */
  readonly ca?: string
  /** How names are resolved, in place of the host's resolver. Every answer is vetted. */
  readonly resolve?: Resolve
}

/** The settings of what may leave cannot be used: the start is refused. Spec: decision 0020. */
export class EgressInvalid extends Schema.TaggedError<EgressInvalid>()("EgressInvalid", { reason: Schema.String }) {
  override get message(): string {
    return `What requests may leave cannot be decided: ${this.reason}.`
  }
}

/** A sender without Effect. Spec: decision 0020. */
export interface PinnedSender {
  /**
   * Sends a request. A failure is a result: the promise rejects only when the call is aborted, which ends the
   * connection.
   */
  readonly send: (request: OutgoingRequest, signal?: AbortSignal) => Promise<Attempted>
  readonly urlProblem: (url: string) => string | null
  /** Closes what is open. */
  readonly close: () => void
}

/** Unit: milliseconds for resolving, connecting, TLS, sending, and the answer's headers together. */
const TOTAL_MS = 5_000
/** The part of a webhook receiver's answer that is read. */
const RECEIPT: Reading = { keepBytes: EXCERPT_BYTES, maxBytes: 64 * 1_024, withinMs: 1_000 }

/** The sender of webhooks, and of requests to agents, as a layer. Fails with `EgressInvalid`. Spec: decision 0020. */
export const webhookSender = (options: EgressOptions = {}): Layer.Layer<WebhookSender | Egress, EgressInvalid> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const rules = rulesOf(options)
      if (typeof rules === "string") return yield* new EgressInvalid({ reason: rules })
      const agents = yield* Effect.acquireRelease(
        Effect.sync(() => pinnedAgents(options.ca)),
        ({ close }) => Effect.sync(close)
      )
      const over = { routes: new Routes(rules), agents, resolve: options.resolve ?? hostResolver() }
      return Context.make(WebhookSender, senderOver(rules, over)).pipe(Context.add(Egress, egressOver(rules, over)))
    })
  )

/** The sender as a plain object. Throws `EgressInvalid`. Spec: decision 0020. */
export const pinnedSender = (options: EgressOptions = {}): PinnedSender => {
  const rules = rulesOf(options)
  if (typeof rules === "string") throw new EgressInvalid({ reason: rules })
  const agents = pinnedAgents(options.ca)
  const sender = senderOver(rules, { routes: new Routes(rules), agents, resolve: options.resolve ?? hostResolver() })
  return {
    send: (request, signal) => Effect.runPromise(sender.send(request), signal === undefined ? {} : { signal }),
    urlProblem: sender.urlProblem,
    close: agents.close
  }
}

/**
 * Describes the problem with the entries of an allow list in one sentence; null if there is none. Spec: decision 0020.
 */
export const egressProblem = (entries: ReadonlyArray<string>): string | null => {
  const read = parseAllowList(entries)
  return typeof read === "string" ? read : null
}

const rulesOf = (options: EgressOptions): UrlRules | string => {
  const shape = shapeProblem(options)
  if (shape !== null) return shape
  const allow = options.egressAllow === undefined ? NOTHING_ALLOWED : parseAllowList(options.egressAllow)
  if (typeof allow === "string") return allow
  const bad = options.ports?.findIndex((port) => !Number.isInteger(port) || port < 1 || port > 65_535) ?? -1
  if (bad >= 0) return `a port is a whole number from 1 to 65535, and ${describeValue(options.ports?.[bad])} is named`
  return {
    allow,
    allowHttp: options.allowHttp ?? false,
    ports: options.ports === undefined ? null : new Set(options.ports)
  }
}

/** A text in place of a list would be read letter by letter, and the text "false" would allow. */
const shapeProblem = (options: EgressOptions): string | null => {
  if (!isOptions(options)) return `the options are an object, not ${describeValue(options)}`
  const { allowHttp, ca, egressAllow, ports, resolve } = options as {
    readonly [option in keyof EgressOptions]: unknown
  }
  if (
    egressAllow !== undefined &&
    !(Array.isArray(egressAllow) && egressAllow.every((entry) => typeof entry === "string"))
  ) {
    return (
      `egressAllow is a list of strings such as ["10.0.0.0/8"], not ` +
      `${shown(egressAllow, (entry) => typeof entry !== "string")}`
    )
  }
  if (allowHttp !== undefined && typeof allowHttp !== "boolean")
    return `allowHttp is true or false, not ${describeValue(allowHttp)}`
  if (ports !== undefined && !Array.isArray(ports))
    return `ports is a list of whole numbers such as [443, 8443], not ${describeValue(ports)}`
  if (ca !== undefined && typeof ca !== "string")
    return `ca is certificates in PEM as one string, not ${describeValue(ca)}`
  return resolve === undefined || typeof resolve === "function"
    ? null
    : `resolve is a function that answers a name's addresses, not ${describeValue(resolve)}`
}

/** The list, or the one entry of it that does not fit. */
const shown = (value: unknown, isInvalid: (entry: unknown) => boolean): string =>
  Array.isArray(value) ? `a list with ${describeValue(value.find(isInvalid))}` : describeValue(value)

/** The way of all requests of one sender. */
interface Way {
  readonly routes: Routes
  readonly agents: PinnedAgents
  readonly resolve: Resolve
}

const urlProblemUnder = (rules: UrlRules) => (url: string) => {
  const target = readTarget(url, rules)
  return typeof target === "string" ? target : null
}

/** One request, and the delay that its answer requests. */
const sent = (request: Outgoing, way: Way) =>
  Effect.suspend(() => {
    const startedAt = performance.now()
    return Effect.callback<Posted>((resume) => {
      const end = attempt(request, way, {
        done: (posted) => resume(Effect.succeed(posted)),
        crashed: (defect) => resume(Effect.die(defect))
      })
      return Effect.sync(end)
    }).pipe(
      Effect.flatMap(({ retryAfter, stream: _, ...posted }) => {
        const durationMs = Math.round(performance.now() - startedAt)
        return retryAfter === null
          ? Effect.succeed({ ...posted, durationMs, retryAfterMs: null })
          : Effect.map(Clock.currentTimeMillis, (nowMs) => ({
              ...posted,
              durationMs,
              retryAfterMs: retryAfterMs(retryAfter, nowMs)
            }))
      })
    )
  })

const senderOver = (rules: UrlRules, way: Way): WebhookSenderApi => ({
  send: (request) =>
    Effect.map(
      sent({ ...request, method: "POST", totalMs: TOTAL_MS, reading: RECEIPT }, way),
      ({ body, durationMs, errorCode, retryAfterMs: pauseMs, statusCode }): Attempted => ({
        statusCode,
        errorCode,
        durationMs,
        responseExcerpt: excerptOf(body),
        retryAfterMs: pauseMs
      })
    ),
  urlProblem: urlProblemUnder(rules)
})

const egressOver = (rules: UrlRules, way: Way): EgressApi => ({
  call: ({ maxBytes, timeoutMs, ...request }) =>
    Effect.map(
      sent({ ...request, totalMs: timeoutMs, reading: { keepBytes: maxBytes, maxBytes, withinMs: timeoutMs } }, way),
      (called): AgentCalled => called
    ),
  stream: ({ idleMs, timeoutMs, ...request }) =>
    Effect.callback<AgentStream>((resume) => {
      const end = attempt({ ...request, totalMs: timeoutMs, reading: null }, way, {
        done: ({ errorCode, statusCode, stream }) =>
          resume(
            Effect.succeed({
              statusCode,
              errorCode,
              headers: stream === undefined ? {} : (stream.headers as AgentStream["headers"]),
              body: stream === undefined ? noBody() : piecesOf(stream, idleMs),
              abort: () => {
                stream?.destroy()
                end()
              }
            })
          ),
        crashed: (defect) => resume(Effect.die(defect))
      })
      return Effect.sync(end)
    }),
  urlProblem: urlProblemUnder(rules),
  headersProblem
})

async function* noBody(): AsyncGenerator<Uint8Array> {}

/** The pieces of a body as they come. */
async function* piecesOf(stream: IncomingMessage, idleMs: number): AsyncGenerator<Uint8Array> {
  const wait = () => setTimeout(() => stream.destroy(new Error("nothing came for too long")), idleMs)
  let timer = wait()
  try {
    for await (const piece of stream) {
      // A slow reader is not the sender's fault.
      clearTimeout(timer)
      yield piece as Uint8Array
      timer = wait()
    }
    if (!stream.complete) throw new Error("the answer was cut")
  } finally {
    clearTimeout(timer)
  }
}

/** A request, how long it may take until its headers are there, and how far its answer is read. */
interface Outgoing extends OutgoingRequest {
  readonly method: string
  readonly totalMs: number
  /** Null: the caller reads. */
  readonly reading: Reading | null
}

/** Callbacks of an attempt; one of them is called, once. */
interface Reported {
  readonly done: (posted: Posted) => void
  /** With a defect of ours that came when nobody was there to throw it at. */
  readonly crashed: (defect: unknown) => void
}

/** One attempt. The answer ends it early. */
const attempt = (
  { totalMs, url, ...request }: Outgoing,
  { agents, resolve, routes }: Way,
  { crashed, done }: Reported
): (() => void) => {
  const startedAt = performance.now()
  const route = routes.of(url)
  // The rules may have changed since the webhook was made.
  if (route === null || headersProblem(request.headers) !== null) return (done(ended("ssrf_blocked")), nothing)
  const { target } = route
  const connect = (addresses: ReadonlyArray<string>): (() => void) => {
    const pin = route.pin(addresses)
    if (typeof pin === "string") return (done(ended(pin)), nothing)
    return post(
      { ...request, target, pin, headersWithinMs: Math.max(totalMs - (performance.now() - startedAt), 0) },
      agents,
      done
    )
  }
  return target.isAddress
    ? connect([target.host])
    : lookedUp((async () => resolve(target.host))(), totalMs, connect, { crashed, done })
}

/**
 * Goes on with a name's addresses. A name that is looked up cannot be called back; an answer that comes too late is not
 * waited for.
 */
const lookedUp = (
  answer: Promise<ReadonlyArray<string>>,
  totalMs: number,
  connect: (addresses: ReadonlyArray<string>) => () => void,
  { crashed, done }: Reported
): (() => void) => {
  let end: (() => void) | null = null
  const once = (go: () => () => void): void => {
    if (end !== null) return
    clearTimeout(timer)
    end = go()
  }
  const timer = setTimeout(() => once(() => (done(ended("timeout")), nothing)), totalMs)
  answer
    .then(
      (addresses) => once(() => connect(addresses)),
      () => once(() => (done(ended("dns")), nothing))
    )
    .catch(crashed)
  return () => {
    once(() => nothing)
    end?.()
  }
}

const nothing = (): void => undefined

const ended = (errorCode: Attempted["errorCode"]): Posted => ({
  statusCode: null,
  errorCode,
  body: new Uint8Array(),
  isComplete: false,
  isTooLarge: false,
  retryAfter: null
})
