/**
 * Every member of every input shape at its bounds: what is taken. What is refused is walked over HTTP, in apps/server.
 */
import { Result, type Schema } from "effect"
import { assert, describe, it } from "vitest"
import { AgentCreate, AgentListQuery, agentStatuses, autonomyTiers, riskClasses } from "./agents.ts"
import { ConsistencyQuery, ErasureIn, erasureReasons, ProofQuery, RecordsQuery, VerifyQuery } from "./chain.ts"
import {
  CaptureGapIn,
  DecisionIn,
  DecisionListQuery,
  captureTiers,
  deciders,
  decisionKinds,
  decisionModes,
  decisionStatuses,
  gapReasons,
  SettleIn,
  settledStatuses
} from "./decisions.ts"
import { decode } from "./foundation/decode.ts"
import { IngestKeyCreate } from "./ingest-keys.ts"
import { PackRequest, packKinds } from "./packs.ts"

type Shape = Schema.Top & { readonly DecodingServices: never; readonly fields: { readonly [name: string]: Schema.Top } }
type Members = { readonly [member: string]: ReadonlyArray<unknown> }

const MAX = Number.MAX_SAFE_INTEGER
const time = ["2026-01-01T00:00:00Z", "0000-01-01T00:00:00Z", "9998-12-31T23:59:59.999Z", "2026-01-01T00:00:00-23:59"]
const words = (max: number) => ["a", "a".repeat(max), "AZ09._:/@+-"]
const texts = (max: number, min = 1) => ["x".repeat(Math.max(min, 1)), "😀".repeat(max), ...(min === 0 ? [""] : [])]
const counts = [0, 1, MAX, null]
const localVerdict = {
  age_ms: MAX,
  as_of_ms: MAX,
  as_of_seq: 0,
  effective_tier: "L4",
  layers: [{ digest: `sha256:${"0a".repeat(32)}`, envelope_id: `env_${"0".repeat(26)}`, version: 1_000_000 }],
  matched_rule: "@default",
  origin: "!".repeat(255),
  outcome: "deny"
}
const any = [null, 0, 1.5, "", "x", [], {}, true]

