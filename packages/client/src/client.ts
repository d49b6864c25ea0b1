/** The client of agents: register, ask, witness, obey a halt. */
import { type Flushed, type Recorder, startRecorder } from "./capture/recorder.ts"
import { memorySpool, type Spool } from "./capture/spool.ts"
import { recordable, type Recording } from "./capture/recordable.ts"
import { type ClientClock, systemClock } from "./clock.ts"
import { digestKeyOf } from "./action-digest.ts"
import { type Guard, makeGuard } from "./enforce/guard.ts"
import { signalsReader, type SignalsOption } from "./enforce/signals.ts"
import { verdictOf } from "./enforce/verdict.ts"
import { type Caller, makeCaller } from "./http/caller.ts"
import { refusedAsClosed, refusedBy, ServerRefused } from "./http/server-refused.ts"
import { STALE_READS } from "./kill/kill-view.ts"
import { type KillWatch, watchKill } from "./kill/kill-watch.ts"
import { type EnvelopeCache, envelopeCache } from "./local/envelope-cache.ts"
import type { Problem } from "./problem.ts"
import { type Redact, redactMembers } from "./redact.ts"
import { makeRefs, type Refs } from "./refs.ts"
import { MAX_HOLD_MS, reviewsOf, type Reviews } from "./reviews/reviews.ts"
import type { AgentInfo, Decision, Evaluation, Json, Receipt, Registration, Settlement } from "./wire.ts"

/** Options of a client. Units: milliseconds. */
export interface ClientOptions {
  /** Address of the server, `https://flyball.example`. */
  readonly url: string
  /** An ingest key. */
  readonly key: string
  /** `spool` (default): what cannot be witnessed now is kept and sent later. `strict`: no action without a receipt. */
  readonly capture?: "spool" | "strict"
  /** Where decisions wait; in memory where it is left out. `fileSpool` of `@flyball/client/file-spool` keeps them. */
  readonly spool?: Spool
  /** Names of members whose values never leave the process, or a function. */
  readonly redact?: ReadonlyArray<string> | Redact
  /**
   * Key of the digest of arguments of which something is redacted; the ingest key where it is left out. An approval
   * holds only for a process with the same one.
   */
  readonly digestKey?: string
  /**
   * Signals of an action. By default its name as `tool`, and of the arguments that are texts, numbers or booleans and
   * are not redacted those that the envelopes in force declare. A list names the arguments that may be sent; none where
   * it is empty. What a function answers is sent as it is: an envelope denies a signal that it does not declare.
   */
  readonly signals?: SignalsOption
  /**
   * How long `guard` waits for the person who must approve an action. 0 where it is left out: `ActionDenied` names the
   * review at once, and a later call of the same action with the same arguments and signals continues with it, in a
   * later process too. At most an hour.
   */
  readonly hold?: { readonly waitMs: number }
  /** Names this process among the agent's instances; random where it is left out. */
  readonly instanceId?: string
  /** Age of the kill status past which side effects are denied. Default 15,000; a longer one is refused. */
  readonly maxStaleMs?: number
  /** Pause between polls of the kill status. Default 5,000. */
  readonly pollMs?: number
  /** Time for one request. Default 2,000. */
  readonly timeoutMs?: number
  /** Is given what went wrong and was not thrown. What it throws itself is dropped. */
  readonly onProblem?: (problem: Problem) => void
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: ClientClock
}

/** One agent of this process: guards its actions and witnesses its decisions. */
export interface AgentClient {
  readonly id: string
  readonly info: AgentInfo
  readonly instanceId: string
  /** Runs an action only where it may run. Throws `ActionDenied` where it may not. */
  readonly guard: Guard
  /** Asks whether an action may run, without running it. Throws where the server gives no verdict. */
  readonly evaluate: (question: Question) => Promise<Evaluation>
  /** Witnesses a decision. `spool`: resolves when it is kept, with null. `strict`: when it is sealed. */
  readonly witness: (decision: Witnessed) => Promise<Receipt | null>
  /** Says how a decision ended that was witnessed as `intended`. */
  readonly settle: (decisionId: string, settlement: Settlement) => Promise<void>
  readonly kill: KillWatch
  readonly reviews: Reviews
  /** The envelopes that decide reads while the server is away; followed in the background from the first one on. */
  readonly envelopes: Pick<EnvelopeCache, "refresh">
}

