/** The change that one act on an agent makes: its new document, and the record of it. */
import { InvalidTransition } from "@flyball/contract"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { EventDraft } from "../../storage/outbox/outbox.ts"
import type { ChangeSet, JsonObject, JsonValue, PartDraft } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, type StoredAgent } from "./document.ts"
import type { AgentDocument } from "@flyball/rules"
import { type AgentAct, agentKeys, type AgentStatus, agentUnique, statusAfter } from "@flyball/rules"

/** An act that was decided: the agent after it, and the change. */
export interface AgentPlan {
  readonly agent: AgentDocument
  readonly change: ChangeSet
}

/** The record of an act, without what every agent's record has. */
export interface AgentRecord {
  readonly kind: string
  readonly body?: { readonly [name: string]: JsonValue | undefined }
  readonly parts?: ReadonlyArray<PartDraft>
  readonly writer: Writer
}

/** The plan that replaces an agent by `next`, with its record and its event. */
export const changeAgent = (
  stored: StoredAgent,
  next: AgentDocument,
  record: AgentRecord,
  events: ReadonlyArray<EventDraft> = []
): AgentPlan => ({
  agent: next,
  change: {
    puts: [
      {
        collection: AGENTS,
        id: stored.id,
        expectedVersion: stored.version,
        body: next,
        unique: agentUnique(next),
        keys: agentKeys(next)
      }
    ],
    records: [
      {
        kind: record.kind,
        agentId: stored.id,
        body: omitNullish({ ...record.body, agent_id: stored.id, writer: record.writer.id }) as JsonObject,
        parts: record.parts ?? []
      }
    ],
    events
  }
})

/** The status after an act, or the refusal that names act and status. */
export const allowed = (stored: StoredAgent, act: AgentAct): Result.Result<AgentStatus, InvalidTransition> => {
  const status = statusAfter(act, stored.body.status)
  return status === null
    ? Result.fail(new InvalidTransition({ status: stored.body.status, act }))
    : Result.succeed(status)
}

/** A document without these members, which mean something only when they are there. */
export const without = <K extends "suspendedReason" | "suspensionReason" | "orphanedAtMs" | "ownerComplete">(
  agent: AgentDocument,
  ...names: ReadonlyArray<K>
): AgentDocument => {
  const rest: { [name: string]: unknown } = { ...agent }
  for (const name of names) delete rest[name]
  return rest as AgentDocument
}
