import { recordKinds } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { RULES } from "../../records/rules-version.ts"
import { judgeRules } from "./named-rules.ts"

/** Kinds whose `rules` is not a version: the mapping counts its rules. */
const counts = ["mapping.changed"]

describe("the rules that a record names", () => {
  for (const { body, kind } of recordKinds) {
    const names = !counts.includes(kind) && body.some(({ name }) => name === "rules")
    it(`${names ? "are these" : "are of no concern"} in ${kind}`, () => {
      const verdict = (rules?: number) =>
        judgeRules({ kind, body: rules === undefined ? {} : { rules } })?.verdict ?? "ok"
      const made = [RULES, RULES - 1, undefined, RULES + 1].map(verdict)
      assert.deepStrictEqual(
        made,
        names ? ["ok", "rules_mismatch", "rules_mismatch", "withheld"] : ["ok", "ok", "ok", "ok"]
      )
    })
  }
})
