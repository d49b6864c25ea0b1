/** The RFC 8785 text of what a caller says of a decision outside its parts: what its digest is made over. */
import type { DecisionIn } from "@flyball/contract"
import type { JsonObject } from "../../storage/port.ts"

/** The members of a record's body that say who wrote it and about whom, as text with their commas. */
export interface FrameText {
  readonly agent: string
  readonly writer: string
}

/** The frame's members where they stand in the order of names: after `action`, and before `writer_seq`. */
export const frameText = (agentId: string, agentStatus: string, writer: string): FrameText => ({
  agent: `${member("agent_id", agentId)}${member("agent_status", agentStatus)}`,
  writer: member("writer", writer)
})

/**
 * `said`: the members that are not null, in the order of their names. `body`: the same with the frame's among them,
 * which is the record's body.
 *
 * Written member by member: that takes a third of the time of an object made for `JSON.stringify`. A test holds both
 * against the generic form.
 */
export const decisionText = (
  decision: DecisionIn,
  usage: JsonObject | null,
  frame: FrameText
): { readonly said: string; readonly body: string } => {
  const action = `{"action":${quote(decision.action)}`
  const middle = `${member("approval_id", decision.approval_id)}${member("client_ref", decision.client_ref)}${member("decided_by", decision.decided_by)}${member(
    "evaluation_id",
    decision.evaluation_id
  )}${member("kind", decision.kind)}${member("latency_ms", decision.latency_ms)}${member("mode", decision.mode)}${member(
    "model",
    decision.model
  )}${member("observed_at", decision.observed_at)}${member("run_id", decision.run_id)}${member("status", decision.status)}${member(
    "step",
    decision.step
  )}${member("tool_server", decision.tool_server)}${usage === null ? "" : `,"usage":${JSON.stringify(usage)}`}`
  const last = `${member("writer_seq", decision.writer_seq)}}`
  const said = action + middle + last
  // Cut out of it, which puts its many pieces together now: later, when a thousand decisions have gone by, they are in
  // no near cache any more.
  return {
    said,
    body:
      said.slice(0, action.length) +
      frame.agent +
      said.slice(action.length, said.length - last.length) +
      frame.writer +
      last
  }
}

const member = (name: string, value: string | number | null | undefined): string =>
  value === null || value === undefined
    ? ""
    : `,"${name}":${typeof value === "string" ? quote(value) : JSON.stringify(value)}`

/** Nothing in it needs an escape. */
const plain = /^[A-Za-z0-9 ._:/@+-]*$/
const quote = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text))
