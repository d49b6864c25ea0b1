/** The texts in `fixtures/envelopes/export/`: other engines read them, so every character counts. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "vitest"
import { exportEnvelope, type ExportLanguage } from "./export-envelope.ts"

const fixture = (name: string): string => readFileSync(new URL(`../../../../../../fixtures/envelopes/export/${name}`, import.meta.url), "utf8")
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
  it.each(["absence", "attributes", "texts"])("says %s in Cedar and CEL", (name) => {
    assert.strictEqual(textOf(envelope(`${name}.json`), "cedar"), fixture(`${name}.cedar`))
    assert.strictEqual(textOf(envelope(`${name}.json`), "cel"), fixture(`${name}.cel`))
  })

  it("tells Cedar's readers of obligations and times in annotations, and refuses them for CEL", () => {
    const rules = [
      { id: "asks", outcome: "require_review", when: [], obligations: [{ type: "reviewers", role: "treasury", approvals: 2, ttl_ms: 1000 }] },
      { id: "denies", outcome: "deny", when: [], retry_after_ms: 5000, suggestion: "Send \"less\"." }
    ]
    const json = { semantics: "envelope/1", signals: {}, rules, default: { outcome: "deny" }, effects: { "*": "read" } }
    const cedar = textOf(json, "cedar")
    assert.include(cedar, '@obligations("[{\\"type\\":\\"reviewers\\",\\"role\\":\\"treasury\\",\\"approvals\\":2,\\"ttl_ms\\":1000}]")\nforbid (principal, action, resource)\nwhen { true };')
    assert.include(cedar, '@retry_after_ms("5000")\n@suggestion("Send \\"less\\".")')
    assert.deepEqual(refusalsOf(json, "cel"), [
      "The rule asks has obligations, which an expression of CEL cannot answer. Export to Cedar, or without them.",
      "The rule denies has retry_after_ms and suggestion, which an expression of CEL cannot answer. Export to Cedar, or without them."
    ])
  })

  it("refuses what is no envelope, with its findings", () => {
    for (const to of ["cedar", "cel"] as const) {
      assert.isTrue(refusalsOf({ semantics: "envelope/2" }, to).some((refusal) => refusal.startsWith("E109 /semantics: ")))
      assert.isAtLeast(refusalsOf([], to).length, 1)
      assert.isAtLeast(refusalsOf({ ...envelope("texts.json"), name: "\ud800" }, to).length, 1)
    }
  })
})
