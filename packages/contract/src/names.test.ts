/**
 * Names at their bounds, and every place where one is taken. Spec: document 1 section 1: the owner of an agent can be
 * named.
 */
import { Result, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { decode } from "./foundation/decode.ts"
import { email, foreignName, line, name, orgUnit, reason } from "./foundation/fields.ts"
import { endpoints } from "./http/index.ts"
import { MappingRule } from "./access-mapping.ts"
import { DecisionIn } from "./decisions.ts"
import { EvaluationIn } from "./evaluations.ts"

const typesOf = (
  schema: Schema.Top & { readonly DecodingServices: never },
  value: unknown
): ReadonlyArray<string> | "taken" => {
  const decoded = decode(Schema.Struct({ m: schema }))({ m: value }, "body")
  return Result.isFailure(decoded) ? decoded.failure.map(({ type }) => type) : "taken"
}

/** Texts in which nothing can be seen. */
const blank = [
  " ",
  "\t",
  "\u00a0",
  "\u2003",
  "\u200b",
  "\u200d",
  "\u2060",
  "\ufeff",
  "\u00ad",
  "\u3164",
  "\u115f",
  "\uffa0",
  "\u2800",
  "\u{e0041}",
  "\ufe0f",
  "\u180e",
  "\u034f",
  " \u200b "
]
/** Texts that end a line, control what shows them, or change the direction of the text. */
const steering = [
  "a\r\nBcc: x",
  "a\nb",
  "\n",
  "a\tb",
  "a\u0007",
  "a\u001b[2J",
  "a\u0085b",
  "a\u2028b",
  "a\u2029b",
  "Ada\u202egro",
  "a\u202a",
  "a\u2066b\u2069",
  "a\u007f",
  "a\u009b"
]
const good = [
  "a",
  "Ada Lovelace",
  "Ægir Ö",
  "王",
  "محمد",
  "می‌خواهم",
  "क्षि",
  "👩‍💻",
  "7",
  "R&D / Nord",
  "…",
  "$",
  "x\u200b",
  "e\u0301"
]

describe("a name", () => {
  it("has at least one visible character", () => {
    for (const value of blank) assert.deepStrictEqual(typesOf(name(200), value), ["value_error"], JSON.stringify(value))
    for (const value of good) assert.strictEqual(typesOf(name(200), value), "taken", value)
  })

  it("holds no control characters", () => {
    for (const value of steering)
      assert.deepStrictEqual(typesOf(name(200), value), ["value_error"], JSON.stringify(value))
  })

  it("is refused with one sentence", () => {
    const decoded = decode(Schema.Struct({ m: name(3) }))({ m: "\n" }, "body")
    assert.deepStrictEqual(Result.isFailure(decoded) ? decoded.failure.map(({ loc, msg }) => [...loc, msg]) : [], [
      ["body", "m", "Text should have a visible character and no control characters"]
    ])
  })

  it("is limited in length as any text", () => {
    assert.deepStrictEqual(
      [typesOf(name(3), ""), typesOf(name(3), "abcd"), typesOf(name(3), "a\0")],
      [["string_too_short"], ["string_too_long"], ["value_error"]]
    )
  })

  it("of an org unit is one too", () => {
    for (const value of [...blank, ...steering, "*"]) {
      assert.deepStrictEqual(typesOf(orgUnit, value), ["value_error"], JSON.stringify(value))
      if (value !== "*")
        assert.deepStrictEqual(typesOf(MappingRule.fields.org_unit, value), ["value_error"], JSON.stringify(value))
    }
    assert.strictEqual(typesOf(MappingRule.fields.org_unit, "*"), "taken")
  })
})

describe("a line", () => {
  it("may be empty or blank, and holds no control characters", () => {
    for (const value of ["", ...blank.filter((one) => one !== "\t"), ...good])
      assert.strictEqual(typesOf(line(200), value), "taken", JSON.stringify(value))
    for (const value of steering)
      assert.deepStrictEqual(typesOf(line(200), value), ["value_error"], JSON.stringify(value))
  })
})

describe("a reason", () => {
  it("has at least one visible character, on any number of lines", () => {
    for (const value of [...blank, "\r\n", "\n\u200b"])
      assert.deepStrictEqual(typesOf(reason(200), value), ["value_error"], JSON.stringify(value))
    for (const value of [...good, "a\nb", "\ta"])
      assert.strictEqual(typesOf(reason(200), value), "taken", JSON.stringify(value))
    assert.deepStrictEqual(typesOf(reason(3), ""), ["string_too_short"])
  })

  it("is checked by every act that takes a reason", () => {
    const asking = ["agents.disown", "bound.withdraw", "bound.request_waiver", "bound.void_evaluation"]
    for (const { body, id } of endpoints.filter((one) => asking.includes(one.id))) {
      const decoded = body!.decode({ reason: " \n" }) as Result.Result<
        unknown,
        ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly type: string }>
      >
      assert.deepInclude(
        Result.isFailure(decoded) ? decoded.failure.map(({ loc, type }) => [...loc, type]) : [],
        ["body", "reason", "value_error"],
        id
      )
      asking.splice(asking.indexOf(id), 1)
    }
    assert.deepStrictEqual(asking, [])
  })
})

