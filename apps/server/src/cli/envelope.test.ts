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

describe("flyball envelope test", () => {
  it("prints the difference of each case that ends otherwise, and exits with 1", async () => {
    const recipe = fileURLToPath(new URL("../../../../examples/envelopes/small-amounts.json", import.meta.url))
    const { cases, envelope } = JSON.parse(readFileSync(recipe, "utf8")) as {
      readonly envelope: object
      readonly cases: ReadonlyArray<object>
    }
    writeFileSync(me.path("rules.json"), JSON.stringify(envelope))
    const wrong = { ...cases[1], outcome: "allow" }
    writeFileSync(
      me.path("tests.json"),
      JSON.stringify({ envelope: "rules.json", tier: "L3", cases: [cases[0], wrong] })
    )
    assert.deepEqual(await me.flyball(["envelope", "test", recipe, "tests.json"]), {
      status: 1,
      out:
        `${recipe}: ${cases.length} cases, 0 differ\ntests.json: 2 cases, 1 differs\n` +
        "  a larger refund needs a review: Expected allow by large, found require_review by large.\n",
      err: ""
    })
    writeFileSync(
      me.path("tests.json"),
      JSON.stringify({ envelope, tier: "L3", cases: [{ ...cases[0], outcome: "no" }] })
    )
    const { err, status } = await me.flyball(["envelope", "test", "tests.json"])
    assert.strictEqual(status, 1)
    assert.include(err, 'flyball envelope: tests.json: E100 /cases/0/outcome: There is no "no". It can be allow, ')
  })
})

describe("flyball envelope new", () => {
  it("drafts an envelope from a list of tools, and says of which server the store has none", async () => {
    const tools = ["pay", "list"].map((name) => ({
      name,
      annotations: { readOnlyHint: name === "list" },
      inputSchema: { type: "object", required: ["cents"], properties: { cents: { type: "integer", minimum: 0 } } }
    }))
    writeFileSync(me.path("tools.json"), JSON.stringify({ tools }))
    const { err, out, status } = await me.flyball(["envelope", "new", "--from-tools", "tools.json"])
    assert.deepEqual(
      [status, err],
      [0, "flyball envelope: The server says what its tools do. Confirm each class: read (list); irreversible (pay).\n"]
    )
    assert.deepInclude(JSON.parse(out).signals.cents, { type: "int", min: 0, source: "args", from: "/cents" })
    writeFileSync(me.path("tools.json"), JSON.stringify({ tools: [] }))
    const none = await me.flyball(["envelope", "new", "--from-tools", "tools.json"])
    assert.strictEqual(none.status, 1)
    assert.strictEqual(none.err, "flyball envelope: the list names no tool.\n")
    writeFileSync(me.path("none.ndjson"), "")
    assert.strictEqual((await me.flyball(["import", "none.ndjson"])).status, 0)
    assert.deepEqual(await me.flyball(["envelope", "new", "--from-tools", "bank"]), {
      status: 1,
      out: "",
      err: "flyball envelope: the store has no list of tools of bank, or it was erased.\n"
    })
  })
})
