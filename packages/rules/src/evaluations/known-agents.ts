/**
 * State of agents, folded from the records up to a seq. A fold, as replay's is, that also knows what it cannot know.
 */
import { type AgentDocument, erasedProfile } from "../agents/document.ts"
import { agentFolds, foldAgentRegistered } from "../agents/fold.ts"
import type { ExpectedDocument, PartContent, ReplayRecord } from "../records/record.ts"
import { serverSignals } from "./server-signals.ts"
import { madeAtMs } from "./standing.ts"

/** An agent as the records tell it. */
export interface KnownAgent {
  readonly document: ExpectedDocument
  /** Seq of the record that set its profile last. */
  readonly profileSeq: number
  /** Values derived from the document, cached after their first use. */
  reported: ReportedAgent | null
}

/** Facts about an agent that evaluations read, valid until its next record. */
export interface ReportedAgent {
  readonly document: AgentDocument
  readonly madeMs: number
  readonly server: ReturnType<typeof serverSignals>
}

/** The agents. */
export class KnownAgents {
  readonly byId = new Map<string, KnownAgent>()

  /** Adds one record of an agent, in order. */
  fold(record: ReplayRecord): void {
    const id = String(record.body["agent_id"])
    // What is erased now was there when the records after it were written: until the record of the erasure it is
    // unknown, not empty.
    const reported: ReplayRecord = {
      ...record,
      parts: new Map(
        [...record.parts].map(([name, part]): readonly [string, PartContent] => [
          name,
          part.state === "erased" ? { state: "withheld" } : part
        ])
      )
    }
    const known = this.byId.get(id)
    const profileSeq = record.parts.has("profile") ? record.seq : (known?.profileSeq ?? -1)
    if (record.kind === "agent.registered")
      this.byId.set(id, { document: foldAgentRegistered(reported), profileSeq, reported: null })
    const next = agentFolds.get(record.kind)
    if (known !== undefined && next !== undefined)
      this.byId.set(id, { document: next(known.document, reported), profileSeq, reported: null })
  }

  /** Takes away the profile that a record set. */
  erase(seq: number): void {
    for (const [id, { document, profileSeq }] of this.byId) {
      if (profileSeq !== seq) continue
      const profile = erasedProfile(id)
      this.byId.set(id, {
        profileSeq,
        reported: null,
        document: {
          ...document,
          body: { ...document.body, ...profile },
          unknown: document.unknown.filter((member) => !(member in profile))
        }
      })
    }
  }
}

/**
 * Facts about an agent that evaluations read. Where only the presence of an owner is known, that counts: who it is
 * decides nothing.
 */
export const reportedOf = (id: string, agent: KnownAgent): ReportedAgent => {
  if (agent.reported !== null) return agent.reported
  const { body, unknown } = agent.document
  const document = { ...body, ...(unknown.includes("ownerName") ? { ownerName: "" } : {}) } as unknown as AgentDocument
  agent.reported = { document, madeMs: madeAtMs(id), server: serverSignals(document) }
  return agent.reported
}
