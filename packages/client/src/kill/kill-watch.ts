/**
 * Follows the kill status of one agent: a stream for speed, polls for certainty.
 *
 * Only a poll confirms the status, because only a poll says when its request was sent. The stream tells that something
 * changed; its event is then confirmed by a poll, and a stop that it names takes effect at once.
 */
import { type ClientClock, pause } from "../clock.ts"
import type { Answer, Caller } from "../http/caller.ts"
import { CLIENT_CLOSED, refusalText } from "../http/server-refused.ts"
import type { Problem } from "../problem.ts"
import { makeAcknowledger } from "./acknowledge.ts"
import { knownChain } from "./known-chain.ts"
import {
  AgentHalted,
  confirm,
  type EffectClass,
  isInterrupting,
  isStopping,
  type KillDenial,
  killDenial,
  type KillView,
  observe,
  type Rejected,
  unknownView
} from "./kill-view.ts"
import type { KillStatus } from "../wire.ts"
import { MAX_SILENCE_MS, readEvents } from "./sse.ts"

/** Follows the halts of one agent. */
export interface KillWatch {
  /** The current view. */
  readonly view: () => KillView
  /** Why an action may not begin now; null: it may. Asks nobody. */
  readonly denial: (effect: EffectClass) => KillDenial
  /** Why the last question confirmed nothing, as a part of a sentence; null where it did, or where none ended yet. */
  readonly trouble: () => string | null
  /** Asks the server now, and resolves when it has answered or failed to. */
  readonly refresh: () => Promise<void>
  /** A signal that aborts when running work must end. `done` unregisters it. */
  readonly signal: () => { readonly signal: AbortSignal; readonly done: () => void }
  /** Calls back after each change of the view; the answer ends that. */
  readonly onChange: (call: (view: KillView) => void) => () => void
  /** Ends the stream and the polls. */
  readonly close: () => void
}

/** Options of a watch. Units: milliseconds. */
export interface KillWatchOptions {
  readonly agentId: string
  readonly instanceId: string
  /** Age past which side effects are denied. */
  readonly maxStaleMs: number
  readonly pollMs: number
  readonly timeoutMs: number
  readonly clock: ClientClock
  readonly caller: Caller
  readonly onProblem: (problem: Problem) => void
}

/** Share by which a poll comes earlier or later, so that a fleet does not ask at once. */
const JITTER = 0.1

/** Pause before a stream that ended is opened again. Unit: milliseconds, and up to twice that. */
const REOPEN_MS = 1_000
/** The same where the server let no stream open several times. Polls continue meanwhile. */
const REOPEN_MAX_MS = 8_000

