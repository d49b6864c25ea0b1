/**
 * The demo's chapter on stopping: an agent behind `@flyball/client` fails three times in a row, a breaker trips, and
 * the agent obeys until a person releases it.
 */
import { setTimeout } from "node:timers/promises"
import { ActionDenied, type AgentClient, type Json, openClient } from "@flyball/client"
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface Stopped {
  readonly agent: string
  readonly failures: number
  readonly value: string
  readonly actor: string
  readonly denied: string
  readonly instances: { readonly expected: number; readonly acknowledged: number; readonly stopped: number }
  readonly after: string
}

/** Failures in a row at which the breaker trips. */
const FAILURES = 3

/** Lets an agent fail, be stopped and be released. */
export const stopped = async ({
  agent: { name },
  key,
  server
}: {
  readonly agent: { readonly name: string }
  readonly key: string
  readonly server: RunningServer
}): Promise<Stopped> => {
  const operator = (await server.flyball("token", "--role", "operator", "--sub", "olga")).stdout.trim()
  const call = async (method: string, path: string, body?: unknown) => {
    const { bytes, json, status } = await server.call(method, `/api/v1/bound/${path}`, operator, body)
    if (status >= 300)
      throw new Error(`${method} ${path} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
    return json
  }
  await using client = openClient({
    url: server.address,
    key,
    // The page must not depend on how busy the machine is.
    timeoutMs: 20_000,
    signals: (tool): { readonly [signal: string]: Json } => ({ tool, items: 0 })
  })
  const agent = await client.register({ name })
  await agent.kill.refresh()
  const armed = await call("POST", `agents/${agent.id}/breakers`, {
    name: "failing",
    metric: "consecutive_failures",
    params: { max_count: FAILURES }
  })
  for (let failure = 0; failure < FAILURES; failure++)
    await lookUp(agent, () => Promise.reject(new Error("the order system does not answer")))
  await client.flush()
  await call("POST", "breakers/check")
  const breaker = (await call("GET", `agents/${agent.id}/breakers`)).find((one: { id: string }) => one.id === armed.id)
  await agent.kill.refresh()
  const denied = await lookUp(agent, () => "the order")
  // The client acknowledges beside its polls, so its acknowledgement may still be under way.
  const activation = await stoppedActivation(() => call("GET", `kill/activations/${breaker.fired_event_id}`))
  await call("POST", "kill/release", { activation_event: activation.id, reason: "The order system answers again." })
  await agent.kill.refresh()
  return {
    agent: name,
    failures: FAILURES,
    value: breaker.last_value,
    actor: activation.actor,
    denied,
    instances: activation,
    after: await lookUp(agent, () => "the order")
  }
}

/** Unit: milliseconds. */
const ASK_EVERY_MS = 50
const ASK_FOR_MS = 20_000

/** The activation once all expected instances have stopped; as it is when none of that comes in time. */
const stoppedActivation = async <A extends { readonly expected: number | null; readonly stopped: number }>(
  ask: () => Promise<A>
): Promise<A> => {
  for (let waitedMs = 0; ; waitedMs += ASK_EVERY_MS) {
    const activation = await ask()
    // Whom it expects follows the activation.
    const hasStopped = activation.expected !== null && activation.stopped >= activation.expected
    if (hasStopped || waitedMs >= ASK_FOR_MS) return activation
    await setTimeout(ASK_EVERY_MS)
  }
}

/** A guarded look-up: what it answered, why it did not run, or how it failed. */
const lookUp = (agent: AgentClient, effect: () => string | Promise<string>): Promise<string> =>
  agent
    .guard({ name: "get_order_details", effect: "read" }, { order_id: "#W2378156" }, effect)
    .catch((cause: unknown) => (cause instanceof ActionDenied ? `${cause.outcome} by ${cause.rule}` : String(cause)))

/** Its lines of the page. */
export const stoppedLines = ({
  actor,
  after,
  agent,
  denied,
  failures,
  instances,
  value
}: Stopped): ReadonlyArray<string> => [
  `A breaker was armed for ${agent}. Its tool failed ${failures} times in a row (value ${value}), and ${actor} ` +
    `halted it.`,
  `The agent runs behind @flyball/client, so its next call did not run: ${denied}. ` +
    `${instances.acknowledged} of ${instances.expected} instances acknowledged, ${instances.stopped} stopped.`,
  `A person released the halt, and the same call ran: ${after}.`
]
