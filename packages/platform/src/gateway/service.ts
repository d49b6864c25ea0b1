/**
 * The gateway: models behind the governance of their agents. A call is admitted, reserved, sent, judged, settled and
 * witnessed. Spec: document 2 section 8; platform section 8.
 */
import {
  type AgentNotFound,
  GatewayHalted,
  type InvalidInput,
  ModelNotServed,
  type Plan,
  planQuotas,
  type QuotaExceeded,
  RateLimitExceeded,
  UpstreamFailed
} from "@flyball/contract"
import { EVENT_STREAM_MEDIA, inputEstimate, JSON_MEDIA, mostTokens } from "@flyball/contract/http"
import {
  Agents,
  type AgentStream,
  type Capture,
  Egress,
  type Evaluations,
  type Kill,
  type OperationCaller,
  type OperationFault,
  type PassedAnswer,
  Quotas,
  type QuotaUse,
  type Reviews,
  SecretBox,
  unitScope,
  type Writer
} from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { utf8 } from "@flyball/evidence"
import { type ModelDocument, MODELS } from "@flyball/rules"
import { Context, Effect, Exit, Layer, Option } from "effect"
import { chat } from "./chat.ts"
import { type Any, type Codec, MAX_CALLS, type Reported } from "./codec.ts"
import { haltFollower, type HaltWatch } from "./halts.ts"
import { type CallOutcome, ledger, type OpenCall } from "./ledger.ts"
import { messages } from "./messages.ts"
import { passStream } from "./pass-stream.ts"
import { responses } from "./responses.ts"
import { type GatewayForm, openSecret, unreachable, type Upstream } from "./upstreams.ts"
import { callingAgent } from "../calling-agent.ts"
import { type JudgedFor, judgeCall, type Verdict } from "./verdicts.ts"

/** Options of the gateway. */
export interface GatewayOptions {
  /** Its upstreams; none: it is not installed. */
  readonly upstreams?: ReadonlyArray<Upstream>
  /** How long a tool call may wait for its review. Unit: milliseconds; default 30,000. */
  readonly reviewWaitMs?: number
  /** Rupees for a dollar, stored with each call; left out: costs in rupees are null. */
  readonly usdInr?: number
}

/** Body of a request, as far as it is known. */
interface GatewayBody {
  readonly model: string
  readonly stream?: boolean | null
}

/** Refusals of a call. */
export type GatewayRefusal =
  | AgentNotFound
  | GatewayHalted
  | InvalidInput
  | ModelNotServed
  | QuotaExceeded
  | RateLimitExceeded
  | UpstreamFailed

/** By whom the service itself asks a model: as an agent, in its caller's name and of its caller's quota. */
export interface Asking {
  readonly agentId: string
  readonly writer: Writer
  /** Null: no plan limits it. */
  readonly plan: Plan | null
}

/** Operations of the gateway. */
export interface GatewayApi {
  /** Passes a request on and its answer back. */
  readonly pass: (
    form: GatewayForm,
    unit: string,
    body: GatewayBody,
    caller: OperationCaller
  ) => Effect.Effect<PassedAnswer, GatewayRefusal | OperationFault>
  /** Completes a chat for the service itself; answers the text, and the call as its decision names it. */
  readonly complete: (
    unit: string,
    body: { readonly model: string; readonly messages: ReadonlyArray<object>; readonly response_format: object },
    asking: Asking
  ) => Effect.Effect<{ readonly call: string; readonly text: string }, GatewayRefusal | OperationFault>
  /** Settles what processes left behind that are gone. For the job. */
  readonly sweep: Effect.Effect<void, unknown>
}

/** A request to pass on. */
interface Passing extends Pick<Asking, "agentId" | "writer">, Pick<OperationCaller, "received" | "signal"> {
  readonly codec: Codec
  readonly source: Uint8Array
  readonly use: QuotaUse
}

const codecs: { readonly [F in GatewayForm]: Codec } = { chat, responses, messages }
/** For the service itself, which reads text and hands calls of tools to nobody: none is judged, and none waits. */
const textAlone: Codec = {
  ...chat,
  whole: (answer) => {
    const read = chat.whole(answer)
    return read === null ? null : { ...read, calls: [] }
  }
}
/** Headers of clients that upstreams of their form read. */
const forwarded = ["anthropic-version", "anthropic-beta", "openai-beta", "openai-organization", "openai-project"]
/** Headers of upstreams that clients read. */
const returned = ["request-id", "openai-processing-ms", "openai-version"]
/** Bytes of an answer that is no stream. */
const MAX_ANSWER = 16 * 1_048_576
const REVIEW_WAIT_MS = 30_000
/** How long streams may take to settle when the process ends. Unit: milliseconds. */
const CLOSING_MS = 5_000
const NOTHING: Reported = { input: null, output: null }

