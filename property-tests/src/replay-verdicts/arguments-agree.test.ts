/** Verdicts on arguments: the service, a client that keeps the envelope, and the verifier come to the same. */
import { Capture, Evaluations } from "@flyball/core"
import { canonicalBytes, type JsonObject } from "@flyball/evidence"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { expect, it } from "vitest"
import { readEnvelopesInForce } from "../../../packages/client/src/local/read-envelopes.ts"
import { activeAgent, host, publish } from "./bounded-world.ts"
import { runs } from "../runs.ts"
import { changed, lived, resealed, withBody, withPart } from "./changed-pack.ts"

const envelope = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: ["lookup"], source: "caller" },
    rows: { type: "int", min: 0, max: 100, source: "args", from: "/query/rows", on_missing: 0 },
    table: { type: "enum", values: ["orders", "people"], source: "args", from: "/query/a~1b", optional: true },
    file: { type: "text", form: "path@1", base: "/srv", source: "args", from: "/file", optional: true },
    host: { type: "text", form: "domain@1", source: "args", from: "/columns/*/host", optional: true },
    note: { type: "text", source: "args", from: "/note", optional: true },
    sure: { type: "bool", source: "args", from: "/flags/0", optional: true },
    column: { type: "enum", values: ["id", "name", "secret"], source: "args", from: "/columns/*/name", optional: true }
  },
  effects: { lookup: "read" },
  rules: [
    { id: "lookup", outcome: "allow", when: [{ signal: "rows", lte: 50 }] },
    { id: "secret", outcome: "deny", when: [{ signal: "column", eq: "secret" }] },
    { id: "people", outcome: "deny", when: [{ signal: "table", eq: "people" }, { not: { signal: "sure", is: true } }] },
    {
      id: "outside",
      outcome: "deny",
      when: [{ signal: "file", present: true }, { not: { signal: "file", under: "/srv/a" } }]
    },
    {
      id: "host",
      outcome: "deny",
      when: [{ signal: "host", present: true }, { not: { signal: "host", under: "example.com" } }]
    },
    { id: "note", outcome: "deny", when: [{ signal: "note", prefix: "no" }] }
  ],
  default: { outcome: "deny" },
  on_unavailable: "allow_cached"
}

const unusual = fc.constantFrom(null, "[redacted]", "5", "", 2.5, -1, 1e20, [], {}, { name: "id" }, [0], true)
const often = <A>(values: fc.Arbitrary<A>) =>
  fc.oneof({ weight: 20, arbitrary: values }, { weight: 1, arbitrary: unusual })
const column = often(
  fc.record(
    {
      name: often(fc.constantFrom("id", "name", "secret", "other")),
      host: often(fc.constantFrom("https://example.com/a", "anna@mail.example.com", "example.com.", "evilexample.com"))
    },
    { requiredKeys: [] }
  )
)
const argsOf = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        query: often(
          fc.record(
            { rows: often(fc.nat({ max: 110 })), "a/b": often(fc.constantFrom("orders", "people", "other")) },
            { requiredKeys: [] }
          )
        ),
        file: often(fc.constantFrom("/srv/a/b", "a/./c", "a/../../etc", "/srv/ab", "a%2f..", "/srv/a/../a/d")),
        note: often(fc.constantFrom("yes", "no", "now", "x".repeat(4_097), "\u{1f600}".repeat(4_096))),
        flags: often(fc.array(fc.boolean(), { maxLength: 2 })),
        columns: fc.oneof(
          { weight: 9, arbitrary: often(fc.array(column, { maxLength: 4 })) },
          { weight: 1, arbitrary: fc.constantFrom(256, 257).map((n) => Array<object>(n).fill({ name: "id" })) }
        )
      },
      { requiredKeys: [] }
    )
  },
  { weight: 1, arbitrary: unusual }
)
/** One of each rule. */
const each = [
  {},
  { query: { "a/b": "people" } },
  { columns: [{ name: "id" }, { name: "secret" }] },
  { file: "/srv/a/../b" },
  { columns: [{ host: "example.com" }, { host: "evilexample.com" }] },
  { note: "now" },
  { query: { rows: 51 } },
  { flags: ["true"] }
]
const RUNS = runs(60, 2_000)

