/** Plans the update of an agent. Pure. */
import { AgentVersionConflict, type AgentUpdate, type InvalidTransition, type TierGateUnmet } from "@flyball/contract"
import { equalBytes, formatInstant, parseInstant } from "@flyball/evidence"
import { Result } from "effect"
import type { JsonValue, PartDraft } from "../../storage/port.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type AgentPlan, allowed, changeAgent } from "./change-agent.ts"
import type { StoredAgent } from "./document.ts"
import { profilePart } from "./parts.ts"
import { gate } from "./plan-activate.ts"
import {
  type AgentDocument,
  type AgentProfile,
  erasedProfile,
  profileMembers,
  readMembers,
  sealedBody,
  type TierCondition,
  wireName,
  withSealedMembers
} from "@flyball/rules"

/**
 * Decides what updating an agent would change; null where that is nothing, which needs no record. A member left out
 * stays; null empties what may be empty.
 *
 * - Fails: `InvalidTransition` at the agent's end; `AgentVersionConflict` when `if_version` is not the version that is
 *   there; `TierGateUnmet` when the
 *   tier of an active agent is raised beyond what it may.
 * - Spec: document 1 section 4, PATCH /agents/{agent_id}; api "agents and registry". What an update without a change
 *   does is a gap: decision 0013.
 */
export const planUpdate = (
  stored: StoredAgent,
  input: AgentUpdate,
  writer: Writer,
  missing: ReadonlyArray<TierCondition>,
  originTag: Uint8Array
): Result.Result<AgentPlan | null, InvalidTransition | AgentVersionConflict | TierGateUnmet> =>
  Result.gen(function* () {
    yield* allowed(stored, "update")
    if (input.if_version !== undefined && input.if_version !== null && input.if_version !== stored.version)
      return yield* Result.fail(new AgentVersionConflict({ version: stored.version }))
    const updated = updatedAgent(stored.body, input)
    const modelIds = input.model_ids === undefined ? undefined : updated.modelIds
    const agent = withSealedMembers(updated, originTag, modelIds)
    const profileChanged = !sameBytes(profilePart(agent), profilePart(stored.body))
    const { sealedModelIds = stored.body.modelIds } = stored.body
    // The two differ where the profile was erased.
    const modelsChanged = modelIds !== undefined && !sameTexts(modelIds, sealedModelIds)
    if (!profileChanged && !modelsChanged && bodyMembers.every((name) => agent[name] === stored.body[name])) return null
    if (stored.body.status === "active" && agent.autonomyTier > stored.body.autonomyTier)
      yield* gate(agent.autonomyTier, missing)
    return changeAgent(stored, agent, {
      kind: "agent.updated",
      body: updatedBody(agent),
      parts: profileChanged ? [profilePart(agent)] : [],
      writer
    })
  })

/** The body of `agent.updated`, but for what every agent's record has. */
export const updatedBody = (agent: AgentDocument): { readonly [member: string]: JsonValue | undefined } => ({
  ...sealedBody(agent),
  autonomy_tier: agent.autonomyTier,
  recert_due_at: agent.recertDueAtMs === null ? undefined : formatInstant(agent.recertDueAtMs),
  risk_class: agent.riskClass
})

/** Members of the record body that an update can change. */
const bodyMembers = ["autonomyTier", "recertDueAtMs", "riskClass"] as const

const sameBytes = (one: PartDraft, other: PartDraft): boolean => equalBytes(one.bytes, other.bytes)

const sameTexts = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.length === other.length && one.every((text, index) => text === other[index])

/** The agent after an update. */
export const updatedAgent = (agent: AgentDocument, input: AgentUpdate): AgentDocument => ({
  ...agent,
  ...givenProfile(input),
  ...given("autonomyTier", input.autonomy_tier ?? undefined),
  ...given("riskClass", input.risk_class === null ? "unclassified" : input.risk_class),
  ...given(
    "recertDueAtMs",
    input.recert_due_at === undefined || input.recert_due_at === null
      ? input.recert_due_at
      : parseInstant(input.recert_due_at)
  )
})

/** The members of the profile that an update names. Null has the value of an erased part: it empties. */
const givenProfile = (input: AgentUpdate): Partial<AgentProfile> => {
  const wire: { readonly [name: string]: unknown } = input
  const read: { readonly [member: string]: unknown } = readMembers(wire, emptyProfile)
  return Object.fromEntries(
    describing.filter((member) => wire[wireName(member)] !== undefined).map((member) => [member, read[member]])
  )
}

const emptyProfile = erasedProfile("")
/** Name and org unit stay as they were registered. */
const describing = profileMembers.filter((member) => member !== "name" && member !== "orgUnit")

const given = <K extends string, V>(name: K, value: V | undefined): { readonly [N in K]?: V } =>
  (value === undefined ? {} : { [name]: value }) as { readonly [N in K]?: V }