/** Service of the gateway. Spec: platform section 8. */
export class Gateway extends Context.Service<Gateway, GatewayApi>()("flyball/platform/Gateway") {
  static readonly layer = ({
    reviewWaitMs = REVIEW_WAIT_MS,
    upstreams = [],
    usdInr
  }: GatewayOptions): Layer.Layer<Gateway, never, Agents | Capture | Evaluations | Kill | Reviews | Storage> =>
    Layer.effect(
      Gateway,
      Effect.gen(function* () {
        const storage = yield* Storage
        const agents = yield* Agents
        const judging = yield* Effect.context<Evaluations | Reviews>()
        const egress = Option.getOrNull(yield* Effect.serviceOption(Egress))
        const box = Option.getOrNull(yield* Effect.serviceOption(SecretBox))
        const { close, open, sweep } = yield* ledger(usdInr ?? null)
        const closing = new AbortController()
        const settling = new Set<Promise<void>>()
        // The store closes after this one: what streams settles first.
        yield* Effect.addFinalizer(() =>
          Effect.promise(() => {
            closing.abort()
            return Promise.allSettled(settling)
          }).pipe(Effect.timeoutOption(CLOSING_MS))
        )
        const watch = yield* haltFollower
        const problem = egress === null ? null : unreachable(upstreams, egress)
        if (problem !== null) yield* Effect.logError(`The gateway cannot be used as it is: ${problem}.`)

        /** Settles, whatever the caller does. What cannot be settled now is by the job. */
        const settled = (call: OpenCall, outcome: CallOutcome): Effect.Effect<boolean> =>
          close(call, outcome).pipe(
            Effect.as(true),
            Effect.catchCause((cause) =>
              Effect.as(Effect.logError(`The call ${call.id} was not settled. It is later.`, cause), false)
            ),
            Effect.uninterruptible
          )

        const admit = Effect.fnUntraced(function* (form: GatewayForm, unit: string, name: string, agentId: string) {
          const agent = yield* agents.get(agentId, unitScope(unit))
          if (agent.status !== "active") return yield* new GatewayHalted({ target: "agent", activation: null })
          const upstream = upstreams.find(({ forms, model }) => model === name && forms.includes(form))
          if (upstream === undefined) return yield* new ModelNotServed({ model: name })
          const model = upstream.modelId === null ? null : yield* storage.get(MODELS, upstream.modelId)
          if ((model?.body as ModelDocument | undefined)?.status === "retired")
            return yield* new ModelNotServed({ model: name })
          return upstream
        })

        const send = Effect.fnUntraced(function* (
          codec: Codec,
          upstream: Upstream,
          body: Uint8Array,
          received: OperationCaller["received"]
        ) {
          if (egress === null) return yield* new UpstreamFailed({ why: "this host sends no requests" })
          const secret = yield* openSecret(box, upstream)
          const passed = forwarded.flatMap((name) => {
            const value = received?.header(name) ?? null
            return value === null ? [] : [[name, value] as const]
          })
          return yield* egress.stream({
            url: `${upstream.baseUrl}${codec.path}`,
            method: "POST",
            headers: {
              "content-type": JSON_MEDIA,
              accept: `${JSON_MEDIA}, ${EVENT_STREAM_MEDIA}`,
              ...Object.fromEntries(passed),
              ...(secret === null ? {} : codec.secretHeaders(secret))
            },
            body,
            timeoutMs: upstream.timeoutMs,
            idleMs: upstream.idleMs
          })
        })

        /** The answer that is no stream: read, judged, and passed on as it came where nothing is refused. */
        const whole = Effect.fnUntraced(function* (
          codec: Codec,
          answer: AgentStream,
          judged: JudgedFor,
          tell: (usage: Reported, tools: ReadonlyArray<Verdict>) => void
        ) {
          const failed = new UpstreamFailed({ why: "its answer was cut, too large, or no completion" })
          const bytes = yield* Effect.tryPromise({ try: () => collected(answer), catch: () => failed })
          const value = parsed(bytes)
          const read = value === null ? null : yield* Effect.try({ try: () => codec.whole(value), catch: () => failed })
          if (read === null || read.calls.length > MAX_CALLS) return yield* failed
          tell(read.usage, [])
          const verdicts: Array<Verdict> = []
          const refused = new Map<string, string>()
          for (const call of read.calls) {
            const verdict = yield* judgeCall(judged, call, verdicts.length)
            verdicts.push(verdict)
            if (verdict.sentence !== null) refused.set(call.key, verdict.sentence)
            tell(read.usage, verdicts)
          }
          return refused.size === 0 ? bytes : utf8(JSON.stringify(codec.rewrite(value, refused)))
        })

        /** A request that is reserved, until its answer begins. */
        const passing = Effect.fnUntraced(function* (
          codec: Codec,
          of: {
            readonly judged: JudgedFor
            readonly upstream: Upstream
            readonly isStream: boolean
            readonly halts: HaltWatch
            readonly by: Passing
          },
          /** The outcome of the call so far, for its settlement where it fails or nobody waits any more. */
          known: { outcome: CallOutcome; isHandedOn: boolean }
        ) {
          const { by, halts, isStream, judged, upstream } = of
          const { body, isOwnUsage } = codec.request(by.source)
          const answer = yield* send(codec, upstream, body, by.received)
          const status = answer.statusCode
          known.outcome = { ...known.outcome, upstreamStatus: status }
          const abort = Effect.sync(answer.abort)
          if (status === null)
            return yield* new UpstreamFailed({ why: `it cannot be reached (${answer.errorCode ?? "connect"})` })
          const media = (answer.headers["content-type"] ?? "").split(";", 1)[0]!.trim().toLowerCase()
          const headers = Object.fromEntries(
            returned.flatMap((name) => (answer.headers[name] === undefined ? [] : [[name, answer.headers[name]]]))
          )
          if (status < 200 || status >= 300) {
            const problem = yield* Effect.ensuring(refusedBy(answer, status), abort)
            return { status, media: media || JSON_MEDIA, headers, body: problem } satisfies PassedAnswer
          }
          known.outcome = { ...known.outcome, usage: NOTHING }
          if (isStream) {
            if (media !== EVENT_STREAM_MEDIA) {
              yield* abort
              return yield* new UpstreamFailed({ why: "it answered a stream with something else" })
            }
            known.isHandedOn = true
            const chunks = passStream({
              codec,
              isOwnUsage,
              upstream: answer,
              halts,
              signal: AbortSignal.any([by.signal, closing.signal]),
              judge: (call, at, signal) => Effect.runPromiseWith(judging)(judgeCall(judged, call, at), { signal }),
              settle: (outcome) => {
                const done = Effect.runPromise(Effect.asVoid(settled(judged.call, outcome)))
                settling.add(done)
                return done.finally(() => settling.delete(done))
              }
            })
            return { status: 200, media: EVENT_STREAM_MEDIA, headers, body: chunks } satisfies PassedAnswer
          }
          const bytes = yield* whole(codec, answer, judged, (usage, tools) => {
            known.outcome = { ...known.outcome, usage, tools }
          }).pipe(Effect.provideContext(judging), Effect.ensuring(abort))
          known.outcome = { ...known.outcome, end: "finished" }
          return { status: 200, media: JSON_MEDIA, headers, body: bytes } satisfies PassedAnswer
        })

        /** Runs a request; answers what its upstream did, and its call, null where it is not settled yet. */
        const run = Effect.fnUntraced(function* (unit: string, body: GatewayBody, by: Passing) {
          const { agentId, codec, writer } = by
          const upstream = yield* admit(codec.form, unit, body.model, agentId)
          const halts = yield* watch([
            { type: "agent", id: agentId },
            { type: "model", id: upstream.modelId ?? upstream.model }
          ])
          const known = { outcome: { ...failedOutcome }, isHandedOn: false, isSettled: false }
          const facts = {
            agentId,
            caller: writer.id,
            form: codec.form,
            model: upstream.model,
            modelId: upstream.modelId,
            inputEstimate: inputEstimate(by.source.length)
          }
          const halted = (): Effect.Effect<void, GatewayHalted> => {
            const halt = halts.halt()
            return halt === null ? Effect.void : Effect.fail(new GatewayHalted({ ...halt }))
          }
          return yield* Effect.uninterruptibleMask((restore) =>
            Effect.gen(function* () {
              yield* halted()
              const call = yield* open(by.use, facts)
              const judged = { call, writer, scope: unitScope(unit), reviewWaitMs }
              const isStream = body.stream === true
              const passed = passing(codec, { judged, upstream, isStream, halts, by }, known)
              const stop = Effect.callback<never, GatewayHalted>((resume) => {
                const fail = (): void => resume(halted() as Effect.Effect<never, GatewayHalted>)
                if (halts.halt() !== null) return fail()
                halts.onHalt(fail)
              })
              const answer = yield* Effect.onExit(restore(Effect.raceFirst(passed, stop)), (exit) =>
                known.isHandedOn
                  ? Effect.void
                  : Effect.map(settled(call, endOf(known.outcome, exit)), (isSettled) => {
                      known.isSettled = isSettled
                    })
              )
              return { answer, call: known.isSettled ? call.id : null }
            })
          ).pipe(Effect.onExit(() => Effect.sync(() => known.isHandedOn || halts.close())))
        })

        const pass: GatewayApi["pass"] = Effect.fnUntraced(function* (form, unit, body, caller) {
          const writer = yield* caller.writer
          const agentId = yield* callingAgent(caller)
          const source = caller.received?.body ?? utf8(JSON.stringify(body))
          const amount = inputEstimate(source.length)
          const use = caller.account?.use ?? { unit, resource: "tokens", amount, limit: null }
          const { received, signal } = caller
          const by = { codec: codecs[form], agentId, writer, source, use, received, signal }
          return (yield* run(unit, body, by)).answer
        })

        const complete: GatewayApi["complete"] = Effect.fnUntraced(function* (unit, body, { agentId, plan, writer }) {
          const source = utf8(JSON.stringify(body))
          const { limit, soft } = plan === null ? { limit: null, soft: false } : planQuotas[plan].tokens
          const amount = mostTokens({}, source.length)
          const use = { unit, resource: "tokens", amount, limit: soft ? null : limit }
          const by = { codec: textAlone, agentId, writer, source, use, received: null, signal: closing.signal }
          const { answer, call } = yield* run(unit, body, by)
          const text: unknown =
            answer.status === 200 && answer.body instanceof Uint8Array
              ? (parsed(answer.body) as Any)?.choices?.[0]?.message?.content
              : null
          return call === null || typeof text !== "string"
            ? yield* new UpstreamFailed({ why: "it answered no text, or its call is not on record" })
            : { call, text }
        })

        return Gateway.of({ pass, complete, sweep })
      })
      // One of its own, over the store of products: what it commits reaches breakers as well.
    ).pipe(Layer.provide(Layer.fresh(Quotas.layer)))
}

