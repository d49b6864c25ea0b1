/** What a host without Effect does with agents. */
import type { AgentChange, AgentFilter, AgentInfo, AgentInput, CallOptions, IdentityInfo, IdentityInput, OrphanInfo, OwnerInput } from "./types.ts"

/** The registry. Every act on an agent is one record, and answers the agent after it; one that its status does not take is refused with `invalid_transition`. */
export interface AgentsDoor {
  /** Finds the agent of this name, or registers it. */
  register(input: AgentInput, options?: CallOptions): Promise<{ readonly agent: AgentInfo; readonly created: boolean }>
  /** The agent of exactly this name; null when there is none. */
  find(name: string, options?: CallOptions): Promise<AgentInfo | null>
  get(id: string, options?: CallOptions): Promise<AgentInfo>
  list(filter?: AgentFilter, options?: CallOptions): Promise<ReadonlyArray<AgentInfo>>
  /** Agents that nobody answers for. */
  orphans(options?: CallOptions): Promise<ReadonlyArray<OrphanInfo>>
  update(id: string, change: AgentChange, options?: CallOptions): Promise<AgentInfo>
  /** Lets an agent act, if it has what its tier needs; else `tier_gate_unmet`. */
  activate(id: string, options?: CallOptions): Promise<AgentInfo>
  /** Stops an agent until it is activated again. */
  suspend(id: string, why?: { readonly reason?: string | null }, options?: CallOptions): Promise<AgentInfo>
  /** Ends an agent for good. */
  decommission(id: string, options?: CallOptions): Promise<AgentInfo>
  /** Says that the agent was looked at, and when it is next; RFC 3339, any offset. */
  recertify(id: string, next: { readonly recert_due_at: string }, options?: CallOptions): Promise<AgentInfo>
  transferOwnership(id: string, owner: OwnerInput, options?: CallOptions): Promise<AgentInfo>
  /** Verifies a signed card by the keys of the trust store, or takes down a declared identity. A rejected card is an answer, not an error; either way it is recorded. */
  attachIdentity(id: string, identity: IdentityInput, options?: CallOptions): Promise<IdentityInfo>
  /** Takes the owner away; the agent has a week to get another. */
  disown(id: string, why: { readonly reason: string }, options?: CallOptions): Promise<AgentInfo>
}
