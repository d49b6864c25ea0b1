import { assert, describe, it } from "vitest"
import type { Answer } from "../http/caller.ts"
import { verdictOf } from "./verdict.ts"

const evaluation = (more: object = {}) => ({
  id: "evl_1",
  agent_id: "agt_1",
  client_ref: "q1",
  outcome: "allow",
  matched_rule: "small",
  valid_ms: 15_000,
  obligations: [],
  ...more
})
const answered = (status: number, body: unknown): Answer => ({
  kind: "answer",
  status,
  body,
  excerpt: "",
  headers: new Headers(),
  sentAtMs: 0
})
const ruleOf = (answer: Answer): string => {
  const verdict = verdictOf(answer, { agent_id: "agt_1", client_ref: "q1" })
  return verdict.by === "server" ? `server ${verdict.evaluation.outcome}` : `${verdict.rule} ${verdict.retry}`
}

describe("the verdict of an answer", () => {
  it("is none where the evaluation is of another agent or another question", () => {
    for (const other of [{ agent_id: "agt_2" }, { client_ref: "q2" }, { agent_id: undefined }])
      assert.strictEqual(ruleOf(answered(201, evaluation(other))), "@fail_closed:protocol false")
  })

  it("is the server's if the answer is an evaluation", () => {
    for (const outcome of ["allow", "allow_with_notice", "require_review", "deny", "halt"])
      assert.strictEqual(ruleOf(answered(201, evaluation({ outcome }))), `server ${outcome}`)
  })

  it("is a denial that may be sent again where the server is away", () =>
    assert.strictEqual(
      ruleOf({ kind: "unreachable", reason: "timeout", retryAfterMs: null, isSlow: true }),
      "@fail_closed:unreachable true"
    ))

  it("is a final denial where the key is refused", () => {
    for (const status of [401, 403]) assert.strictEqual(ruleOf(answered(status, {})), "@fail_closed:auth false")
  })

  it("is a final denial if this version does not understand the answer", () => {
    for (const answer of [
      answered(422, { detail: [] }),
      answered(404, { code: "agent_not_found" }),
      answered(204, null),
      answered(201, null),
      answered(201, evaluation({ outcome: "maybe" })),
      answered(201, evaluation({ valid_ms: "long" })),
      answered(201, evaluation({ obligations: null })),
      answered(201, evaluation({ obligations: [{ type: "sing" }] })),
      answered(201, evaluation({ obligations: ["notify"] }))
    ])
      assert.strictEqual(ruleOf(answer), "@fail_closed:protocol false", JSON.stringify(answer))
  })
})