/** The least good value of a shape, and the good values of each of its members. */
const table: ReadonlyArray<readonly [string, Shape, { readonly [member: string]: unknown }, Members]> = [
  [
    "AgentCreate",
    AgentCreate,
    { name: "n" },
    {
      name: texts(200),
      description: [...texts(4_000, 0), null],
      owner_name: [...texts(200), null],
      owner_email: ["a@b", null],
      org_unit: texts(100),
      autonomy_tier: [...autonomyTiers, null],
      blast_radius: [{}, { a: 1 }, null],
      recert_due_at: [...time, null],
      purpose: [...texts(4_000, 0), null],
      agent_version: [...texts(200, 0), null],
      framework: [...texts(200, 0), null],
      model_ids: [[], Array(64).fill("a".repeat(200)), null],
      risk_class: [...riskClasses, null],
      labels: [{}, { a: [null] }, null],
      parent_agent_id: ["agt_01m7ztsebfk6px1dbtghrjnj8e", null]
    }
  ],
  [
    "AgentListQuery",
    AgentListQuery,
    {},
    {
      status: agentStatuses,
      autonomy_tier: autonomyTiers,
      name: texts(200, 0),
      q: texts(200, 0),
      limit: ["1", "1000"],
      after: [`agt_${"0".repeat(26)}`]
    }
  ],
  [
    "DecisionIn",
    DecisionIn,
    { client_ref: "r", action: "a" },
    {
      client_ref: words(128),
      action: words(200),
      kind: decisionKinds,
      tool_server: [...words(200), null],
      run_id: [...words(200), null],
      instance_id: [...words(128), null],
      step: counts,
      observed_at: [...time, null],
      status: decisionStatuses,
      evaluation_id: [...words(200), null],
      approval_id: [...words(200), null],
      model: [...words(200), null],
      usage: [null, {}, { input_tokens: 0, output_tokens: MAX, cost_micro_usd: null }],
      latency_ms: counts,
      mode: [...decisionModes, null],
      decided_by: [...deciders, null],
      capture: [...captureTiers, null],
      local_verdict: [localVerdict, { ...localVerdict, layers: Array(15).fill(localVerdict.layers[0]) }, null],
      writer_seq: counts,
      args: any,
      result: any,
      labels: any,
      signals: any
    }
  ],
  [
    "SettleIn",
    SettleIn,
    { status: "ok" },
    {
      status: settledStatuses,
      actual: [[{ meter: "m", amount: 0 }], Array.from({ length: 16 }, () => ({ meter: "m".repeat(64), amount: MAX }))],
      result: any,
      usage: [null, {}],
      latency_ms: counts
    }
  ],
  [
    "CaptureGapIn",
    CaptureGapIn,
    { from: time[0], to: time[0], count: 1, reason: "crash" },
    { from: time, to: time, count: [0, MAX], reason: gapReasons }
  ],
  [
    "DecisionListQuery",
    DecisionListQuery,
    {},
    { limit: ["1", "1000"], before: ["0", String(MAX)], run_id: words(200), action: words(200) }
  ],
  ["VerifyQuery", VerifyQuery, {}, { from: ["0", String(MAX)], to: ["0", String(MAX)] }],
  [
    "RecordsQuery",
    RecordsQuery,
    {},
    {
      from: ["0", String(MAX)],
      limit: ["1", "1000"],
      kind: ["abc", `a${"_".repeat(63)}`],
      agent_id: [`agt_${"0".repeat(26)}`]
    }
  ],
  ["ProofQuery", ProofQuery, {}, { tree_size: ["1", String(MAX)] }],
  ["ConsistencyQuery", ConsistencyQuery, { from: "0" }, { from: ["0", String(MAX)], to: ["0", String(MAX)] }],
  [
    "ErasureIn",
    ErasureIn,
    { seq: 0, name: "a", reason: "security" },
    { seq: [0, MAX], name: ["a", `a${"_".repeat(31)}`], reason: erasureReasons }
  ],
  [
    "PackRequest",
    PackRequest,
    { kind: "full" },
    {
      kind: packKinds,
      from: counts,
      to: counts,
      agent_id: [`agt_${"z".repeat(26)}`, null],
      run_id: [...words(200), null],
      kinds: [["abc"], Array(64).fill("a.b"), null],
      since: [...time, null],
      until: [...time, null],
      disclose: ["none", "all", [], Array(32).fill("args"), null]
    }
  ],
  [
    "IngestKeyCreate",
    IngestKeyCreate,
    { name: "n", org_unit: "u" },
    {
      name: texts(200),
      org_unit: texts(100),
      max_autonomy_tier: [...autonomyTiers, null],
      capture: ["mediated", null],
      expires_at: [...time, null]
    }
  ]
]

describe("input shapes", () => {
  for (const [name, shape, least, members] of table) {
    const decoder = decode(shape)
    it(`${name} takes every member at its bounds`, () => {
      assert.deepStrictEqual(
        Object.keys(members).sort(),
        Object.keys(shape.fields).sort(),
        "the table names every member"
      )
      assert.isTrue(Result.isSuccess(decoder(least, "body")))
      for (const [member, values] of Object.entries(members)) {
        for (const value of values) {
          const decoded = decoder({ ...least, [member]: value }, "body")
          assert.isTrue(
            Result.isSuccess(decoded),
            `${member}: ${JSON.stringify(Result.isFailure(decoded) ? decoded.failure : null).slice(0, 300)}`
          )
        }
      }
    })

    it(`${name} needs what it needs, and knows no other member`, () => {
      for (const member of Object.keys(least)) {
        const { [member]: _, ...rest } = least
        const decoded = decoder(rest, "body")
        assert.deepStrictEqual(Result.isFailure(decoded) && decoded.failure.map(({ loc, type }) => [type, ...loc]), [
          ["missing", "body", member]
        ])
      }
      const decoded = decoder({ ...least, zzz: 1 }, "body")
      assert.deepStrictEqual(Result.isFailure(decoded) && decoded.failure.map(({ loc, type }) => [type, ...loc]), [
        ["extra_forbidden", "body", "zzz"]
      ])
    })
  }
})
