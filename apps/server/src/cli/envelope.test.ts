import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../../fixtures/envelopes/export/${name}`, import.meta.url))

describe("flyball envelope export", () => {
  it("prints the policy text and nothing else", async () => {
    for (const to of ["cedar", "cel"]) {
      assert.deepEqual(await me.flyball(["envelope", "export", "--to", to, fixture("absence.json")]), {
        status: 0,
        out: readFileSync(fixture(`v2/absence.${to}`), "utf8"),
        err: ""
      })
    }
  })

  it("refuses with a sentence what the language cannot say, and what is no envelope", async () => {
    const json = JSON.parse(readFileSync(fixture("absence.json"), "utf8")) as { readonly rules: ReadonlyArray<object> }
    writeFileSync(
      me.path("two.json"),
      JSON.stringify({ ...json, rules: json.rules.map((rule) => ({ ...rule, obligations: [{ type: "two_person" }] })) })
    )
    const { err, out, status } = await me.flyball(["envelope", "export", "--to", "cel", "two.json"])
    assert.deepEqual([status, out, err.split("\n").length], [1, "", json.rules.length + 1])
    assert.include(
      err,
      "flyball envelope: The rule prefixed has obligations, which an expression of CEL cannot answer."
    )
    writeFileSync(me.path("none.json"), '{"semantics":"envelope/9"}')
    assert.include(
      (await me.flyball(["envelope", "export", "--to", "cedar", "none.json"])).err,
      "flyball envelope: E109 /semantics: "
    )
  })
})