/** Input of `evaluate`. */
export interface Question {
  readonly action: string
  readonly signals: { readonly [name: string]: Json }
  readonly clientRef?: string
  readonly actionDigest?: string
  readonly runId?: string
}

/** A decision to witness. `client_ref` is generated if it is left out. */
export type Witnessed = Omit<Decision, "client_ref" | "writer_seq"> & { readonly client_ref?: string }

/** A client of one server. Made by {@link openClient}. Spec: document 1 section 1, agents at runtime; decision 0055. */
export interface Client {
  /**
   * Finds the agent of this name, or registers it, and starts to follow its kill status. Throws `ServerRefused` where
   * the server refuses, and with status 0 where it does not answer or the client is closed.
   */
  readonly register: (registration: Registration) => Promise<AgentClient>
  /** Sends the waiting entries, and answers the result. Unit: milliseconds. */
  readonly flush: (withinMs?: number) => Promise<Flushed>
  /** Decisions that wait to be sent. */
  readonly pending: () => number
  /**
   * Flushes and, where nothing is left to send, tells the server that this instance ended; for up to two seconds, and
   * once, however often it is called. What is still not sent stays in the spool, and is lost with a spool in memory.
   * Wait for what runs first: what ends later is not recorded. Waits for reviews end at once, and no guarded action
   * begins afterwards.
   */
  readonly close: () => Promise<Flushed>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Highest age of a kill status that a host may configure. Spec: design.md section 6. Unit: milliseconds. */
export const MAX_STALE_MS = 15_000

/** Time that `close()` takes at most. Unit: milliseconds. */
const CLOSE_MS = 2_000

/**
 * Opens a client. Sends no request yet.
 *
 * - Fails: throws `RangeError` for an option out of its bounds, `TypeError` for an `url`, `key` or `spool` that cannot
 *   be one.
 */
export const openClient = (options: ClientOptions): Client => {
  const {
    capture = "spool",
    clock = systemClock,
    maxStaleMs = MAX_STALE_MS,
    pollMs = 5_000,
    timeoutMs = 2_000
  } = options
  // A log that throws would end what follows halts and sends decisions, or count as the failure of an effect that ran.
  const onProblem = (problem: Problem): void => {
    try {
      const answer: unknown = options.onProblem?.(problem)
      if (answer instanceof Promise) answer.catch(() => undefined)
    } catch {
      // Nobody is left to be given it.
    }
  }
  if (capture !== "spool" && capture !== "strict")
    throw new RangeError(`capture must be "spool" or "strict"; it is ${shown(capture)}.`)
  if ((options.spool ?? null) !== null && typeof options.spool?.add !== "function")
    throw new TypeError(`spool must be memorySpool() or fileSpool(folder); it is ${shown(options.spool)}.`)
  if (!(maxStaleMs > 0 && maxStaleMs <= MAX_STALE_MS))
    throw new RangeError(`maxStaleMs must be above 0 and at most ${MAX_STALE_MS}; it is ${maxStaleMs}.`)
  if (!(pollMs > 0 && pollMs < maxStaleMs))
    throw new RangeError(`pollMs must be above 0 and below maxStaleMs (${maxStaleMs}); it is ${pollMs}.`)
  const { waitMs = 0 } = options.hold ?? {}
  if (!(waitMs >= 0 && waitMs <= MAX_HOLD_MS))
    throw new RangeError(`hold.waitMs must be at least 0 and at most ${MAX_HOLD_MS}; it is ${waitMs}.`)
  if (!(timeoutMs > 0)) throw new RangeError(`timeoutMs must be above 0; it is ${timeoutMs}.`)
  requireAddress(options.url)
  requireKey(options.key)
  const caller = makeCaller({ url: options.url, key: options.key, fetch: options.fetch ?? globalThis.fetch, clock })
  const digestKey = digestKeyOf(options.digestKey ?? options.key)
  const refs = makeRefs(clock)
  const recorder = startRecorder({ caller, spool: options.spool ?? memorySpool(), clock, timeoutMs, onProblem })
  const redact: Redact = typeof options.redact === "function" ? options.redact : redactMembers(options.redact ?? [])
  const recording: Recording = { redact, digestKey }
  const instanceId = options.instanceId ?? refs.bootId
  const watches = new Set<KillWatch | EnvelopeCache>()
  const agents = new Map<string, AgentClient>()
  const ended = new AbortController()
  let closing: Promise<Flushed> | null = null

  const agentOf = (info: AgentInfo): AgentClient => {
    // Who registers for each task gets the same agent, with one watch over its halts.
    const known = agents.get(info.id)
    const agent = known === undefined ? makeAgent(info) : { ...known, info }
    agents.set(info.id, agent)
    return agent
  }

  const makeAgent = (info: AgentInfo): AgentClient => {
    const kill = watchKill({ agentId: info.id, instanceId, maxStaleMs, pollMs, timeoutMs, clock, caller, onProblem })
    const maxAgeMs = maxStaleMs * STALE_READS
    const envelopes = envelopeCache({ agentId: info.id, caller, clock, kill, maxAgeMs, timeoutMs, onProblem })
    watches.add(kill)
    watches.add(envelopes)
    recorder.knows(info.id)
    const strict = capture === "strict"
    const reviews = reviewsOf({ caller, clock, kill, timeoutMs, closed: ended.signal })
    const signals = signalsReader(options.signals, redact)
    const parts = {
      agentId: info.id,
      instanceId,
      caller,
      clock,
      kill,
      recorder,
      refs,
      redact,
      timeoutMs,
      strict,
      signals,
      reviews,
      envelopes,
      holdMs: waitMs,
      digestKey
    }
    return {
      id: info.id,
      info,
      instanceId,
      kill,
      reviews,
      envelopes,
      guard: makeGuard(parts),
      evaluate: (question) =>
        evaluate(caller, refs, { agent_id: info.id, instance_id: instanceId }, question, timeoutMs),
      witness: (decision) =>
        witness(recorder, refs, recording, info.id, { instance_id: instanceId, ...decision }, strict),
      settle: async (decisionId, settlement) => {
        const shown = recordable<Settlement>(settlement, recording)
        await recorder.keep({ kind: "settle", agentId: info.id, decisionId, clientRef: decisionId, settlement: shown })
      }
    }
  }

  const flush = (withinMs = 10_000): Promise<Flushed> => recorder.flush(withinMs)
  const end = async (): Promise<Flushed> => {
    ended.abort()
    for (const watch of watches) watch.close()
    const untilMs = clock.monotonicMs() + CLOSE_MS
    const flushed = await flush(CLOSE_MS)
    // A decision that is sent later would be a sign of this instance again.
    if (flushed.pending === 0) await sayEnded(untilMs - clock.monotonicMs())
    await recorder.close()
    return flushed
  }
  /** Tells the server that this instance of each agent ended. An answer is no condition of the end. */
  const sayEnded = async (withinMs: number): Promise<void> => {
    if (withinMs <= 0) return
    const sending = {
      method: "POST",
      json: { instance_id: instanceId },
      timeoutMs: Math.min(timeoutMs, withinMs)
    } as const
    await Promise.all(
      [...agents.keys()].map((id) => caller.send({ ...sending, path: `/api/v1/agents/${id}/instances/end` }))
    )
  }
  return {
    register: async (registration) => {
      requireOpen(ended.signal)
      const info = await register(caller, registration, timeoutMs)
      // A watch that begins after the end would never end.
      requireOpen(ended.signal)
      return agentOf(info)
    },
    flush,
    pending: recorder.pending,
    close: () => (closing ??= end()),
    [Symbol.asyncDispose]: async () => void (await (closing ??= end()))
  }
}

/** Fails: throws `ServerRefused` where the client is closed. */
const requireOpen = (ended: AbortSignal): void => {
  if (ended.aborted) throw refusedAsClosed("The agent could not be registered")
}

/** Fails: throws where the address is none of a server. Settings that are not set are the common case. */
const requireAddress = (url: unknown): void => {
  const protocol = typeof url === "string" && URL.canParse(url) ? new URL(url).protocol : null
  if (protocol !== "http:" && protocol !== "https:")
    throw new TypeError(`url must be the address of a Flyball server, as https://flyball.example; it is ${shown(url)}.`)
}

/** Fails: throws where this cannot be a key. Its text is never shown. */
const requireKey = (key: unknown): void => {
  if (typeof key !== "string" || key === "")
    throw new TypeError(`key must be the text of an ingest key; it is ${key === "" ? "empty" : typeof key}.`)
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new TypeError("key must be the text of an ingest key: this one has spaces, line ends or other characters.")
}

const shown = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : typeof value)

