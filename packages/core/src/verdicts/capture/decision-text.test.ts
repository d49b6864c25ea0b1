import { DecisionIn, membersIn } from "@flyball/contract"
import { canonicalize, encodeRecord, fromUtf8, inOneGo, portableCrypto } from "@flyball/evidence"
import { Result } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"
import { decisionContent } from "./decision-content.ts"
import { decisionText, frameText } from "./decision-text.ts"
import { TextBytes } from "../content/text-bytes.ts"

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("", "run-1/step-2", "a b", '"', "\\", "\u2028", "é")
)
const counts = fc.oneof(fc.nat(), fc.constantFrom(-0, Number.MAX_SAFE_INTEGER))
const maybe = <A>(values: fc.Arbitrary<A>) => fc.option(values, { nil: null })
const members = {
  client_ref: texts,
  action: texts,
  kind: fc.constantFrom("tool_call", "other"),
  status: fc.constantFrom("ok", "unknown"),
  tool_server: maybe(texts),
  run_id: maybe(texts),
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
}
const decisions = fc.record(members, {
  requiredKeys: ["client_ref", "action", "kind", "status"]
}) as unknown as fc.Arbitrary<DecisionIn>
const frame = { agentId: "agt_1", agentStatus: "active", writer: "key_1", text: frameText("agt_1", "active", "key_1") }

/** What a caller says, without what is null or absent. */
const withoutNull = (value: object): { readonly [name: string]: unknown } =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, member]: [string, unknown]) =>
      member === null || member === undefined ? [] : [[name, typeof member === "object" ? withoutNull(member) : member]]
    )
  )

describe("the text of a decision", () => {
  it("is made here of every member of the body that a caller says", () => {
    assert.sameMembers(Object.keys(members), [...membersIn(DecisionIn, "body")])
  })

  it("is the RFC 8785 form of the record's body without its frame, and that body is in order", () => {
    fc.assert(
      fc.property(decisions, (decision) => {
        const { body, bodyText } = Result.getOrThrow(
          inOneGo(decisionContent(portableCrypto, decision, frame, new TextBytes()))
        )
        const { agent_id, agent_status, writer, ...said } = body
        assert.deepStrictEqual(said, withoutNull(decision))
        assert.deepStrictEqual({ agentId: agent_id, agentStatus: agent_status, writer, text: frame.text }, frame)
        assert.strictEqual(
          decisionText(decision, (said["usage"] ?? null) as { readonly [name: string]: number } | null, frame.text)
            .said,
          canonicalize(said)
        )
        assert.strictEqual(bodyText, canonicalize(body))
        assert.deepStrictEqual(Object.keys(body), Object.keys(body).toSorted())
        const record = fromUtf8(
          encodeRecord({
            at: "2026-01-01T00:00:00.000Z",
            body,
            kind: "decision.witnessed",
            parts: [],
            prev: "a".repeat(64),
            seq: 1
          })
        )!
        assert.include(record, `"body":${canonicalize(body)},"kind"`)
      }),
      { numRuns: 1_000 }
    )
  })
})