/** Starts to follow; the first poll is under way when it answers. */
export const watchKill = (options: KillWatchOptions): KillWatch => {
  const { agentId, caller, clock, maxStaleMs, onProblem, pollMs, timeoutMs } = options
  const ending = new AbortController()
  const listeners = new Set<(view: KillView) => void>()
  const running = new Set<AbortController>()
  const query = `target_type=agent&target_id=${encodeURIComponent(agentId)}`
  const { report } = makeAcknowledger(options)
  const chain = knownChain({ caller, clock, timeoutMs, signal: ending.signal })
  let view = unknownView
  let etag: string | null = null
  let polling: Promise<void> | null = null
  let trouble: string | null = null

  const fail = (reason: string): void => {
    trouble = reason
    onProblem({ kind: "kill_status", reason })
  }

  /** A listener of the host that throws must not end the polls. */
  const tell = (call: (view: KillView) => void): void => {
    try {
      call(view)
    } catch (cause) {
      onProblem({ kind: "kill_status", reason: `a listener threw: ${String(cause)}` })
    }
  }

  const become = (next: KillView): void => {
    const changed = next.epoch !== view.epoch || next.response !== view.response || next.origin !== view.origin
    view = next
    if (isInterrupting(view.response)) for (const one of running) one.abort(new AgentHalted(view))
    if (changed) for (const call of listeners) tell(call)
    void report(view, running.size)
  }

  const ask = async (): Promise<void> => {
    const answer = await caller.send({
      method: "GET",
      path: `/api/v1/bound/kill/status?${query}`,
      timeoutMs,
      signal: ending.signal,
      ...(etag === null ? {} : { headers: { "if-none-match": etag } })
    })
    if (ending.signal.aborted) return
    if (answer.kind === "unreachable") return fail(answer.reason)
    if (answer.status === 304) {
      trouble = null
      return become(confirm(view, answer.sentAtMs))
    }
    if (answer.status !== 200) return fail(refusalText(answer))
    let seen = observe(agentId, view, answer.body, answer.sentAtMs)
    let unproved: string | null = null
    if (seen.rejected === "origin_changed") {
      unproved = await chain.follow(originIn(answer.body))
      // Epochs are of one origin: in the chain that continues nothing is known yet.
      if (unproved === null) seen = observe(agentId, unknownView, answer.body, answer.sentAtMs)
    }
    if (ending.signal.aborted) return
    if (seen.rejected !== null) return fail(whyRejected(seen.rejected, view, answer, unproved))
    trouble = null
    etag = answer.headers.get("etag")
    become(seen.view)
    // Beside: the next poll does not wait for it.
    void chain.learn(seen.view.origin)
  }

  /** One question at a time. A caller who comes while one is under way asks again after it: that one may be older. */
  const refresh = async (): Promise<void> => {
    if (polling !== null) await polling
    polling ??= ask().finally(() => (polling = null))
    return polling
  }

  const poll = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await refresh()
      await pause(clock, pollMs * (1 - JITTER + 2 * JITTER * clock.random()), ending.signal)
    }
  }

  const follow = async (): Promise<void> => {
    let failures = 0
    while (!ending.signal.aborted) {
      const last: Record<string, string> = view.epoch < 0 ? {} : { "last-event-id": String(view.epoch) }
      const headers = { ...last, accept: "text/event-stream" }
      const opening = new AbortController()
      const end = (): void => opening.abort()
      ending.signal.addEventListener("abort", end)
      const cancel = clock.after(MAX_SILENCE_MS, end)
      const response = await caller.open(`/api/v1/bound/kill/stream?${query}`, headers, opening.signal)
      cancel()
      try {
        if (response !== null) for await (const { data } of readEvents(response.body!, clock)) await onEvent(data)
      } catch (cause) {
        if (!ending.signal.aborted) onProblem({ kind: "kill_stream", reason: String(cause) })
      } finally {
        ending.signal.removeEventListener("abort", end)
        end()
      }
      failures = response === null ? failures + 1 : 0
      const pauseMs = Math.min(REOPEN_MAX_MS, REOPEN_MS * 2 ** failures)
      await pause(clock, pauseMs * (1 + clock.random()), ending.signal)
    }
  }

  const onEvent = async (data: string): Promise<void> => {
    const seen = observe(agentId, view, parsed(data), Number.NEGATIVE_INFINITY)
    // A stop counts at once. What lets an agent continue is taken from a poll alone.
    if (seen.rejected === null && isStopping(seen.view.response)) become({ ...seen.view, sentAtMs: view.sentAtMs })
    else await refresh()
  }

  void poll()
  void follow()
  return {
    view: () => view,
    denial: (effect) =>
      // Nothing is followed any more.
      ending.signal.aborted ? "@stale_status" : killDenial(view, effect, clock.monotonicMs(), maxStaleMs),
    trouble: () => trouble,
    refresh,
    signal: () => {
      const controller = new AbortController()
      running.add(controller)
      if (isInterrupting(view.response)) controller.abort(new AgentHalted(view))
      const done = (): void => {
        running.delete(controller)
        // The last effect that a halt interrupted has ended: this instance has stopped.
        if (running.size === 0) void report(view, 0)
      }
      return { signal: controller.signal, done }
    },
    onChange: (call) => {
      listeners.add(call)
      return () => void listeners.delete(call)
    },
    close: () => {
      trouble = CLIENT_CLOSED
      ending.abort()
    }
  }
}

/** Why a status is not believed, and what helps. A developer meets it in the message of a denial. */
const whyRejected = (
  rejected: Rejected,
  known: KillView,
  { body, excerpt }: Extract<Answer, { kind: "answer" }>,
  unproved: string | null
): string => {
  switch (rejected) {
    case "epoch_went_back":
      return (
        `the server's epoch went back from ${known.epoch} to ${(body as KillStatus).epoch}, so its answer is ` +
        `older than the known status, or the server runs on an older copy of its store`
      )
    case "origin_changed":
      return (
        `the server now has the chain ${originIn(body)}, and does not prove that it follows ${known.origin}: ` +
        `${unproved}. If you know that it was recovered, open a new client`
      )
    case "other_target":
      return `the answer is the kill status of another target, ${targetIn(body)}: a cache in between may mix them up`
    case "not_a_status":
      return `the answer is no kill status of a Flyball server: ${excerpt}`
  }
}

const originIn = (status: unknown): string => String((status as { readonly origin?: unknown } | null)?.origin)

const targetIn = (status: unknown): string => {
  const { target_id, target_type } = status as KillStatus
  return `${target_type} ${target_id}`
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
