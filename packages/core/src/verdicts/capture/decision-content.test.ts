import type { DecisionIn } from "@flyball/contract"
import { canonicalize, inOneGo, portableCrypto } from "@flyball/evidence"
import { Result } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { contentDigest } from "../content/content-digest.ts"
import { TextBytes } from "../content/part-bytes.ts"
import { decisionContent } from "./decision-content.ts"

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", "run-1/step-2", "a b", '"', "\\", "\u2028", "é")
)
const counts = fc.oneof(fc.nat(), fc.constantFrom(-0, Number.MAX_SAFE_INTEGER))
const maybe = <A>(values: fc.Arbitrary<A>) => fc.option(values, { nil: null })
const decisions = fc.record(
  {
    client_ref: texts,
    action: texts,
    kind: fc.constantFrom("tool_call", "other"),
    status: fc.constantFrom("ok", "unknown"),
    tool_server: maybe(texts),
    run_id: maybe(texts),
    instance_id: maybe(texts),
    step: maybe(counts),
    observed_at: maybe(texts),
    evaluation_id: maybe(texts),
    approval_id: maybe(texts),
    model: maybe(texts),
    latency_ms: maybe(counts),
    mode: maybe(fc.constant("enforced")),
    decided_by: maybe(fc.constant("server")),
    writer_seq: maybe(counts),
    usage: maybe(
      fc.record(
        { input_tokens: maybe(counts), output_tokens: maybe(counts), cost_micro_usd: maybe(counts) },
        { requiredKeys: [] }
      )
    )
  },
  { requiredKeys: ["client_ref", "action", "kind", "status"] }
) as fc.Arbitrary<DecisionIn>
const frame = { agentId: "agt_1", agentStatus: "active", writer: "key_1" }

describe("the digest of a decision", () => {
  it("covers the RFC 8785 form of the record's body without its frame", () => {
    fc.assert(
      fc.property(decisions, (decision) => {
        const { body, once, parts } = Result.getOrThrow(
          inOneGo(decisionContent(portableCrypto, decision, frame, new TextBytes()))
        )
        const { agent_id, agent_status, writer, ...said } = body
        assert.deepStrictEqual({ agentId: agent_id, agentStatus: agent_status, writer }, frame)
        assert.strictEqual(once.digest, contentDigest(portableCrypto, canonicalize(said), parts))
      }),
      { numRuns: 1_000, seed: 20_261_126 }
    )
  })
})
