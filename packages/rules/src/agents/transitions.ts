/**
 * The transitions that each status of an agent allows. The one such table.
 *
 * Spec: document 1 section 3 leaves the transitions open; api "agents and registry" has them; decision 0013.
 */
import type { AgentDocument } from "./document.ts"

/** The status of an agent. Spec: document 1 section 3. */
export type AgentStatus = AgentDocument["status"]

/** An act on an agent. */
export type AgentAct =
  | "activate"
  | "suspend"
  | "decommission"
  | "update"
  | "transfer-ownership"
  | "disown"
  | "recertify"
  | "attach-identity"
  | "add-provenance"

/** A row: the statuses in which an act is taken, and the one it leads to; null where the status stays. */
export interface Transition {
  readonly from: ReadonlyArray<AgentStatus>
  readonly to: AgentStatus | null
}

const living: ReadonlyArray<AgentStatus> = ["draft", "active", "suspended"]

/**
 * The table. Decommissioned is the end: nothing leads out of it, and nothing about such an agent changes any more.
 * Spec: document 1 section 3 leaves them open; decision 0013.
 */
export const transitions: { readonly [act in AgentAct]: Transition } = {
  activate: { from: ["draft", "suspended"], to: "active" },
  suspend: { from: ["draft", "active"], to: "suspended" },
  decommission: { from: living, to: "decommissioned" },
  update: { from: living, to: null },
  "transfer-ownership": { from: living, to: null },
  disown: { from: living, to: null },
  recertify: { from: living, to: null },
  "attach-identity": { from: living, to: null },
  "add-provenance": { from: living, to: null }
}

/**
 * The status after an act; null if the status does not allow the act. Spec: document 1 section 3 leaves it open;
 * decision 0013.
 */
export const statusAfter = (act: AgentAct, status: AgentStatus): AgentStatus | null => {
  const { from, to } = transitions[act]
  return from.includes(status) ? (to ?? status) : null
}
