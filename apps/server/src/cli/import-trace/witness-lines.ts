/** Witnesses decisions in batches of one agent each, and knows which line each came from. */
import {
  AgentCreate,
  ClientRefReused,
  type DecisionIn,
  DecisionTooLarge,
  decode,
  InvalidInput,
  PART_LIMIT_BYTES
} from "@flyball/contract"
import { Agents, Capture, type Writer } from "@flyball/core"
import { Result } from "effect"
import type { HostRuntime } from "../../host/open-host.ts"

/** Decisions in one commit: enough to share an fsync, few enough to stay near 10 ms. */
const BATCH = 500
/**
 * Bytes of lines that wait for their batch, of all agents together, before everything is witnessed.
 *
 * The more, the larger the batch of each agent, where a file has many at once, and the less time a decision takes.
 * Decisions take several times their
 * line in memory, so nothing is read while these are witnessed.
 */
const WAITING_BYTES = 384 * 1024

const writer: Writer = { id: "system:import" }

/** Problem with a line. */
export class LineProblem extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

/** Totals so far. */
export interface Totals {
  decisions: number
  duplicates: number
  readonly agents: Map<string, string>
}

/** A decision and where it stands. */
export interface TraceLine {
  readonly agent: string
  readonly decision: DecisionIn
  readonly line: number
  readonly bytes: number
}

/** Takes decisions and witnesses them when enough wait. */
export interface Witness {
  /** Answers a promise when the caller has to wait before it adds more: all that waited is then being witnessed. */
  readonly add: (line: TraceLine) => Promise<void> | null
  /** Witnesses all that waits. */
  readonly flush: () => Promise<void>
}

const decodeAgent = decode(AgentCreate)

/**
 * Witnesses lines of one file, agents registered by name in `orgUnit`.
 *
 * - Fails: {@link LineProblem} where a line is to blame; nothing of its batch is then recorded. The store's faults as
 *   they are.
 */
export const witnessLines = (runtime: HostRuntime, orgUnit: string, totals: Totals): Witness => {
  let waiting = new Map<string, Array<TraceLine>>()
  let waitingBytes = 0

  const agentOf = async ({ agent: name, line }: TraceLine): Promise<string> => {
    const known = totals.agents.get(name)
    if (known !== undefined) return known
    const input = decodeAgent({ name, org_unit: orgUnit }, "body")
    if (Result.isFailure(input))
      throw new LineProblem(
        line,
        input.failure
          .map(({ loc, msg }) => `${loc.at(1) === "name" ? "agent" : loc.slice(1).join(".")}: ${msg}`)
          .join("; ")
      )
    const { agent } = await runtime.runPromise(Agents.use((agents) => agents.register(input.success, writer)))
    if (agent.org_unit !== orgUnit)
      console.error(
        `flyball: the agent ${name} is already registered in the org unit ${agent.org_unit} and stays there.`
      )
    totals.agents.set(name, agent.id)
    return agent.id
  }

  const witness = async (batch: ReadonlyArray<TraceLine>, agentId: string): Promise<void> => {
    const { receipts } = await runtime
      .runPromise(
        Capture.use((capture) =>
          capture.witness(
            agentId,
            batch.map(({ decision }) => decision),
            writer
          )
        )
      )
      .catch((cause: unknown) => Promise.reject(lineProblem(batch, cause)))
    totals.decisions += receipts.length
    totals.duplicates += receipts.filter(({ duplicate }) => duplicate).length
  }

  const witnessAgent = async (lines: ReadonlyArray<TraceLine>): Promise<void> => {
    const agentId = await agentOf(lines[0]!)
    for (let at = 0; at < lines.length; at += BATCH) await witness(lines.slice(at, at + BATCH), agentId)
  }

  /** The agents' batches side by side, so that they share commits; the decisions of one agent stay in order. */
  const witnessAll = async (byAgent: ReadonlyMap<string, ReadonlyArray<TraceLine>>): Promise<void> => {
    const settled = await Promise.allSettled([...byAgent.values()].map(witnessAgent))
    const failures = settled.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []))
    if (failures.length > 0) throw failures.reduce(earlier)
  }

  const flush = (): Promise<void> => {
    const byAgent = waiting
    waiting = new Map()
    waitingBytes = 0
    return witnessAll(byAgent)
  }

  return {
    add: (line) => {
      const lines = waiting.get(line.agent)
      if (lines === undefined) waiting.set(line.agent, [line])
      else lines.push(line)
      waitingBytes += line.bytes
      return waitingBytes >= WAITING_BYTES ? flush() : null
    },
    flush
  }
}

/** Of two failures the one of the earlier line; one that is no line's fault comes first. */
const earlier = (one: unknown, other: unknown): unknown =>
  one instanceof LineProblem && (!(other instanceof LineProblem) || other.line < one.line) ? other : one

/** Finds the line behind a refusal of a whole batch. */
const lineProblem = (batch: ReadonlyArray<TraceLine>, cause: unknown): unknown => {
  const at = (indexes: ReadonlyArray<number> | undefined = [], say: (line: TraceLine) => string): LineProblem => {
    const line = batch[indexes[0] ?? 0]!
    const others = indexes.length - 1
    return new LineProblem(
      line.line,
      `${say(line)}${others > 0 ? ` (and ${others} more line${others === 1 ? "" : "s"} with this problem)` : ""}`
    )
  }
  if (cause instanceof ClientRefReused) {
    return at(
      cause.indexes,
      ({ decision }) =>
        `the id ${decision.client_ref} was used before for a decision with different content. Recorded decisions ` +
        `cannot change; give a new decision a new id`
    )
  }
  if (cause instanceof DecisionTooLarge)
    return at(
      cause.indexes,
      () => `args, result, labels and signals may have ${PART_LIMIT_BYTES} bytes each, and one has more`
    )
  if (cause instanceof InvalidInput) {
    const index = cause.detail[0]?.loc.find((step) => /^\d+$/.test(step))
    return at([Number(index ?? 0)], () => cause.detail.map(({ loc, msg }) => `${loc.at(-1)}: ${msg}`).join("; "))
  }
  return cause
}
