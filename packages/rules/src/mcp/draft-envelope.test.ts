import { readdirSync, readFileSync } from "node:fs"
import { compile, lint, readEnvelope, withTierFloor } from "@flyball/envelope"
import { assert, describe, it } from "vitest"
import type { JsonMap } from "../records/record.ts"
import { draftEnvelope } from "./draft-envelope.ts"

const folder = new URL("../../../../fixtures/mcp-manifests/", import.meta.url)
const fixture = (name: string) => JSON.parse(readFileSync(new URL(name, folder), "utf8"))
const official = (name: string): ReadonlyArray<JsonMap> =>
  fixture(`official_servers/${name}`).tools_list_pages.flatMap((page: { readonly tools: unknown }) => page.tools)
const tool = (name: string, properties: object, required: ReadonlyArray<string> = [], annotations: object = {}) =>
  ({ name, inputSchema: { type: "object", properties, required }, annotations }) as unknown as JsonMap

describe("a draft of an envelope from a list of tools", () => {
  it("is read, and its lint has no finding, for 49 lists of real servers", () => {
    const lists: ReadonlyArray<ReadonlyArray<JsonMap>> = [
      ...readdirSync(new URL("official_servers/", folder)).map(official),
      ...fixture("livemcpbench_real_servers.json").servers.map((one: { readonly tools: unknown }) => one.tools),
      fixture("cisco_remote_eval_tools.json").benign
    ]
    for (const tools of lists) {
      const { envelope, findings } = readEnvelope(draftEnvelope(tools).envelope)
      assert.deepStrictEqual(findings, [])
      const { compiled } = compile(withTierFloor([envelope!])).combination!
      assert.deepStrictEqual(lint(compiled, { envelope: envelope! }).findings, [])
    }
  })

  it("has a signal for each argument of a file server, by its hints and its schemas", () => {
    const { envelope, notes } = draftEnvelope(official("server-filesystem@2026.8.31.json"))
    const text = { type: "text", source: "args", optional: true }
    const { tool: _, ...signals } = envelope.signals
    assert.deepStrictEqual<unknown>(signals, {
      path: { ...text, form: "path@1", from: "/path" },
      dry_run: { type: "bool", source: "args", from: "/dryRun", optional: true },
      sort_by: { type: "enum", values: ["name", "size"], source: "args", from: "/sortBy", optional: true },
      source: { ...text, form: "path@1", from: "/source" },
      destination: { ...text, form: "path@1", from: "/destination" },
      pattern: { ...text, from: "/pattern" },
      paths: { ...text, form: "path@1", from: "/paths/*" }
    })
    assert.deepStrictEqual(
      envelope.rules.map(({ id, outcome }) => [id, outcome]),
      [
        ["read", "require_review"],
        ["write_reversible", "require_review"],
        ["irreversible", "require_review"]
      ]
    )
    assert.match(
      notes[0]!,
      /write_reversible \(create_directory\); irreversible \(edit_file, move_file, write_file\)\.$/
    )
    assert.match(notes[1]!, /^A relative path is unreadable until /)
    assert.deepStrictEqual(
      notes.slice(2).map((note) => note.replace(/^The argument (\S+) .*signal: (.*)\.$/, "$1 $2")),
      [
        "/content a text signal has up to 4096 characters",
        "/edits its schema has no type of a signal",
        "/excludePatterns an envelope reads one list",
        "/head a number may have a fraction. Declare an int where the tool takes whole numbers",
        "/tail a number may have a fraction. Declare an int where the tool takes whole numbers"
      ]
    )
  })

  it("leaves out what no value fits and no pointer reaches, and keeps bounds that do not belong to their range", () => {
    const { envelope, notes } = draftEnvelope([
      tool("t", {
        none: { enum: [] },
        never: { type: "integer", minimum: 9, maximum: 1 },
        "*": { type: "string" },
        open: { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 10, maximum: 1e300 }
      })
    ])
    assert.deepStrictEqual(
      Object.keys(envelope.signals).filter((name) => name !== "tool"),
      ["open"]
    )
    assert.deepInclude(envelope.signals["open"], { min: 1, max: 9 })
    assert.lengthOf(notes, 4)
    assert.deepStrictEqual(readEnvelope(envelope).findings, [])
  })

  it("admits what each of its tools takes, or leaves the argument out", () => {
    const { envelope, notes } = draftEnvelope([
      tool("pay", { to: { type: "string" }, cents: { type: "integer", minimum: 1, maximum: 10 }, tier: {} }, ["to"]),
      tool(
        "Bill",
        { to: { type: "string" }, cents: { type: "integer", minimum: 5, maximum: 2_000 }, x: { type: "boolean" } },
        ["to", "cents"],
        { destructiveHint: false }
      ),
      tool("list", { x: { type: "string" }, to: { type: "string" } }, ["to"], { readOnlyHint: true })
    ])
    const { tool: _, ...signals } = envelope.signals
    assert.deepStrictEqual<unknown>(signals, {
      to: { type: "text", form: "domain@1", source: "args", from: "/to" },
      cents: { type: "int", min: 1, max: 2_000, source: "args", from: "/cents", optional: true }
    })
    assert.deepStrictEqual<unknown>(envelope.effects, { Bill: "external_message", list: "read", pay: "irreversible" })
    assert.deepStrictEqual(notes.slice(1), [
      "The argument /tier of pay is no signal: its schema has no type of a signal.",
      "The argument /x of Bill is no signal: tools take different types of it."
    ])
  })

  it("gives a form to what is called as a path, an address or a domain", () => {
    const formOf = (name: string): unknown => {
      const [signal] = Object.values(draftEnvelope([tool("t", { [name]: { type: "string" } })]).envelope.signals).slice(
        1
      )
      return signal!.type === "text" ? signal!.form : assert.fail(name)
    }
    for (const name of ["path", "filePath", "file_name", "filename", "outputDir", "source-folder"])
      assert.strictEqual(formOf(name), "path@1", name)
    for (const name of ["to", "cc", "email", "base_url", "recipient", "siteDomain"])
      assert.strictEqual(formOf(name), "domain@1", name)
    for (const name of ["date_to", "profile", "query", "order", "source"]) assert.isUndefined(formOf(name), name)
  })
})
