/**
 * Instances of one agent that act all the time, each over a line that breaks and mends by chance, and a halt. No side
 * effect may begin later than `maxStaleMs` after the halt was activated, whatever the lines do.
 *
 * Verdicts come from this process and allow everything, so that the kill status alone stops an instance: over a real
 * line the server would refuse most of these actions in the evaluation already.
 */
import { ActionDenied, type AgentClient, type Client, openClient } from "@flyball/client"
import type { World } from "../../../apps/server/src/http/http-world.ts"
import { breakableLine, lineStates } from "./breakable-line.ts"

/** A round. Units: milliseconds. */
export interface HaltRound {
  readonly instances: number
  readonly maxStaleMs: number
  readonly pollMs: number
  /** How long everything runs before the halt. */
  readonly beforeMs: number
  readonly seed: number
}

/** Result of a run. Times count from the moment at which the activation was answered. Unit: milliseconds. */
export interface HaltOutcome {
  /** Effects that began before the activation was answered. */
  readonly before: number
  /** Effects that began after it, in time. */
  readonly after: number
  /** When the last effect began. */
  readonly lastMs: number
  /** Changes of lines. */
  readonly breaks: number
  /** Instances of which an effect ran. */
  readonly acted: number
}

/** Runs a round. The agent's kill status comes from the world's server; everything ends with it. */
export const haltRound = async (world: World, round: HaltRound): Promise<HaltOutcome> => {
  const { beforeMs, instances, maxStaleMs, pollMs } = round
  const random = numbers(round.seed)
  const name = `halted ${round.seed} ${instances}`
  const agent = await world.send("POST", "/api/v1/agents", { token: world.key, json: { name } })
  const begun: Array<{ readonly instance: number; readonly atMs: number }> = []
  const over = new AbortController()
  let breaks = 0
  const lines = await Promise.all(Array.from({ length: instances }, () => breakableLine(world.url)))
  const clients = lines.map(({ url }) =>
    openClient({
      url,
      key: world.key,
      maxStaleMs,
      pollMs,
      timeoutMs: Math.max(100, pollMs / 2),
      fetch: allowing
    })
  )

  const breakLines = async (): Promise<void> => {
    while (!over.signal.aborted) {
      lines[random(instances)]!.become(lineStates[random(lineStates.length)]!)
      breaks++
      await after(Math.max(1, Math.floor((4 * pollMs) / instances)))
    }
  }

  /** A busy machine may answer later than the client waits. */
  const register = async (client: Client): Promise<AgentClient> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await client.register({ name })
      } catch (cause) {
        if (attempt === 100) throw cause
      }
  }
  const { id } = agent.json as { readonly id: string }
  // Every instance is registered over an open line; then the lines begin to break.
  const registered = await Promise.all(clients.map(register))
  for (const mine of registered) if (mine.id !== id) throw new Error(`The agent is ${mine.id}, expected ${id}.`)

  const act = async (mine: AgentClient, instance: number): Promise<void> => {
    while (!over.signal.aborted) {
      await mine
        .guard("act", null, () => void begun.push({ instance, atMs: performance.now() }))
        .catch((cause: unknown) => {
          if (!(cause instanceof ActionDenied)) throw cause
        })
      await after(5 + random(20))
    }
  }

  const acted = (): number => new Set(begun.map(({ instance }) => instance)).size
  const failed = Promise.all(registered.map(act))
  // The lines are whole until each has acted, however busy the machine is.
  while (acted() < instances) await Promise.race([failed, after(20)])
  await Promise.race([failed, after(beforeMs / 2)])
  const breaking = breakLines()
  await Promise.race([failed, after(beforeMs / 2)])
  const json = { target_type: "agent", target_id: id, reason: "test" }
  const got = await world.send("POST", "/api/v1/bound/kill/activate", { token: world.admin, json })
  const activatedMs = performance.now()
  if (got.status !== 201) throw new Error(`The halt was refused: ${got.text}`)
  await Promise.race([failed, after(3 * maxStaleMs)])
  over.abort()
  await failed
  await breaking
  for (const line of lines) line.become("cut")
  await Promise.all(clients.map((client) => client.close()))
  await Promise.all(lines.map((line) => line.close()))
  const times = begun.map(({ atMs }) => atMs - activatedMs)
  return {
    before: times.filter((ms) => ms <= 0).length,
    after: times.filter((ms) => ms > 0).length,
    // Not by spreading: a fast machine begins more effects than a call may have arguments.
    lastMs: times.reduce((last, ms) => Math.max(last, ms), Number.NEGATIVE_INFINITY),
    breaks,
    acted: acted()
  }
}

const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Allows every evaluation; everything else goes to the server. */
const allowing = (async (input, init) => {
  if (!String(input).endsWith("/bound/evaluations")) return fetch(input, init)
  const { agent_id, client_ref } = JSON.parse(String(init?.body))
  const json = {
    id: "evl_local",
    agent_id,
    client_ref,
    outcome: "allow",
    matched_rule: "all",
    valid_ms: 15_000,
    obligations: [],
    review_id: null,
    suggestion: null
  }
  return new Response(JSON.stringify(json), { status: 201 })
}) as typeof globalThis.fetch

/** Whole numbers below a bound, by a seed: the same every time. */
const numbers = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