describe("an address", () => {
  it("contains no invisible character", () => {
    for (const value of [
      "\u200b@\u200b",
      "a\u200b@example.org",
      "a@exa\u00admple.org",
      "\u3164@example.org",
      "a\u202e@example.org",
      "a@b\u2028",
      "\ue000@example.org"
    ]) {
      assert.deepStrictEqual(typesOf(email, value), ["value_error"], JSON.stringify(value))
    }
    for (const value of ["ann@example.org", "jürgen@bücher.example", "用户@例子.广告"])
      assert.strictEqual(typesOf(email, value), "taken", value)
  })
})

describe("every name that a body takes", () => {
  const named = /^(name|owner_name|org_unit|provider|declared_source|declared_ref)$/
  const members = endpoints.flatMap(({ body, id }) =>
    Object.keys((body?.schema as { readonly fields?: object } | undefined)?.fields ?? {})
      .filter((member) => named.test(member))
      .map((member) => [id, member] as const)
  )

  it("is one of these", () => {
    assert.deepStrictEqual(
      members.map((one) => one.join(" ")),
      [
        "agents.create name",
        "agents.create owner_name",
        "agents.create org_unit",
        "agents.transfer_ownership owner_name",
        "agents.attach_identity declared_source",
        "agents.attach_identity declared_ref",
        "agents.add_provenance name",
        "models.create provider",
        "models.create name",
        "bound.create_envelope name",
        "bound.create_envelope org_unit",
        "breakers.arm name",
        "breakers.preview name",
        "fairness.screen org_unit",
        "chain.erase name",
        "ingest_keys.mint name",
        "ingest_keys.mint org_unit",
        "platform_keys.mint name",
        "platform_keys.mint org_unit"
      ]
    )
  })

  for (const [id, member] of members) {
    it(`${id} ${member}`, () => {
      const { body } = endpoints.find((one) => one.id === id)!
      const problems = (value: string) => {
        const decoded = body!.decode({ [member]: value }) as Result.Result<
          unknown,
          ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly type: string }>
        >
        return Result.isFailure(decoded)
          ? decoded.failure.filter(({ loc }) => loc[1] === member).map(({ type }) => type)
          : []
      }
      for (const value of [...blank, ...steering])
        assert.match(problems(value).join(), /^(value_error|string_pattern_mismatch)$/, JSON.stringify(value))
    })
  }
})

describe("a name that others gave", () => {
  const taken = [
    "Create CIFS Share",
    "获取_天气",
    "gpt-4o (2024-08-06)",
    "Claude Sonnet 4.5",
    "<b>|\\",
    "é",
    "🦆".repeat(200)
  ]
  const refused = ["a  b", " a", "a ", "a\u00a0b", "cafe\u0301", "\ue000", "\ud83d", "❤\ufe0f", ...blank, ...steering]

  it("has visible characters of any script with single blanks, in NFC", () => {
    for (const value of taken) assert.strictEqual(typesOf(foreignName(200), value), "taken", value)
    for (const value of refused)
      assert.deepStrictEqual(typesOf(foreignName(200), value), ["value_error"], JSON.stringify(value))
    assert.deepStrictEqual(typesOf(foreignName(200), ""), ["string_too_short"])
    assert.deepStrictEqual(typesOf(foreignName(200), "🦆".repeat(201)), ["string_too_long"])
  })

  it("is an action, a tool server and a model, of a decision and of an evaluation", () => {
    for (const value of taken) {
      const decision = { client_ref: "a", action: value, tool_server: value, model: value }
      assert.isTrue(Result.isSuccess(decode(DecisionIn)(decision, "body")), value)
      const question = { agent_id: `agt_${"0".repeat(26)}`, client_ref: "a", signals: { tool: value }, action: value }
      assert.isTrue(Result.isSuccess(decode(EvaluationIn)(question, "body")), value)
    }
  })
})
