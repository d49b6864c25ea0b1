/** The RFC 8785 text of what a caller says of a decision outside its parts: what its digest is made over. */
import type { DecisionIn } from "@flyball/contract"
import type { JsonObject } from "../storage/port.ts"

/**
 * The members that are not null, in the order of their names.
 *
 * Written member by member: that takes a third of the time of an object made for `JSON.stringify`. A test holds it against the generic form.
 */
export const decisionText = (decision: DecisionIn, usage: JsonObject | null): string =>
  `{"action":${quote(decision.action)}${member("approval_id", decision.approval_id)}${member("client_ref", decision.client_ref)}${member("decided_by", decision.decided_by)}${
    member("evaluation_id", decision.evaluation_id)}${member("kind", decision.kind)}${member("latency_ms", decision.latency_ms)}${member("mode", decision.mode)}${
    member("model", decision.model)}${member("observed_at", decision.observed_at)}${member("run_id", decision.run_id)}${member("status", decision.status)}${
    member("step", decision.step)}${member("tool_server", decision.tool_server)}${usage === null ? "" : `,"usage":${JSON.stringify(usage)}`}${member("writer_seq", decision.writer_seq)}}`

const member = (name: string, value: string | number | null | undefined): string =>
  value === null || value === undefined ? "" : `,"${name}":${typeof value === "string" ? quote(value) : JSON.stringify(value)}`

/** Nothing in it needs an escape. */
const plain = /^[A-Za-z0-9 ._:/@+-]*$/
const quote = (text: string): string => plain.test(text) ? `"${text}"` : JSON.stringify(text)