/** Finds the agent by its exact name, and registers it where there is none. Spec: document 1 section 4. */
const register = async (caller: Caller, registration: Registration, timeoutMs: number): Promise<AgentInfo> => {
  const found = await findByName(caller, registration.name, timeoutMs)
  if (found !== null) return found
  const made = await caller.send({ method: "POST", path: "/api/v1/agents", json: registration, timeoutMs })
  if (made.kind === "answer" && made.status === 201 && isAgent(made.body, registration.name)) return made.body
  // Another instance may have registered it in between.
  if (made.kind === "answer" && made.status === 409) {
    const other = await findByName(caller, registration.name, timeoutMs)
    if (other !== null) return other
  }
  throw refusedBy("The agent could not be registered", made)
}

const findByName = async (caller: Caller, name: string, timeoutMs: number): Promise<AgentInfo | null> => {
  // Half a surrogate pair has no encoding: the registration is refused with the reason.
  const path = `/api/v1/agents?name=${encodeURIComponent(String(name).toWellFormed())}`
  const answer = await caller.send({ method: "GET", path, timeoutMs })
  if (answer.kind !== "answer" || answer.status !== 200 || !Array.isArray(answer.body))
    throw refusedBy("The agent could not be looked up", answer)
  const [found] = answer.body as ReadonlyArray<unknown>
  if (found === undefined) return null
  if (!isAgent(found, name)) throw refusedBy("The answer is not the agent that was looked up", answer)
  return found
}

