/**
 * Agents in the embedding API, derived from the contract. Names are the interface's, so that what is documented for
 * HTTP holds here.
 */
import type {
  Agent,
  AgentCreateOfUnit,
  AgentListQuery,
  AgentUpdate,
  AutonomyTier,
  DisownIn,
  IdentityIn,
  IdentityVerdict,
  Orphan,
  OwnershipTransfer,
  RecertifyIn,
  SuspendIn,
  TimelineEntry,
  TimelineQuery
} from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "@flyball/contract"

/** Autonomy tiers, least autonomy first. */
export type Tier = AutonomyTier

/**
 * An agent to be registered. Absent and null mean the same. Spec: document 1 section 4, POST /agents; its members are a
 * gap: decision 0013.
 */
export interface AgentInput extends Input<typeof AgentCreateOfUnit> {}

/** Change of an agent. A member left out keeps its value; null clears a member that may be empty. */
export interface AgentChange extends Input<typeof AgentUpdate> {}

/** The new owner of an agent. */
export interface OwnerInput extends Input<typeof OwnershipTransfer> {}

/**
 * An agent's identity: a signed card, or both members of a declaration. Spec: document 1 section 2, "Identity input";
 * decision 0015.
 */
export interface IdentityInput extends Input<typeof IdentityIn> {}

/**
 * The result. `identity_*` is the identity of this attempt, false and null for a rejected card; `standing` is the
 * agent's identity afterwards. Spec: document 1 section 2, "Identity input"; decision 0015.
 */
export interface IdentityInfo extends Info<typeof IdentityVerdict> {}

/** A registered agent. Texts are null once their part was erased. Spec: document 1 section 2, "Agent". */
export interface AgentInfo extends Info<typeof Agent> {}

/**
 * An agent without an owner. It is suspended at `suspend_at`. Spec: document 1 section 1, policy rule, and section 4,
 * GET /agents/orphans.
 */
export interface OrphanInfo extends Info<typeof Orphan> {}

/** Which agents to list, oldest first. */
export interface AgentFilter extends Filter<typeof AgentListQuery> {}

/** Which entries of a timeline to list, newest first. */
export interface TimelineFilter extends Filter<typeof TimelineQuery> {}

/** One record about an agent. `summary` is a sentence for people: match on `kind` instead. */
export interface TimelineEntryInfo extends Info<typeof TimelineEntry> {}

/**
 * The registry of agents. Each act is one record, and returns the agent after it. An act that the agent's status does
 * not allow fails with `invalid_transition`. Spec: document 1 sections 3 and 4, `/agents`; decision 0013.
 */
export interface AgentsClient {
  /** Finds the agent of this name, or registers it. */
  register(input: AgentInput, options?: ActOptions): Promise<{ readonly agent: AgentInfo; readonly created: boolean }>
  /** The agent of exactly this name; null when there is none. */
  find(name: string, options?: CallOptions): Promise<AgentInfo | null>
  get(id: string, options?: CallOptions): Promise<AgentInfo>
  list(filter?: AgentFilter, options?: CallOptions): Promise<ReadonlyArray<AgentInfo>>
  /** Agents without an owner. */
  orphans(options?: CallOptions): Promise<ReadonlyArray<OrphanInfo>>
  /** Timeline of an agent, newest first: one entry for each of its records. It holds nothing of a part. */
  timeline(id: string, filter?: TimelineFilter, options?: CallOptions): Promise<ReadonlyArray<TimelineEntryInfo>>
  update(id: string, change: AgentChange, options?: ActOptions): Promise<AgentInfo>
  /** Lets an agent act, if it has what its tier needs; else `tier_gate_unmet`. */
  activate(id: string, options?: ActOptions): Promise<AgentInfo>
  /** Stops an agent until it is activated again. */
  suspend(id: string, why?: Input<typeof SuspendIn>, options?: ActOptions): Promise<AgentInfo>
  /** Ends an agent for good. */
  decommission(id: string, options?: ActOptions): Promise<AgentInfo>
  /** Records that the agent was reviewed, and the next date; RFC 3339, any offset. */
  recertify(id: string, next: Input<typeof RecertifyIn>, options?: ActOptions): Promise<AgentInfo>
  transferOwnership(id: string, owner: OwnerInput, options?: ActOptions): Promise<AgentInfo>
  /**
   * Verifies a signed card by the keys of the trust store, or takes down a declared identity. A rejected card is an
   * answer, not an error; either way it is recorded.
   */
  attachIdentity(id: string, identity: IdentityInput, options?: ActOptions): Promise<IdentityInfo>
  /** Takes the owner away; the agent has a week to get another. */
  disown(id: string, why: Input<typeof DisownIn>, options?: ActOptions): Promise<AgentInfo>
}
