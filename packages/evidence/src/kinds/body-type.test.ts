import { expect, it } from "vitest"
import type { BodyOf } from "./body-type.ts"
import { checkBody } from "./check-body.ts"
import type { DecisionBody } from "./decisions.ts"
import type { EvaluationBody } from "./envelopes.ts"
import { agentId, choice, count, may, must } from "./row.ts"

const members = [
  agentId,
  may("list", { type: "list", of: { type: "object", members: [must("n", count)] }, min: 0, max: 3 }),
  may("sure", { type: "boolean" }),
  must("word", choice("a", "b"))
] as const
type Body = BodyOf<typeof members>

it("the type of a body has the members of its row, of their types: this file compiles", () => {
  const least: Body = { agent_id: "agt", word: "a" }
  const most: Body = { ...least, list: [{ n: 1 }], sure: true }
  // @ts-expect-error a required member is missing
  const missing: Body = { agent_id: "agt" }
  // @ts-expect-error a word that the row does not have
  const word: Body = { ...least, word: "c" }
  // @ts-expect-error a member that the row does not name
  const extra: Body = { ...least, note: "n" }
  // @ts-expect-error an item of another type
  const item: Body = { ...least, list: [{ n: "1" }] }
  // @ts-expect-error an optional member is left out, never null
  const empty: Body = { ...least, sure: null }
  expect([least, most, missing, word, extra, item, empty]).toHaveLength(7)
})

const hash = "0".repeat(64)
const idOf = (prefix: string): string => prefix + "0".repeat(26)

it("bodies of these types are bodies of their kinds", () => {
  const side = {
    layers: [{ digest: hash, envelope_id: idOf("env_"), version: 1 }],
    matched_rule: "rule",
    meters: [{ after: 2, amount: 1, id: "spend", value: 1, window: idOf("mtr_") }],
    outcome: "allow",
    trace: [-1]
  } as const
  const evaluation: EvaluationBody = {
    ...side,
    agent_id: idOf("agt_"),
    agent_status: "active",
    as_of_ms: 1,
    as_of_seq: 1,
    client_ref: "c",
    decided_by: "server",
    effective_tier: "L1",
    evaluation_id: idOf("evl_"),
    mode: "enforced",
    rules: 6,
    shadow: side,
    tier: "L1",
    writer: idOf("key_")
  }
  const decision: DecisionBody = {
    action: "read",
    agent_id: evaluation.agent_id,
    agent_status: "active",
    client_ref: "c",
    kind: "tool_call",
    local_verdict: {
      age_ms: 1,
      as_of_ms: 1,
      as_of_seq: 1,
      effective_tier: "L1",
      layers: side.layers,
      matched_rule: "rule",
      origin: "example.org/log",
      outcome: "allow"
    },
    status: "ok",
    writer: evaluation.writer
  }
  expect([checkBody("evaluation.made", evaluation), checkBody("decision.witnessed", decision)]).toEqual([null, null])
})