it("service, client and verifier agree on all arguments, and replay finds others", { timeout: 600_000 }, async () => {
  const { answer, open } = await lived(
    Effect.gen(function* () {
      const agentId = yield* activeAgent("lookup bot")
      yield* publish({ agent_id: agentId }, envelope)
      const { answer } = yield* Evaluations.use((evaluations) => evaluations.inForce(agentId))
      const local = readEnvelopesInForce(JSON.parse(JSON.stringify(answer)), agentId)!
      const signals = { tool: "lookup" }
      const rules = new Set<string>()
      for (const [at, args] of [...each, ...fc.sample(argsOf, { numRuns: RUNS - each.length, seed: 35 })].entries()) {
        const intent = { agent_id: agentId, client_ref: `e${at}`, signals, args: args as never }
        const { matched_rule, outcome } = yield* Evaluations.use((evaluations) => evaluations.evaluate(intent, host))
        const given = local.decide({ answer: local.answer, signals, args, runId: null, ageMs: 900 })!
        expect([given.verdict.outcome, given.verdict.matched_rule], JSON.stringify(args)).toEqual([
          outcome,
          matched_rule
        ])
        rules.add(matched_rule)
        const { layers, ...verdict } = given.verdict
        const local_verdict = { ...verdict, layers: layers.map((layer) => ({ ...layer })) }
        yield* TestClock.adjust(1_000)
        yield* Capture.use((capture) =>
          capture.witness(
            agentId,
            [
              {
                client_ref: `d${at}`,
                kind: "tool_call",
                action: "lookup",
                status: outcome === "allow" ? "ok" : "denied",
                mode: "enforced",
                decided_by: "sdk_cache",
                local_verdict,
                signals,
                args
              } as never
            ],
            host
          )
        )
      }
      return rules
    })
  )
  const all = ["lookup", "people", "secret", "outside", "host", "note", "@default", "@invalid_signal"]
  expect([...answer.keys()]).toEqual(expect.arrayContaining(all))
  const whole = await resealed(open)
  expect([whole.status, whole.replay!.mismatches, whole.replay!.withheld]).toEqual([0, [], []])
  expect(whole.replay!.local_verdicts).toBe(RUNS)

  const of = (kind: string, rule: string): number =>
    open.records.findIndex(
      ({ body, kind: found, parts }) =>
        found === kind &&
        (body["matched_rule"] ?? (body["local_verdict"] as JsonObject | undefined)?.["matched_rule"]) === rule &&
        parts.some(({ name }) => name === "args")
    )
  const secret = canonicalBytes({ columns: [{ name: "id" }, { name: "secret" }] })
  for (const [kind, verdict] of [
    ["evaluation.made", "outcome_mismatch"],
    ["decision.witnessed", "local_verdict_mismatch"]
  ] as const) {
    const seq = of(kind, "lookup")
    const lie = await resealed(changed(open, seq, (record) => withPart(record, "args", secret)))
    expect(lie.replay!.mismatches[0]).toMatchObject({ seq, verdict })
    const hidden = await resealed(changed(open, seq, (record) => withPart(record, "args", null)))
    expect([hidden.replay!.mismatches, hidden.replay!.withheld]).toMatchObject([[], [{ seq }]])
  }
  const seq = of("decision.witnessed", "@invalid_signal")
  const loosened = withBody(open, seq, (body) => ({
    ...body,
    status: "ok",
    local_verdict: { ...(body["local_verdict"] as JsonObject), outcome: "allow", matched_rule: "lookup" }
  }))
  const { replay } = await resealed(loosened)
  expect([...replay!.mismatches, ...replay!.withheld][0]).toMatchObject({ seq })
})
