/** Counts the calls of tools among the newest decisions. Spec: decision 0072. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { inTurns } from "../../storage/each-record.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"

/** Records of decisions that one answer reads. */
export const MOST_READ = 20_000
const PAGE = 1_000
/** Tools and agents that one answer lists at most. */
const MAX_TOOLS = 5_000
const MAX_AGENTS = 100

/** The calls of one tool in one org unit. */
export interface ToolCalls {
  readonly orgUnitDigest: string | null
  readonly toolServer: string | null
  readonly tool: string
  readonly agents: Set<string>
  /** Agent and seq of each call, newest first. */
  readonly calls: Array<{ readonly seq: number; readonly agentId: string }>
}

/** Calls among the newest decisions up to `to`. `fromSeq`: the first record that was read. */
export interface CountedCalls {
  readonly fromSeq: number
  readonly byTool: ReadonlyArray<ToolCalls>
}

/** Reads calls backwards from `to`, at most {@link MOST_READ} decisions; `covers`: whether an org unit is in scope. */
export const countCalls = Effect.fnUntraced(function* (
  storage: StorageApi,
  to: number,
  covers: (orgUnitDigest: string | null) => boolean
): Effect.fn.Return<CountedCalls, ReadFault> {
  const units = new Map<string, string | null>()
  const byTool = new Map<string, ToolCalls>()
  let fromSeq = to + 1
  for (let read = 0; read < MOST_READ && fromSeq > 0; read += PAGE) {
    const page = yield* storage.records({ kinds: ["decision.witnessed"], to: fromSeq - 1, order: "desc", limit: PAGE })
    for (const { agentId } of page)
      if (agentId !== null && !units.has(agentId)) {
        const agent = yield* storage.get(AGENTS, agentId)
        units.set(agentId, agent === null ? null : (storedAgent(agent).body.orgUnitDigest ?? null))
      }
    yield* inTurns(page, ({ agentId, bytes, seq }) => {
      const unit = units.get(agentId ?? "") ?? null
      const found = agentId === null || !covers(unit) ? null : readRecord(bytes)
      if (found === null || !found.ok) return
      const { action, kind, tool_server: server } = found.record.body
      if (kind !== "tool_call") return
      const [tool, toolServer] = [String(action), typeof server === "string" ? server : null]
      const key = JSON.stringify([unit, toolServer, tool])
      let calls = byTool.get(key)
      if (calls === undefined) {
        if (byTool.size >= MAX_TOOLS) return
        byTool.set(key, (calls = { orgUnitDigest: unit, toolServer, tool, agents: new Set(), calls: [] }))
      }
      if (calls.agents.size < MAX_AGENTS) calls.agents.add(agentId!)
      calls.calls.push({ seq, agentId: agentId! })
    })
    fromSeq = page.length < PAGE ? 0 : page.at(-1)!.seq
  }
  return { fromSeq, byTool: [...byTool.values()] }
})
