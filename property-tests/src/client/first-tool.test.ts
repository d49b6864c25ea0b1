/** The first real tool of a new user, governed by the defaults: arguments that no envelope mentions deny nothing. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ActionDenied, type Client, openClient } from "@flyball/client"
import { openSmtpMailer } from "@flyball/node"
import { Client as McpClient } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "../../../apps/server/src/http/http-world.ts"
import { startMailServer } from "../../../apps/server/src/webhook-tests/testing/mail-server.ts"

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

/** A client of the real file server on a folder, behind the proxy of an agent. */
const behindProxy = async (agent: string, folder: string): Promise<McpClient> => {
  const mcp = new McpClient({ name: agent, version: "1.0.0" })
  await mcp.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [proxy, "--agent", agent, "--", process.execPath, filesystem, folder],
      stderr: "ignore",
      env: { FLYBALL_URL: world.url, FLYBALL_KEY: world.key, NODE_NO_WARNINGS: "1" }
    })
  )
  return mcp
}

const tool = (...values: ReadonlyArray<string>) => ({ type: "enum", values, source: "caller" })

/** Ways out of a folder, behind its name; what a text means to a tool, nobody has to know. */
const spellings = [
  "/../q3.csv",
  "/./../q3.csv",
  "/a/../../q3.csv",
  "//../q3.csv",
  "/..//q3.csv",
  "/%2e%2e/q3.csv",
  "/..%2fq3.csv",
  "/..\\q3.csv",
  "/\u2024\u2024/q3.csv",
  "/..\u0000/q3.csv",
  "-old/q3.csv"
]

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
    const mcp = await behindProxy("files", folder)
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

  it("reads below its root and writes below reports, in no spelling elsewhere", async () => {
    const root = await mkdtemp(join(tmpdir(), "files-recipe-"))
    await mkdir(join(root, "reports"))
    await writeFile(join(root, "hello.txt"), "Good morning.")
    const recipe = new URL("../../../examples/envelopes/files.json", import.meta.url)
    const { envelope } = JSON.parse((await readFile(recipe, "utf8")).replaceAll("/srv/files", root))
    await governed("reports", envelope)
    const mcp = await behindProxy("reports", root)
    const ran = async (name: string, args: { readonly [name: string]: unknown }) => {
      const { content } = await mcp.callTool({ name, arguments: args })
      return !JSON.stringify(content).includes("did not run")
    }
    try {
      const paths = [`${root}/hello.txt`, `${root}/reports/./../hello.txt`]
      assert.isTrue(await ran("read_text_file", { path: paths[1] }))
      assert.isTrue(await ran("read_multiple_files", { paths }))
      assert.isTrue(await ran("write_file", { path: `${root}/reports/q3.csv`, content: "1" }))
      for (const path of spellings.map((spelling) => `${root}/reports${spelling}`).concat("q4.csv", `${root}/`))
        assert.isFalse(await ran("write_file", { path, content: "1" }), path)
      for (const path of ["/etc/hostname", `${root}-else/a`, `${root}/../etc`, 5, `${root}/%2e%2e/a`]) {
        assert.isFalse(await ran("read_text_file", { path }), String(path))
        assert.isFalse(await ran("read_multiple_files", { paths: [...paths, path] }), String(path))
      }
      assert.deepStrictEqual(await readdir(root, { recursive: true }), ["hello.txt", "reports", "reports/q3.csv"])
    } finally {
      await mcp.close()
      await rm(root, { recursive: true })
    }
  })

  it("sends letters within one domain, and none that names a stranger", async () => {
    const relay = await startMailServer()
    const mailer = openSmtpMailer({ url: relay.url, from: "clerk@example.com" })
    const recipe = new URL("../../../examples/envelopes/inside-outside.json", import.meta.url)
    const { envelope } = JSON.parse(await readFile(recipe, "utf8"))
    // What a clerk at L2 does by itself: its class in the recipe needs L3.
    const { agent } = await governed("clerk", { ...envelope, effects: { send_mail: "write_reversible" } })
    let sent = 0
    const mail = (...to: ReadonlyArray<string>) =>
      agent
        .guard("send_mail", { to }, async () => {
          for (const one of to)
            await mailer.send({ to: one, subject: "Hello", text: "Good morning.", messageId: `${sent++}@example.com` })
          return "sent"
        })
        .catch((cause: unknown) => (cause instanceof ActionDenied ? "denied" : String(cause)))
    try {
      assert.strictEqual(await mail("anna@example.com", "ben@mail.example.com"), "sent")
      for (const stranger of ["eve@evil.test", "eve@example.com.evil.test", "anna@example.com, eve@evil.test", "eve"])
        assert.strictEqual(await mail("anna@example.com", stranger), "denied", stranger)
      assert.deepStrictEqual(
        relay.letters.flatMap(({ to }) => to),
        ["anna@example.com", "ben@mail.example.com"]
      )
    } finally {
      await relay.close()
    }
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
