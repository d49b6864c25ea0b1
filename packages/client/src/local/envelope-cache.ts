/**
 * Keeps the envelopes in force for one agent, for reads while the server is away.
 *
 * They count for a bounded time from the sending of the request that confirmed them last, on the monotonic clock. Only
 * what the envelopes offer (`on_unavailable: allow_cached`) is kept at all: no setting of the client opens it. Spec:
 * envelopes.md 3.12.
 */
import { type ClientClock, pause } from "../clock.ts"
import type { Caller } from "../http/caller.ts"
import type { KillWatch } from "../kill/kill-watch.ts"
import type { Problem } from "../problem.ts"
import { declaredOf, type Signals } from "../enforce/signals.ts"
import {
  type DeclaredSignals,
  type GivenLocally,
  type LocalEnvelopes,
  readDeclaredSignals,
  readEnvelopesInForce
} from "./read-envelopes.ts"

/** The cached envelopes of one agent. */
export interface EnvelopeCache {
  /** Begins to read, once; an agent that guards no read needs none. */
  readonly start: () => void
  /** Reads now, and says whether reads of the agent can be decided while the server is away. */
  readonly refresh: () => Promise<boolean>
  /**
   * Gives what the envelopes in force declare, as read last; reads it now where nothing is known, or on `again`. Null
   * where it cannot be known.
   */
  readonly declared: (again?: boolean) => Promise<DeclaredSignals | null>
  /**
   * The verdict on a read while the server is away, and the signals that it was given on; null where there is none,
   * which is a denial. `isStated`: all of these signals count, and not those alone that are declared. `args`: as they
   * will be witnessed.
   */
  readonly verdict: (
    signals: Signals,
    isStated: boolean,
    args: unknown,
    runId: string | null
  ) => { readonly given: GivenLocally; readonly signals: Signals } | null
  readonly close: () => void
}

/** Options of the cache. Units: milliseconds. */
export interface EnvelopeCacheOptions {
  readonly agentId: string
  readonly caller: Caller
  readonly clock: ClientClock
  readonly kill: KillWatch
  /** Longest age of what is kept; the server may say less. */
  readonly maxAgeMs: number
  readonly timeoutMs: number
  readonly onProblem: (problem: Problem) => void
}

/** Pause between two readings, and while nothing may be kept. Units: milliseconds. */
const READ_EVERY_MS = 15_000
const READ_RARELY_MS = 60_000

/** Share by which a reading comes earlier or later. */
const JITTER = 0.1

/** Header of the answer: `<seq> <ms>`, the position in the chain as of which it holds. */
const AS_OF = /^(\d{1,16}) (\d{1,16})$/

/** A cache; empty at first. */
export const envelopeCache = (options: EnvelopeCacheOptions): EnvelopeCache => {
  const { agentId, caller, clock, kill, maxAgeMs, onProblem, timeoutMs } = options
  const ending = new AbortController()
  const path = `/api/v1/bound/agents/${encodeURIComponent(agentId)}/envelopes-in-force`
  let kept: { readonly local: LocalEnvelopes; readonly sentAtMs: number; readonly etag: string | null } | null = null
  let declared: DeclaredSignals | null = null
  let reading: Promise<void> | null = null
  let started = false

  const read = async (): Promise<void> => {
    const before = kept
    const answer = await caller.send({
      method: "GET",
      path,
      timeoutMs,
      signal: ending.signal,
      ...(before?.etag == null ? {} : { headers: { "if-none-match": before.etag } })
    })
    if (ending.signal.aborted) return
    if (answer.kind === "unreachable") return onProblem({ kind: "envelopes", reason: answer.reason })
    const asOf = AS_OF.exec(answer.headers.get("flyball-as-of") ?? "")
    if (answer.status === 304 && before !== null && asOf !== null) {
      const confirmed = { ...before.local.answer, as_of_seq: Number(asOf[1]), as_of_ms: Number(asOf[2]) }
      kept = { ...before, local: { ...before.local, answer: confirmed }, sentAtMs: answer.sentAtMs }
      return
    }
    // Whatever else the server says, what was kept is not confirmed by it.
    const local = answer.status === 200 ? readEnvelopesInForce(answer.body, agentId) : null
    kept = local === null ? null : { local, sentAtMs: answer.sentAtMs, etag: answer.headers.get("etag") }
    declared = answer.status === 200 ? readDeclaredSignals(answer.body, agentId) : null
    if (answer.status !== 200 && answer.status !== 404)
      onProblem({ kind: "envelopes", reason: `status ${answer.status}` })
  }

  /** One request at a time. Who comes while one is under way reads again after it: that one may be older. */
  const refresh = async (): Promise<boolean> => {
    if (reading !== null) await reading
    reading ??= read().finally(() => (reading = null))
    await reading
    return kept !== null
  }

  const follow = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await refresh()
      const everyMs = kept === null ? READ_RARELY_MS : READ_EVERY_MS
      await pause(clock, everyMs * (1 - JITTER + 2 * JITTER * clock.random()), ending.signal)
    }
  }

  let forget = (): void => undefined
  return {
    start: () => {
      if (started || ending.signal.aborted) return
      started = true
      // A halt, a release and a recovery all change what is in force.
      forget = kill.onChange(() => void refresh())
      void follow()
    },
    refresh,
    declared: async (again = false) => {
      if (declared === null || again) await refresh()
      return declared
    },
    verdict: (all, isStated, args, runId) => {
      if (kept === null) return null
      const signals = isStated || declared === null ? all : declaredOf(all, declared.names)
      const { local, sentAtMs } = kept
      const ageMs = clock.monotonicMs() - sentAtMs
      const view = kill.view()
      const isFresh = ageMs >= 0 && ageMs <= Math.min(maxAgeMs, local.answer.max_age_ms)
      const isKnownToBeFree =
        kill.denial("read") === null && view.response === null && view.origin === local.answer.origin
      if (!isFresh || !isKnownToBeFree) return null
      const given = local.decide({ answer: local.answer, signals, args, runId, ageMs })
      return given === null ? null : { given, signals }
    },
    close: () => {
      ending.abort()
      forget()
    }
  }
}
