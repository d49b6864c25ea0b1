/**
 * Acknowledges activations: first that this instance saw one, then that nothing of it is under way any more.
 *
 * Without an acknowledgement the service never shows an instance as stopped. One that fails is sent again with the next
 * poll. A shadow drill is acknowledged, and the instance works on.
 */
import type { ClientClock } from "../clock.ts"
import type { Caller } from "../http/caller.ts"
import type { Problem } from "../problem.ts"
import { isStopping, type KillView } from "./kill-view.ts"

/** Acknowledges what a view names. */
export interface Acknowledger {
  /** Sends what the service does not know yet. `inFlight`: guarded effects that run. */
  readonly report: (view: KillView, inFlight: number) => Promise<void>
}

/** Options of an acknowledger. Unit: milliseconds. */
export interface AcknowledgerOptions {
  readonly agentId: string
  readonly instanceId: string
  readonly caller: Caller
  readonly clock: ClientClock
  readonly timeoutMs: number
  readonly onProblem: (problem: Problem) => void
}

/** Progress of the acknowledgement of an activation. */
type Stage = "none" | "seen" | "stopped"

/** Makes the acknowledger of one agent. */
export const makeAcknowledger = (options: AcknowledgerOptions): Acknowledger => {
  const { agentId, caller, clock, instanceId, onProblem, timeoutMs } = options
  let activation: string | null = null
  let observedAtMs = 0
  let done: Stage = "none"
  let latest: { readonly response: KillView["response"]; readonly inFlight: number } = { response: null, inFlight: 0 }
  let sending: Promise<void> | null = null

  const send = async (event: string, inFlight: number, stopped: boolean): Promise<void> => {
    const answer = await caller.send({
      method: "POST",
      path: "/api/v1/bound/kill/ack",
      json: {
        activation_event: event,
        agent_id: agentId,
        instance_id: instanceId,
        observed_at: new Date(observedAtMs).toISOString(),
        in_flight: inFlight,
        stopped
      },
      timeoutMs
    })
    if (answer.kind === "answer" && answer.status < 300) {
      if (activation === event) done = stopped ? "stopped" : "seen"
      return
    }
    const reason = answer.kind === "answer" ? `status ${answer.status}` : answer.reason
    onProblem({ kind: "kill_ack", reason })
  }

  /** The acknowledgement due for the current activation: true once stopped; null where the service has it. */
  const due = (): boolean | null => {
    const stopped = isStopping(latest.response) && latest.inFlight === 0
    return done === "stopped" || (done === "seen" && !stopped) ? null : stopped
  }

  const sendAll = async (): Promise<void> => {
    for (;;) {
      const stopped = due()
      const before = `${activation} ${done}`
      if (activation === null || stopped === null) return
      await send(activation, latest.inFlight, stopped)
      // No progress: the service is away, and the next poll calls again.
      if (before === `${activation} ${done}`) return
    }
  }

  return {
    report: async ({ activationEvent, response }, inFlight) => {
      latest = { response, inFlight }
      if (activationEvent !== activation) {
        activation = activationEvent
        observedAtMs = clock.nowMs()
        done = "none"
      }
      sending ??= sendAll().finally(() => (sending = null))
      return sending
    }
  }
}