const isAgent = (body: unknown, name: string): body is AgentInfo => {
  const agent = body as Partial<AgentInfo> | null
  // The server keeps names in the form NFC.
  return typeof agent?.id === "string" && agent.name === String(name).normalize("NFC")
}

const evaluate = async (
  caller: Caller,
  refs: Refs,
  who: { readonly agent_id: string; readonly instance_id: string },
  question: Question,
  timeoutMs: number
): Promise<Evaluation> => {
  const json = {
    ...who,
    client_ref: question.clientRef ?? refs.next().ref,
    action: question.action,
    signals: question.signals,
    ...(question.actionDigest === undefined ? {} : { action_digest: question.actionDigest }),
    ...(question.runId === undefined ? {} : { run_id: question.runId })
  }
  const answer = await caller.send({ method: "POST", path: "/api/v1/bound/evaluations", json, timeoutMs })
  const verdict = verdictOf(answer, json)
  if (verdict.by === "server") return verdict.evaluation
  throw refusedBy(`No verdict (${verdict.rule})`, answer)
}

const witness = async (
  recorder: Recorder,
  refs: Refs,
  recording: Recording,
  agentId: string,
  given: Witnessed,
  strict: boolean
): Promise<Receipt | null> => {
  const { ref, seq } = refs.next()
  const decision = recordable<Decision>(
    { capture: "self_reported", ...given, client_ref: given.client_ref ?? ref, writer_seq: seq },
    recording
  )
  if (!strict) {
    await recorder.keep({ kind: "decision", agentId, decision })
    return null
  }
  const receipt = await recorder.sendNow(agentId, decision).catch(async (cause: unknown) => {
    // The host learns of the refusal, and the chain of the decision or of its loss.
    await recorder.keep({ kind: "decision", agentId, decision })
    throw cause
  })
  if (receipt === null) throw new ServerRefused("The decision could not be witnessed: no receipt came", 0, null)
  return receipt
}
