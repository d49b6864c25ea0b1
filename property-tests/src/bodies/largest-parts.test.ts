/** The largest that the service writes is what the catalogue allows, and no reader calls it wrong. */
import { canonicalBytes, checkParts, type JsonObject, portableCrypto, toHex } from "@flyball/evidence"
import { describe, expect, it } from "vitest"
import { digestProblem } from "../../../apps/verify/src/replay/reported-digests.ts"
import { VoidIn, WebhookCreate, WithdrawIn } from "../../../packages/contract/src/index.ts"
import { decode } from "../../../packages/contract/src/foundation/decode.ts"
import { answer } from "../../../packages/core/src/verdicts/envelopes/examination/answer.ts"
import { diffOut } from "../../../packages/core/src/verdicts/envelopes/examination/examine.ts"
import { inPlaceLimits } from "../../../packages/core/src/verdicts/envelopes/examination/questions.ts"
import type { JsonMap } from "../../../packages/rules/src/records/record.ts"
import { Result, type Schema } from "effect"

const history = { declared: [], events: [], fromGenesis: true, fromSeq: 0, toSeq: 0 }
const nobody = {
  outer: [],
  inner: [],
  safety: { withoutBreaker: 0, withoutDrill: 0 },
  blastRadii: [],
  grantable: "any",
  toolsSeen: []
} as const
const envelopeOf = (signals: object, rules: ReadonlyArray<object>, effects: object): JsonMap =>
  ({ semantics: "envelope/1", signals, effects, rules, default: { outcome: "deny" } }) as unknown as JsonMap
const problemOf = (kind: string, name: string, value: unknown): string | null =>
  checkParts(kind, [{ name, bytes: canonicalBytes(value).length }])

/** Rules of which each of one half outdoes each of the other half, and says so. */
const overlapping = (count: number): JsonMap => {
  const numbers = Array.from({ length: count }, (_, n) => n)
  const tools = numbers.map((n) => `provider.section.tool_number_${n}`)
  const countries = numbers.map((n) => `provider.section.country_number_${n}`)
  return envelopeOf(
    {
      tool: { type: "enum", values: tools, source: "caller" },
      country: { type: "enum", values: countries, source: "caller" }
    },
    numbers.flatMap((n) => [
      { id: `allow_refunds_of_customers_up_to_${n}`, outcome: "allow", when: [{ signal: "tool", eq: tools[n] }] },
      { id: `deny_refunds_into_this_country_${n}`, outcome: "deny", when: [{ signal: "country", eq: countries[n] }] }
    ]),
    Object.fromEntries(tools.map((tool) => [tool, "money"]))
  )
}

const tools = ["read", "pay", "refund", "mail"]
const effects = { read: "read", pay: "money", refund: "money", mail: "read" }
const amounts = (max: number, more = 0) => ({
  tool: { type: "enum", values: tools, source: "caller" },
  amount: { type: "int", min: 0, max, source: "caller" },
  ...Object.fromEntries(
    Array.from({ length: more }, (_, n) => [
      `customer_property_number_${n}`,
      { type: "int", min: 0, max: 1_000_000, source: "caller" }
    ])
  )
})
/**
 * An org unit's envelope that says "above 0" in one way or another: the same in its own words, and not in those of an
 * agent whose amounts go farther.
 */
const ofUnit = (above: object): JsonMap =>
  envelopeOf(
    amounts(1_000),
    ["allow", "halt", "require_review", "allow_with_notice"].map((outcome, n) => ({
      id: `w${n}`,
      outcome,
      when: [
        { signal: "tool", eq: tools[n] },
        ...(outcome === "halt" || outcome === "require_review" ? [{ signal: "amount", ...above }] : [])
      ]
    })),
    effects
  )
const ofAgent = (n: number): JsonMap =>
  envelopeOf(
    amounts(100_000 + n, 61),
    tools.map((tool) => ({ id: `own_${tool}`, outcome: "allow", when: [{ signal: "tool", eq: tool }] })),
    effects
  )

describe("the longest analysis of a version", () => {
  it("is accepted for a finding per rule that names all the rules it overrides", () => {
    const lint = answer(
      { kind: "lint", about: { json: overlapping(150), surroundings: nobody, history, acknowledged: [] } },
      inPlaceLimits
    )
    expect([canonicalBytes(lint).length > 1_048_576, problemOf("envelope.published", "lint", lint)]).toEqual([
      true,
      null
    ])
  })

  it("is accepted, and its diff read, for a sentence per envelope of many agents", () => {
    const layer = (envelope: JsonMap, n: number) => ({ envelopeId: `env_${String(n).padStart(26, "0")}`, envelope })
    const [was, now] = [ofUnit({ gt: 0 }), ofUnit({ between: [1, 1_000] })]
    const surroundings = { ...nobody, inner: Array.from({ length: 256 }, (_, n) => layer(ofAgent(n), n)) }
    const answered = answer(
      { kind: "diff", about: { json: now, surroundings, history, before: { layers: [layer(was, 999)], own: was } } },
      inPlaceLimits
    )
    if (!("report" in answered)) throw new Error(JSON.stringify(answered.unfit))
    const bytes = canonicalBytes(diffOut(1, 2, answered.report))
    expect([
      bytes.length > 1_048_576,
      checkParts("envelope.published", [{ name: "diff", bytes: bytes.length }])
    ]).toEqual([true, null])
    const body: JsonObject = { change: answered.report.change, diff_digest: toHex(portableCrypto.sha256(bytes)) }
    expect(
      digestProblem(
        { seq: 9, kind: "envelope.published", body, parts: new Map([["diff", { state: "present", bytes }]]) },
        portableCrypto.sha256
      )
    ).toBeNull()
  })
})

describe("the longest text that a person can write", () => {
  /** A text of which each character but the last takes six bytes in a part. */
  const longest = `${"\u0001".repeat(1_999)}x`
  const taken = (schema: Schema.Top & { readonly DecodingServices: never }, input: unknown): unknown =>
    Result.getOrThrow(decode(schema)(input, "body"))

  it("fits into its part", () => {
    expect(taken(WithdrawIn, { reason: longest })).toEqual({ reason: longest })
    expect(taken(VoidIn, { reason: longest })).toEqual({ reason: longest })
    for (const kind of ["envelope.withdrawn", "meter.voided", "chain.genesis"])
      expect(problemOf(kind, "reason", longest)).toBeNull()
    const endpoint = { description: longest, url: `https://a.example/${"\u{1f980}".repeat(2_030)}` }
    expect(taken(WebhookCreate, { ...endpoint, events: ["agent.suspended"] })).toMatchObject(endpoint)
    expect(
      problemOf("webhook.created", "endpoint", {
        ...endpoint,
        notify_email: `${"a".repeat(64)}@${"b".repeat(180)}.example`
      })
    ).toBeNull()
  })
})
