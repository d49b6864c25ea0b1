import { writeFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile, starterLines } from "./testing/commands.ts"

let me: Operator
const lines = starterLines(1, 20)
const tail = "fix this and import again: nothing is recorded twice.\n"

beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(me.path(name), content)
  return name
}
const changed = (line: string, members: object): string => JSON.stringify({ ...JSON.parse(line), ...members })
const imports = (...args: ReadonlyArray<string>) => me.flyball(["import", ...args])

describe("flyball import", () => {
  it("records every decision once, however often and in whatever form the file comes", async () => {
    const first = await imports(file("ok.ndjson", `${lines.join("\n")}\n`))
    assert.deepEqual([first.status, first.out], [0, "20 decisions of 1 agent: 20 new, 0 already recorded.\n"])
    assert.match(first.err, /^flyball: a new chain's signing key was created in [^\n]+\n$/)
    const same = { status: 0, out: "20 decisions of 1 agent: 0 new, 20 already recorded.\n", err: "" }
    assert.deepEqual(await imports("ok.ndjson"), same)
    assert.deepEqual(await imports(file("crlf.ndjson", `\ufeff${lines.join("\r\n\r\n")}`)), same)
    assert.deepEqual(await imports(file("packed.ndjson.gz", gzipSync(lines.join("\n")))), same)
    const rest = await imports("ok.ndjson", starterFile, starterFile)
    assert.deepEqual([rest.status, rest.out], [0, "612 decisions of 3 agents: 276 new, 336 already recorded.\n"])
    const check = await me.flyball(["check"])
    assert.strictEqual(check.status, 0)
    assert.include(
      check.out,
      "300 records recomputed from the stored bytes; no difference; the last checkpoint covers 300 records."
    )
  })

  it("reads standard input, packed or not, and names it when a line is wrong", async () => {
    const same = { status: 0, out: "20 decisions of 1 agent: 0 new, 20 already recorded.\n", err: "" }
    assert.deepEqual(await me.flyball(["import", "-"], {}, `${lines.join("\n")}\n`), same)
    assert.deepEqual(await me.flyball(["import", "-"], {}, gzipSync(lines.join("\n"))), same)
    const { err, status } = await me.flyball(["import", "-"], {}, "{}")
    assert.deepEqual(
      [status, err.split("\n")[0]],
      [
        1,
        "flyball import: standard input, line 1: expected v to be 1, the trace format that this version " +
          `reads. Nothing new was recorded; ${tail.trim()}`
      ]
    )
    assert.strictEqual((await imports("-", "-")).status, 2)
  })

  it("says that an empty file is empty", async () =>
    assert.deepEqual(await imports(file("empty.ndjson", "")), {
      status: 0,
      out: "0 decisions of 0 agents: 0 new, 0 already recorded.\n",
      err: "flyball: empty.ndjson is empty.\n"
    }))

  it("takes names of tools and models in any script, with blanks, of up to 200 code points", async () => {
    const { action: _, model: __, ...trace } = JSON.parse(lines[0]!)
    const named = [
      { action: "Create CIFS Share" },
      { action: "获取_天气" },
      { action: "𠮷".repeat(200) },
      { action: "model", model: "Claude Sonnet 4.5" },
      { action: "model", model: "gpt-4o (2024-08-06)" }
    ].map((members, at) => JSON.stringify({ ...trace, id: `name-${at}`, ...members }))
    const { err, out } = await imports(file("names.ndjson", named.join("\n")))
    assert.deepEqual([out, err], ["5 decisions of 1 agent: 5 new, 0 already recorded.\n", ""])
    const long = JSON.stringify({ ...trace, id: "long", action: "x".repeat(220) })
    assert.match((await imports(file("long.ndjson", long))).err, /line 1: action: String should have at most 200/)
  })

  it("keeps an agent in its org unit, and says so", async () => {
    const { err, out, status } = await imports("ok.ndjson", "--org-unit", "claims")
    assert.deepEqual([status, out], [0, "20 decisions of 1 agent: 0 new, 20 already recorded.\n"])
    assert.match(err, /^flyball: the agent \S+ is already registered in the org unit imported and stays there\.\n$/)
  })

  it("records what precedes a broken line, names the line, and continues there when it is fixed", async () => {
    const good = [1, 2, 3].map((index) => changed(lines[index]!, { id: `before-${index}` }))
    const { err, out, status } = await imports(
      file("broken.ndjson", [...good, '{"v":1,', changed(lines[4]!, { id: "after" })].join("\n"))
    )
    assert.deepEqual(
      [status, out, err],
      [
        1,
        "",
        "flyball import: broken.ndjson, line 4: the JSON is malformed at byte 7 of the line. 3 new decisions of " +
          `this run were recorded; ${tail}`
      ]
    )
    const again = await imports(file("broken.ndjson", [...good, changed(lines[4]!, { id: "after" })].join("\n")))
    assert.strictEqual(again.out, "4 decisions of 1 agent: 1 new, 3 already recorded.\n")
  })

  it("explains a known id with other content, in store and file, and records nothing of its batch", async () => {
    const id = (JSON.parse(lines[2]!) as { id: string }).id
    const words =
      `the id ${id} was used before for a decision with different content. Recorded decisions cannot change; give a ` +
      `new decision a new id. Nothing new was recorded; ${tail}`
    const known = await imports(
      file("known.ndjson", [lines[0], lines[1], changed(lines[2]!, { action: "something_else" })].join("\n"))
    )
    assert.deepEqual([known.status, known.err], [1, `flyball import: known.ndjson, line 3: ${words}`])
    const twice = await imports(
      file("twice.ndjson", [changed(lines[0]!, { id: "twice" }), changed(lines[1]!, { id: "twice" })].join("\n"))
    )
    assert.deepEqual(
      [twice.status, twice.err],
      [1, `flyball import: twice.ndjson, line 2: ${words.replace(id, "twice")}`]
    )
  })

  it.each<[string, () => string | Uint8Array, RegExp]>([
    ["another version", () => changed(lines[0]!, { v: 2 }), /line 1: expected v to be 1/],
    [
      "another status",
      () => changed(lines[0]!, { status: "fine" }),
      /line 1: expected a status of intended, ok, error, denied, unknown/
    ],
    ["no id", () => changed(lines[0]!, { id: undefined }), /line 1: id: Field required/],
    ["a time that is none", () => changed(lines[0]!, { ts: "yesterday" }), /line 1: ts: /],
    [
      "an agent name that is too long",
      () => changed(lines[0]!, { id: "x", agent: "a".repeat(300) }),
      /line 1: agent: String should have at most 200 characters/
    ],
    [
      "a result that is too large",
      () =>
        [changed(lines[0]!, { id: "a1" }), changed(lines[1]!, { id: "a2", result: "x".repeat(1_100_000) })].join("\n"),
      /line 2: args, result, labels and signals may have 1048576 bytes each/
    ],
    [
      "bytes that are no text",
      () => Buffer.from([0x7b, 0xff, 0xfe, 0x0a]),
      /line 1: the text is not UTF-8 from byte 1 of the line/
    ],
    [
      "half a gzip",
      () => gzipSync(lines.join("\n")).subarray(0, 1_000),
      /line \d+: the gzip data is damaged or ends too early/
    ]
  ])("refuses %s in one sentence with the line", async (name, content, sentence) => {
    const { err, out, status } = await imports(file(`${name.replaceAll(" ", "-")}.ndjson`, content()))
    assert.deepEqual([status, out, err.split("\n").length], [1, "", 2], err)
    assert.match(err, sentence)
    assert.isTrue(err.endsWith(tail))
  })

  it("beside a server on SQLite records nothing, and names where that takes decisions", async () => {
    const server = await me.serve()
    const refused = await me.flyball(["import", starterFile], { FLYBALL_PORT: new URL(server.url).port })
    assert.deepEqual([refused.status, refused.out], [1, ""])
    assert.match(refused.err, /^flyball import: another process writes [^\n]+\. Nothing was recorded\. [^\n]+\n$/)
    assert.include(refused.err, `-d '{"decisions":[…]}' ${server.url}/api/v1/agents/AGENT/decisions.\n`)
    await server.stop("SIGTERM")
  })

  it("left a store that agrees with itself", async () => assert.strictEqual((await me.flyball(["check"])).status, 0))
})
