/**
 * Any JSON text of a server behind the MCP proxy, a process of its own: the client gets its bytes, and the record
 * commits to its RFC 8785 form where that says the same, and to a mark with a digest of the bytes where it does not.
 * Spec: decision 0066.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { canonicalBytes, fromBase64, portableCrypto, toHex, utf8 } from "@flyball/evidence"
import fc from "fast-check"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "../../../apps/server/src/http/http-world.ts"
import { runs } from "../runs.ts"

const proxy = fileURLToPath(new URL("../../../packages/client/src/adapters/mcp/proxy/main.ts", import.meta.url))
const server = fileURLToPath(new URL("saying-server.ts", import.meta.url))

let world: World
beforeAll(async () => void (world = await openWorld()))
afterAll(() => world.close())

const call = async (method: string, path: string, json?: unknown, token = world.admin) => {
  const got = await world.send(method, `/api/v1${path}`, { token, ...(json === undefined ? {} : { json }) })
  assert.isBelow(got.status, 300, `${path}: ${got.text}`)
  return got.json
}

/** Numbers as programs write them: exact ones, and such as no double has. */
const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.bigInt(-(2n ** 70n), 2n ** 70n).map(String),
  fc.constantFrom("-0", "1.10", "1E400", "1e2", "9007199254740993", "9007199254740994", "0.1000000000000000055511"),
  fc.tuple(fc.nat(999), fc.nat(), fc.integer({ min: -20, max: 320 })).map(([a, b, e]) => `-${a}.${b}E${e}`)
)
const string = fc.oneof(
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"\\ud83d"', '"\\u0061\\/"', '"\\ufeff"', '"__proto__"', '"é"', '"e\\u0301"', '"toJSON"')
)
const blank = fc.constantFrom("", " ", "\t", " \r ")
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom("null", "true", "false")),
    fc.tuple(blank, fc.array(tie("text"), { maxLength: 4 })).map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
    fc
      .tuple(blank, fc.array(fc.tuple(string, tie("text")), { maxLength: 4 }))
      .map(([gap, items]) => `{${items.map(([name, item]) => `${gap}${name}:${gap}${item}`).join(",")}${gap}}`)
  )
}))
const deep = fc.integer({ min: 50, max: 70 }).map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`)
const result = fc
  .tuple(blank, fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: deep }))
  .map(([gap, value]) => `{${gap}"content":[],"structuredContent":${value}}`)

/** A name that is there twice, which chance seldom makes. */
const TWICE = '{"content":[],"structuredContent":{"a":1,"\\u0061":2}}'

/** True when a value says all that its text says: each number keeps its digits, and no name is there twice. */
const isExact = (json: string): boolean => {
  let isKept = true
  const compare = (_name: string, item: unknown, { source }: { readonly source?: string }): unknown => {
    if (typeof item === "number") isKept &&= Number.isFinite(item) && scaled(source!) === scaled(String(item))
    return item
  }
  JSON.parse(json, compare as (name: string, item: unknown) => unknown)
  // Of a name that is there twice the parser keeps one value: fewer members than colons outside of texts.
  return isKept && membersOf(JSON.parse(json)) === (json.replaceAll(/"(?:[^"\\]|\\.)*"/g, "").match(/:/g)?.length ?? 0)
}

const membersOf = (value: unknown): number =>
  typeof value !== "object" || value === null
    ? 0
    : Object.values(value).reduce((sum: number, item) => sum + membersOf(item), 0) +
      (Array.isArray(value) ? 0 : Object.keys(value).length)

/** A decimal times 10^800, as an integer. */
const scaled = (token: string): bigint => {
  const [, sign, whole, fraction = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(token)!
  const value = BigInt(`${whole}${fraction}`) * 10n ** BigInt(800 + Number(power) - fraction.length)
  return sign === "-" ? -value : value
}

/** Lines that end with a line feed alone: a carriage return is a blank of JSON. */
async function* linesOf(output: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  for await (const piece of output) {
    rest = Buffer.concat([rest, piece])
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.subarray(0, end).toString()
      rest = rest.subarray(end + 1)
    }
  }
}

describe("what a server behind the proxy says", () => {
  it("reaches the client byte for byte, and is recorded as it is or marked", async () => {
    const texts = [TWICE, ...fc.sample(result, { seed: 66, numRuns: runs(60, 1_500) })]
    const agent = await call("POST", "/agents", {
      name: "sayer",
      org_unit: "claims",
      owner_name: "Ada",
      owner_email: "ada@example.org"
    })
    const envelope = {
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: ["say"], source: "caller" } },
      effects: { say: "read" },
      rules: [{ id: "say", outcome: "allow", when: [] }],
      default: { outcome: "deny" }
    }
    const { id } = await call("POST", "/bound/envelopes", { name: "saying", agent_id: agent.id, envelope })
    await call("POST", `/bound/envelopes/${id}/publish`, {}, await world.token("governor", "*"))
    await call("POST", `/agents/${agent.id}/activate`, {})

    const child = spawn(process.execPath, [proxy, "--agent", "sayer", "--", process.execPath, server], {
      env: { ...process.env, FLYBALL_URL: world.url, FLYBALL_KEY: world.key, NODE_NO_WARNINGS: "1" },
      stdio: ["pipe", "pipe", "inherit"]
    })
    const lines = linesOf(child.stdout)
    for (const [at, json] of texts.entries()) {
      const params = { name: "say", arguments: { text: json } }
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: at, method: "tools/call", params })}\n`)
      assert.strictEqual((await lines.next()).value, `{"jsonrpc":"2.0","id":${at},"result":${json}}`)
    }
    child.stdin.end()
    await once(child, "exit")

    const marks = new Map<string, number>()
    const recorded: Array<string> = []
    for (let from = 0; recorded.length < texts.length;) {
      const page = await call("GET", `/chain/records?kind=decision.witnessed&from=${from}&limit=100`)
      assert.isNotEmpty(page, `${recorded.length} of ${texts.length}`)
      for (const { parts, seq } of page) {
        const part = await call("GET", `/chain/records/${seq}/parts/result`)
        const bytes = fromBase64(part.bytes)!
        const { c } = parts.find(({ name }: { readonly name: string }) => name === "result")
        assert.strictEqual(toHex(portableCrypto.commitment(fromBase64(part.salt)!, "result", bytes)), c)
        recorded.push(new TextDecoder().decode(bytes))
        from = seq + 1
      }
    }
    for (const [at, json] of texts.entries()) {
      const { digest, withheld } = JSON.parse(recorded[at]!)
      const mark = withheld ?? "none"
      marks.set(mark, (marks.get(mark) ?? 0) + 1)
      if (withheld === undefined) {
        assert.isTrue(isExact(json), json)
        assert.strictEqual(recorded[at], new TextDecoder().decode(canonicalBytes(JSON.parse(json))))
      } else if (withheld === "inexact_number" || withheld === "duplicate_name")
        assert.strictEqual(digest, `sha256:${toHex(portableCrypto.sha256(utf8(json)))}`)
    }
    for (const mark of ["none", "inexact_number", "duplicate_name", "too_deep", "lone_surrogate"])
      assert.isAbove(marks.get(mark) ?? 0, 0, JSON.stringify([...marks]))
  }, 300_000)
})
