import { assert, describe, it } from "vitest"
import { compile } from "../compile/compile.ts"
import { readEnvelope } from "../language/read-envelope.ts"
import { withTierFloor } from "../language/tier-floor.ts"
import { decode, decoderOf } from "./decode.ts"
import { signalWords } from "./signal-words.ts"

const { combination } = compile(
  withTierFloor([
    readEnvelope({
      semantics: "envelope/1",
      signals: {
        tool: { type: "enum", values: ["search", "refund"], source: "caller" },
        amount: { type: "int", min: 0, max: 500, unit: "EUR/100", source: "caller" },
        seen: { type: "bool", source: "caller", on_missing: false },
        risk_class: { type: "enum", values: ["low", "high"], source: "server" },
        tainted: { type: "bool", source: "latch", set_by: "seen" }
      },
      effects: { search: "read", refund: "money" },
      rules: [{ id: "all", outcome: "allow", when: [{ signal: "amount", lte: 100 }] }],
      default: { outcome: "deny" }
    }).envelope!
  ])
)
const good = { tool: "refund", amount: 5 }
const wordsFor = (sent: unknown, { latches = new Set<string>(), risk = "low" as unknown } = {}) => {
  const point = new Float64Array(combination!.compiled.axes.length)
  const server = { tier: 1, ...(risk === null ? {} : { risk_class: risk }) }
  const problem = decode(decoderOf(combination!), { signals: sent }, server, latches, point)
  return problem === null ? null : signalWords(combination!, problem, sent)
}

describe("a problem of signals in words", () => {
  it("is none where there is none", () => assert.isNull(wordsFor(good)))

  it.each([
    [{ ...good, amount: "SECRET" }, "`amount` should be an integer from 0 to 500 (EUR/100); received a string."],
    [
      { ...good, amount: 0.5 },
      "`amount` should be an integer from 0 to 500 (EUR/100); received a number with a fraction."
    ],
    [{ ...good, amount: 501 }, "`amount` should be an integer from 0 to 500 (EUR/100); received an integer above 500."],
    [{ ...good, amount: -1 }, "`amount` should be an integer from 0 to 500 (EUR/100); received an integer below 0."],
    [{ ...good, amount: null }, "`amount` should be an integer from 0 to 500 (EUR/100); received null."],
    [{ ...good, tool: "SECRET" }, "`tool` should be one of `search`, `refund`; received another string."],
    [{ ...good, tool: ["SECRET"] }, "`tool` should be one of `search`, `refund`; received an array."],
    [{ ...good, seen: { SECRET: 1 } }, "`seen` should be true or false; received an object."],
    [{ tool: "refund" }, "`amount` should be an integer from 0 to 500 (EUR/100); received nothing."],
    [
      { ...good, note: "SECRET" },
      "`note` is declared by no envelope in force: expected one of `amount`, `seen`, `tool`."
    ],
    [
      { ...good, ["`a\nb".padEnd(99, "c")]: "SECRET" },
      `\`ab${"c".repeat(60)}\` is declared by no envelope in force: expected one of \`amount\`, \`seen\`, \`tool\`.`
    ],
    [{ ...good, tier: 4 }, "`tier` comes from the service: expected no value from the caller, received a number."],
    [
      { ...good, tainted: true },
      "`tainted` comes from a latch: expected no value from the caller, received a boolean."
    ],
    ["SECRET", "The signals should be an object of values by name; received a string."],
    [null, "The signals should be an object of values by name; received no exact JSON."]
  ])("names what was expected and the type of what was received: %j", (sent, words) => {
    assert.equal(wordsFor(sent), words)
    assert.notInclude(words, "SECRET")
  })

  it("names what the service lacks, or has in another form", () => {
    const registration = "the service takes it from the agent's registration."
    assert.equal(
      wordsFor(good, { risk: null }),
      `\`risk_class\` should be one of \`low\`, \`high\`; received nothing: ${registration}`
    )
    assert.equal(
      wordsFor(good, { risk: "middling" }),
      `\`risk_class\` should be one of \`low\`, \`high\`; the service has another value: ${registration}`
    )
  })

  it("names the run that a latch or a meter needs", () => {
    assert.equal(
      wordsFor(good, { latches: null as never }),
      "`tainted` is remembered by run, and the request names none: expected run_id, received nothing."
    )
    assert.include(signalWords(combination!, { rule: "@missing_signal", signal: "run_id" }, good), "expected run_id")
  })

  it("leaves out what was received where the signals were erased", () =>
    assert.equal(
      signalWords(combination!, { rule: "@invalid_signal", signal: "amount" }, undefined),
      "`amount` should be an integer from 0 to 500 (EUR/100)."
    ))
})
