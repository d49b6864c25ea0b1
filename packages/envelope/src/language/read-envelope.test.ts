import { assert, describe, it } from "vitest"
import { MAX_ENVELOPE_BYTES, MAX_FINDINGS } from "./limits.ts"
import { readEnvelope } from "./read-envelope.ts"

const small = {
  semantics: "envelope/1",
  signals: { ok: { type: "bool", source: "caller" } },
  effects: { "*": "read" },
  rules: [],
  default: { outcome: "deny" }
}

describe("reading an envelope", () => {
  it("reads nothing else of another language", () => {
    for (const semantics of ["envelope/2", null, 1])
      assert.deepStrictEqual(
        readEnvelope({ semantics, rulez: 1 }).findings.map(({ code, path }) => [code, path]),
        [["E109", "/semantics"]]
      )
    assert.deepStrictEqual([...new Set(readEnvelope({}).findings.map(({ code }) => code))], ["E113"])
  })

  it("takes a small one, whatever the order of its names, and with the words for people", () => {
    const { default: _, ...others } = small
    const { envelope, findings } = readEnvelope({
      default: { outcome: "require_review" },
      ...others,
      name: "Ours",
      envelope_id: "env_1",
      version: 3,
      scope: { org_unit: "fin", agents: ["*"] },
      on_unavailable: "allow_cached",
      accept_non_monotone: { reason: "a pilot" }
    })
    assert.deepEqual(findings, [])
    assert.deepInclude(envelope, {
      name: "Ours",
      envelopeId: "env_1",
      version: 3,
      scope: { orgUnit: "fin", agents: ["*"] },
      onUnavailable: "allow_cached",
      acceptNonMonotone: "a pilot",
      coverage: "allow_uncovered"
    })
    assert.deepEqual([...envelope!.effects], [["*", "read"]])
  })

  it("takes as values of tool, action, tool_server and model the names that others give, and no other texts", () => {
    const read = (signal: string, value: string, constant: unknown = { param: "known" }) =>
      readEnvelope({
        ...small,
        signals: { [signal]: { type: "enum", values: [value], source: "caller" } },
        params: { known: value },
        effects: { [signal === "tool" ? value : "*"]: "read" },
        rules: [{ id: "it", outcome: "allow", when: [{ signal, eq: constant }] }]
      }).findings.map(({ code, path }) => [code, path])
    for (const signal of ["tool", "action", "tool_server", "model"]) {
      for (const name of ["Create CIFS Share", "获取_天气", "gpt-4o (2024-08-06)", "𠮷".repeat(200)]) {
        assert.deepEqual(read(signal, name), [], name)
        assert.deepEqual(read(signal, name, name), [], name)
      }
      for (const name of [" a", "a  b", "e\u0301", "a\u200bb", "a\nb", "x".repeat(201)])
        assert.deepInclude(read(signal, name), ["E113", `/signals/${signal}/values/0`], JSON.stringify(name))
    }
    assert.deepEqual(read("about", "a\nb"), [])
    assert.deepInclude(read("about", "x".repeat(129)), ["E113", "/signals/about/values/0"])
  })

  it("refuses what is no JSON, too deep or too large before it reads further", () => {
    const circle: { [name: string]: unknown } = { ...small }
    circle["rules"] = [circle]
    for (const value of [
      undefined,
      null,
      5,
      "x",
      [],
      new Map(),
      circle,
      { ...small, name: "\ud800" },
      { ...small, name: () => 1 },
      { ...small, rules: [Number.NaN] },
      { ...small, name: "x".repeat(MAX_ENVELOPE_BYTES) }
    ]) {
      const { envelope, findings } = readEnvelope(value)
      assert.isNull(envelope)
      assert.deepEqual(
        findings.map(({ code, path }) => ({ code, path })),
        [{ code: "E113", path: "" }]
      )
    }
  })

  it("lists no more findings than anybody reads", () => {
    const rules = Array.from({ length: 400 }, (_, i) => ({ id: `r${i}`, outcome: "block", when: [] }))
    assert.lengthOf(readEnvelope({ ...small, rules }).findings, MAX_FINDINGS)
  })

  it("takes no tier with a unit, and one that counts as a value when it is missing", () => {
    const tier = { type: "int", min: 0, max: 4, source: "server" }
    const found = (more: object) =>
      readEnvelope({ ...small, signals: { tier: { ...tier, ...more } } }).findings.map(({ code, path }) => [code, path])
    assert.deepEqual(found({}), [])
    assert.deepEqual(found({ unit: "count" }), [["E103", "/signals/tier"]])
    assert.deepEqual(found({ on_missing: 0 }), [])
  })

  it("takes no name that every object has", () => {
    for (const name of ["constructor", "__proto__", "toString"]) {
      const signals = JSON.parse(`{"${name}":{"type":"bool","source":"caller"}}`) as object
      assert.lengthOf(readEnvelope({ ...small, signals }).findings, 1, name)
    }
    for (const name of ["toString", "__proto__"])
      assert.equal(
        readEnvelope({ ...small, rules: [{ id: "r", outcome: "deny", when: [{ signal: name, is: true }] }] })
          .findings[0]?.code,
        "E100"
      )
  })
})
