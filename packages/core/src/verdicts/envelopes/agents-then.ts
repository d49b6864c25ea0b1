/**
 * State of agents at the time of an evaluation, folded from their records. What these do not tell any more
 * is named, not guessed.
 */
import { portableCrypto, readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { agentFolds, GovernedState, serverSignalNames, reportedOf } from "@flyball/rules"
import type { JsonMap, PartContent, ReplayRecord } from "@flyball/rules"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { Values } from "@flyball/envelope"

/** An agent at one record. */
export interface AgentThen {
  /** Signals of the service, as far as they are known. */
  readonly server: Values
  readonly orgUnit: string
  /** Names of those that are not, and `org_unit` where that is not. */
  readonly unreported: ReadonlyArray<string>
}

const kinds: ReadonlyArray<string> = ["agent.registered", ...agentFolds.keys(), "part.erased"]
const ofProfile = serverSignalNames.filter((name) => name.startsWith("blast_"))
const nothingReported: AgentThen = { server: {}, orgUnit: "", unreported: [...serverSignalNames, "org_unit"] }

const PAGE = 500

/** Answers for one agent and record after the other; records of one agent in their order. */
export const agentsThen = (storage: StorageApi) => {
  const state = new GovernedState(portableCrypto.sha256)
  /** Records that are not folded yet, the next one last. */
  const ahead = new Map<string, Array<ReplayRecord>>()
  const reported = new Map<string, AgentThen>()
  return Effect.fnUntraced(function* (agentId: string, seq: number): Effect.fn.Return<AgentThen, ReadFault> {
    const left = ahead.get(agentId) ?? (yield* recordsOf(storage, agentId)).toReversed()
    ahead.set(agentId, left)
    const known = reported.get(agentId)
    if (known !== undefined && (left.length === 0 || left.at(-1)!.seq >= seq)) return known
    while (left.length > 0 && left.at(-1)!.seq < seq) state.fold(left.pop()!)
    const then = thenOf(state, agentId)
    reported.set(agentId, then)
    return then
  })
}

const thenOf = (state: GovernedState, agentId: string): AgentThen => {
  const agent = state.agents.get(agentId)
  if (agent === undefined) return nothingReported
  const { body, unknown } = agent.document
  const { server } = reportedOf(agentId, agent)
  return {
    server,
    orgUnit: typeof body["orgUnit"] === "string" ? body["orgUnit"] : "",
    unreported: [
      ...(unknown.includes("blastRadius") ? ofProfile : []),
      ...(unknown.includes("orgUnit") ? ["org_unit"] : [])
    ]
  }
}

const recordsOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string
): Effect.fn.Return<ReadonlyArray<ReplayRecord>, ReadFault> {
  const found: Array<ReplayRecord> = []
  for (let from = 0; ;) {
    const page = yield* storage.records({ agentId, kinds, from, limit: PAGE })
    const parts = page.length === 0 ? [] : yield* storage.parts(page.map(({ seq }) => seq))
    for (const { bytes, kind, seq } of page) {
      const read = readRecord(bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
      const own = parts.filter((part) => part.seq === seq)
      found.push({
        seq,
        kind,
        body: read.record.body as JsonMap,
        parts: new Map(
          own.map(({ bytes, name }): readonly [string, PartContent] => [
            name,
            bytes === null ? { state: "erased" } : { state: "present", bytes }
          ])
        )
      })
    }
    if (page.length < PAGE) return found
    from = page.at(-1)!.seq + 1
  }
})
