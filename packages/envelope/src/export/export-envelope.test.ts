/** The texts in `fixtures/envelopes/export/`: other engines read them, so every character counts. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { exportEnvelope, type ExportLanguage } from "./export-envelope.ts"

const fixture = (name: string): string =>
  readFileSync(new URL(`../../../../fixtures/envelopes/export/${name}`, import.meta.url), "utf8")
const envelope = (name: string): { readonly [member: string]: unknown } => JSON.parse(fixture(name))
const textOf = (json: unknown, to: ExportLanguage): string => {
  const exported = exportEnvelope(json, to)
  return "text" in exported ? exported.text : assert.fail(exported.refusals.join("\n"))
}
const refusalsOf = (json: unknown, to: ExportLanguage): ReadonlyArray<string> => {
  const exported = exportEnvelope(json, to)
  return "refusals" in exported ? exported.refusals : assert.fail(exported.text)
}

describe("exporting an envelope", () => {
  it.each(["absence", "attributes", "texts", "text-signals"])("says %s in Cedar and CEL", (name) => {
    for (const to of ["cedar", "cel"] as const)
      assert.strictEqual(textOf(envelope(`${name}.json`), to), fixture(`v2/${name}.${to}`))
  })

  it.each(["absence", "attributes", "texts"])(
    "says the policies of %s as it did before it said what it leaves out",
    (name) => {
      assert.strictEqual(
        fixture(`v2/${name}.cedar`).replaceAll(/^\/\/ Not in here: .*\n/gm, ""),
        fixture(`${name}.cedar`)
      )
      assert.strictEqual(fixture(`v2/${name}.cel`).replace(/ Not in here: .*$/m, ""), fixture(`${name}.cel`))
    }
  )

  it("names in one line each what it leaves out: the tier floor, outer layers, and the bounds of meters", () => {
    const bare = {
      semantics: "envelope/1",
      signals: { amount: { type: "int", min: 0, max: 10, source: "caller" } },
      rules: [{ id: "all", outcome: "allow", when: [] }],
      default: { outcome: "deny" },
      effects: { "*": "read" }
    }
    const metered = {
      ...bare,
      meters: {
        paid: { op: "sum", of: "amount", window_ms: 1, key: ["agent_id"], max_count: 3 },
        often: { op: "count", window_ms: 1, key: ["agent_id"], max_count: 5 }
      }
    }
    const lines = (json: object): ReadonlyArray<string> =>
      textOf(json, "cedar")
        .split("\n")
        .filter((line) => line.startsWith("// Not in here: "))
    assert.lengthOf(lines(bare), 2)
    assert.match(lines(bare)[0]!, /tier floor/)
    assert.match(lines(bare)[1]!, /outer layers/)
    assert.deepEqual(lines(metered).slice(0, 2), lines(bare))
    assert.match(
      lines(metered)[2]!,
      /@budget.*often holds 5 actions and at most 5, paid holds 3 actions and at most 30\.$/
    )
    const cel = textOf(metered, "cel").split("\n")
    for (const line of lines(metered)) assert.include(cel[0], line.slice("// ".length))
    assert.lengthOf(
      cel.filter((line) => line.startsWith("//")),
      1
    )
  })

  it("tells Cedar's readers of obligations and times in annotations, and refuses them for CEL", () => {
    const rules = [
      {
        id: "asks",
        outcome: "require_review",
        when: [],
        obligations: [{ type: "reviewers", role: "treasury", approvals: 2, ttl_ms: 1000 }]
      },
      { id: "denies", outcome: "deny", when: [], retry_after_ms: 5000, suggestion: 'Send "less".' }
    ]
    const json = { semantics: "envelope/1", signals: {}, rules, default: { outcome: "deny" }, effects: { "*": "read" } }
    const cedar = textOf(json, "cedar")
    assert.include(
      cedar,
      '@obligations("[{\\"type\\":\\"reviewers\\",\\"role\\":\\"treasury\\",' +
        '\\"approvals\\":2,\\"ttl_ms\\":1000}]")\nforbid ' +
        "" +
        "" +
        "(principal, action, resource)\nwhen { true };"
    )
    assert.include(cedar, '@retry_after_ms("5000")\n@suggestion("Send \\"less\\".")')
    assert.deepEqual(refusalsOf(json, "cel"), [
      "The rule asks has obligations, which an expression of CEL cannot answer. Export to Cedar, or without them.",
      "The rule denies has retry_after_ms and suggestion, which an expression of CEL cannot answer. Export to " +
        "Cedar, or without them."
    ])
  })

  it("says the length of a text in CEL, and refuses it for Cedar", () => {
    const json = {
      semantics: "envelope/1",
      signals: { note: { type: "text", source: "caller", optional: true } },
      rules: [{ id: "short", outcome: "allow", when: [{ not: { any: [{ signal: "note", length: [3, 9] }] } }] }],
      default: { outcome: "deny" },
      effects: { "*": "read" }
    }
    assert.include(textOf(json, "cel"), '!("note" in signals && (size(signals.note) >= 3 && size(signals.note) <= 9))')
    assert.deepEqual(refusalsOf(json, "cedar"), [
      "The rule short tests the length of a text, which Cedar does not know. Export to CEL, or without it."
    ])
  })

  it("refuses what is no envelope, with its findings", () => {
    for (const to of ["cedar", "cel"] as const) {
      assert.isTrue(
        refusalsOf({ semantics: "envelope/2" }, to).some((refusal) => refusal.startsWith("E109 /semantics: "))
      )
      assert.isAtLeast(refusalsOf([], to).length, 1)
      assert.isAtLeast(refusalsOf({ ...envelope("texts.json"), name: "\ud800" }, to).length, 1)
    }
  })
})
