/** The first real tool of a new user, governed by the defaults: arguments that no envelope mentions deny nothing. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ActionDenied, type Client, openClient } from "@flyball/client"
import { Client as McpClient } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "../../../apps/server/src/http/http-world.ts"

const proxy = fileURLToPath(new URL("../../../packages/client/src/adapters/mcp/proxy/main.ts", import.meta.url))
const filesystem = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"))

let world: World
let client: Client
beforeAll(async () => {
  world = await openWorld()
  client = openClient({ url: world.url, key: world.key })
})
afterAll(async () => {
  await client.close()
  await world.close()
})

const call = async (method: "GET" | "POST" | "PATCH", path: string, json?: unknown, token = world.admin) => {
  const got = await world.send(method, `/api/v1${path}`, { token, ...(json === undefined ? {} : { json }) })
  assert.isBelow(got.status, 300, `${path}: ${got.text}`)
  return got.json
}

/** An active agent under this envelope. */
const governed = async (name: string, envelope: object) => {
  const agent = await client.register({ name, owner_name: "Ada", owner_email: "ada@example.org" })
  const { id } = await call("POST", "/bound/envelopes", { name: `rules of ${name}`, agent_id: agent.id, envelope })
  const publish = async () => call("POST", `/bound/envelopes/${id}/publish`, {}, await world.token("governor", "*"))
  await publish()
  await call("PATCH", `/agents/${agent.id}`, { autonomy_tier: "L2" })
  await call("POST", `/agents/${agent.id}/activate`, {})
  const change = async (changed: object) => {
    await call("PATCH", `/bound/envelopes/${id}`, { envelope: changed })
    await publish()
  }
  return { agent, change }
}

const tool = (...values: ReadonlyArray<string>) => ({ type: "enum", values, source: "caller" })

describe("the first real tool", () => {
  it("runs behind the proxy without options, and a denial says the rule's reason", async () => {
    const folder = await mkdtemp(join(tmpdir(), "first-tool-"))
    await writeFile(join(folder, "hello.txt"), "Good morning.")
    const { agent } = await governed("files", {
      semantics: "envelope/1",
      signals: { tool: tool("read_text_file", "write_file") },
      effects: { read_text_file: "read", write_file: "write_reversible" },
      rules: [
        { id: "read", outcome: "allow", when: [{ signal: "tool", in: ["read_text_file"] }] },
        {
          id: "no_writing",
          outcome: "deny",
          reason: "This agent reads files and changes none.",
          when: [{ signal: "tool", in: ["write_file"] }]
        }
      ],
      default: { outcome: "deny" }
    })
    const mcp = new McpClient({ name: "first", version: "1.0.0" })
    const args = [proxy, "--agent", "files", "--", process.execPath, filesystem, folder]
    await mcp.connect(
      new StdioClientTransport({
        command: process.execPath,
        args,
        stderr: "ignore",
        env: { FLYBALL_URL: world.url, FLYBALL_KEY: world.key, NODE_NO_WARNINGS: "1" }
      })
    )
    try {
      const path = join(folder, "hello.txt")
      const read = await mcp.callTool({ name: "read_text_file", arguments: { path } })
      assert.deepInclude(read.content, { type: "text", text: "Good morning." })
      const written = await mcp.callTool({ name: "write_file", arguments: { path, content: "Some free text." } })
      assert.deepStrictEqual(written.content, [
        {
          type: "text",
          text: "The action write_file did not run: deny by no_writing. This agent reads files and changes none."
        }
      ])
      assert.strictEqual(await readFile(path, "utf8"), "Good morning.")
    } finally {
      await mcp.close()
      await rm(folder, { recursive: true })
    }
    const evaluations = await call("GET", `/bound/evaluations?agent_id=${agent.id}`)
    assert.deepStrictEqual(
      evaluations.map(({ signals }: { readonly signals: object }) => signals),
      [{ tool: "write_file" }, { tool: "read_text_file" }]
    )
  })

  it("is judged with the signals of the envelope that is in force by now", async () => {
    const envelope = (more: object, rules: ReadonlyArray<object> = []) => ({
      semantics: "envelope/1",
      signals: { tool: tool("pay"), ...more },
      effects: { pay: "write_reversible" },
      rules: [{ id: "pay", outcome: "allow", when: [] }, ...rules],
      default: { outcome: "deny" }
    })
    const { agent, change } = await governed("payer", envelope({}))
    const pay = (cents: number): Promise<string> =>
      agent
        .guard("pay", { cents, note: "Thank you.", tool: "another" }, () => "paid")
        .catch((cause: unknown) => (cause instanceof ActionDenied ? cause.message : String(cause)))
    assert.strictEqual(await pay(900), "paid")
    const cents = { type: "int", unit: "EUR/100", min: 0, max: 1_000, source: "caller", on_missing: 0 }
    const large = { id: "large", outcome: "deny", reason: "Too much.", when: [{ signal: "cents", gt: 500 }] }
    await change(envelope({ cents }, [large]))
    assert.strictEqual(await pay(900), "The action pay did not run: deny by large. Too much.")
    assert.strictEqual(await pay(400), "paid")
    // What a host states is sent as it is: a name that is spelled wrong denies, and is named.
    const stated = agent.guard({ name: "pay", signals: { tool: "pay", sents: 5 } }, {}, () => "paid")
    assert.match(String(await stated.catch(String)), /@invalid_signal\. `sents` is declared by no envelope in force/)
  })
})