/** A call whose upstream used nothing yet. */
const failedOutcome: CallOutcome = {
  end: "upstream_error",
  upstreamStatus: null,
  usage: null,
  outputEstimate: 0,
  tools: []
}

const endOf = (outcome: CallOutcome, exit: Exit.Exit<unknown, unknown>): CallOutcome => {
  if (Exit.isSuccess(exit)) return outcome
  const isHalt = exit.cause.reasons.some((one) => "error" in one && one.error instanceof GatewayHalted)
  const isGone = exit.cause.reasons.every((one) => one._tag === "Interrupt")
  return { ...outcome, end: isHalt ? "halted" : isGone ? "client_gone" : "upstream_error" }
}

/** The body of an answer that is no success: passed on where the client caused it, else a refusal in its place. */
const refusedBy = (
  answer: AgentStream,
  status: number
): Effect.Effect<Uint8Array, RateLimitExceeded | UpstreamFailed> => {
  if (status === 429) {
    const seconds = Number(answer.headers["retry-after"])
    const retryAfterS = Number.isInteger(seconds) && seconds > 0 ? Math.min(seconds, 86_400) : 1
    return Effect.fail(new RateLimitExceeded({ reason: "upstream", retryAfterS }))
  }
  const failed = new UpstreamFailed({ why: `its upstream answered ${status}` })
  // Another key or another address is for the operator to give.
  return status < 400 || status >= 500 || status === 401 || status === 403
    ? Effect.fail(failed)
    : Effect.tryPromise({ try: () => collected(answer), catch: () => failed })
}

const collected = async ({ body }: AgentStream): Promise<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > MAX_ANSWER) throw new Error("the answer is too large")
    pieces.push(piece)
  }
  return new Uint8Array(Buffer.concat(pieces, size))
}

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return null
  }
}
