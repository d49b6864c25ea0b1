import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { mcpAddressDigest } from "@flyball/evidence"
import { Client as ClientV2 } from "@modelcontextprotocol/client"
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js"
import { afterEach, assert, describe, it } from "vitest"
import { until } from "../../testing/governed-agent.ts"
import { serveService } from "../../testing/serve-service.ts"

const proxy = fileURLToPath(new URL("main.ts", import.meta.url))
const shop = fileURLToPath(new URL("../testing/shop-server.ts", import.meta.url))

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end()
})

/** The command line of the proxy in front of the shop. */
const argsFor = (options: ReadonlyArray<string> = [], server: ReadonlyArray<string> = [process.execPath, shop]) => [
  proxy,
  "--agent",
  "bot",
  "--server",
  "shop",
  ...options,
  "--",
  ...server
]

const service = async () => {
  const made = await serveService()
  endings.push(made.close)
  return made
}

/** The proxy as a process whose streams a test reads and writes. */
const start = async (options: {
  readonly url: string
  readonly key?: string
  readonly options?: ReadonlyArray<string>
  readonly server?: ReadonlyArray<string>
}) => {
  const child: ChildProcessWithoutNullStreams = spawn(process.execPath, argsFor(options.options, options.server), {
    env: { ...process.env, FLYBALL_URL: options.url, FLYBALL_KEY: options.key ?? "k", NODE_NO_WARNINGS: "1" }
  })
  endings.push(async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await once(child, "exit")
  })
  const said = { out: "", err: "" }
  // A piece may end within a letter.
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (said.out += piece))
  child.stderr.on("data", (piece: Buffer) => (said.err += piece.toString()))
  const answers = (): ReadonlyArray<{ readonly id: unknown; readonly result?: never; readonly error?: never }> =>
    said.out
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line))
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  /** Sends a request, and resolves with its answer. */
  let last = 0
  // oxlint-disable-next-line no-explicit-any
  const ask = async (method: string, params: object): Promise<any> => {
    const id = ++last
    send({ id, method, params })
    await until(() => answers().some((one) => one.id === id))
    return answers().find((one) => one.id === id)
  }
  const greet = async (): Promise<void> => {
    const clientInfo = { name: "test", version: "1" }
    await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo })
    send({ method: "notifications/initialized" })
  }
  return { child, said, answers, send, ask, greet }
}

const call = (name: string, args: { readonly [name: string]: unknown } = {}) => ({ name, arguments: args })

describe("the proxy on stdio", () => {
  it("governs a client of the SDK 1, and what was recorded outlives it", async () => {
    const { decisions, script, url } = await service()
    script.verdict = ({ signals }) => (Number(signals["amount"]) > 100 ? "deny" : "allow")
    const client = new ClientV1({ name: "test", version: "1" })
    const env = { ...(process.env as Record<string, string>), FLYBALL_URL: url, FLYBALL_KEY: "k" }
    await client.connect(new StdioV1({ command: process.execPath, args: argsFor(), env, stderr: "ignore" }))
    const listed = await client.listTools()
    const small = await client.callTool(call("refund", { amount: 5, token: "hunter2" }))
    const large = await client.callTool(call("refund", { amount: 900 }))
    await client.close()
    assert.lengthOf(listed.tools, 5)
    assert.include(JSON.stringify(small.content), "refunded 5")
    assert.isTrue(large.isError)
    assert.include(JSON.stringify(large.content), "deny by rule-deny")
    assert.deepStrictEqual(
      decisions().map(({ action, kind, status, tool_server }) => [action, kind, status, tool_server]),
      [
        ["tools/list", "tool_list", "ok", "shop"],
        ["refund", "tool_call", "ok", "shop"],
        ["refund", "tool_call", "denied", "shop"]
      ]
    )
    const address_digest = `sha256:${mcpAddressDigest([process.execPath, shop])}`
    assert.deepInclude(decisions()[0].labels.mcp, { transport: "stdio", address_digest })
  })

  it("governs a client of the SDK 2", async () => {
    const { script, url } = await service()
    script.verdict = ({ action }) => (action === "refund" ? "deny" : "allow")
    const client = new ClientV2({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } })
    const env = { ...(process.env as Record<string, string>), FLYBALL_URL: url, FLYBALL_KEY: "k" }
    const transport = new StdioV2({ command: process.execPath, args: argsFor(), env, stderr: "ignore" })
    await client.connect(transport)
    endings.push(() => client.close())
    assert.isTrue((await client.callTool(call("refund", { amount: 5 }))).isError)
    assert.include(JSON.stringify(await client.callTool(call("echo", { text: "hi" }))), "hi")
  })

  it("sends the arguments that the envelope reads, and none that is redacted", async () => {
    const { seen, url } = await service()
    const args = { amount: 5, token: "hunter2" }
    const signals = async (options: ReadonlyArray<string>) => {
      const { ask, greet } = await start({ url, options: [...options, "--redact", "token"] })
      await greet()
      await ask("tools/call", call("refund", args))
      return seen.filter(({ path }) => path.endsWith("/evaluations")).at(-1)!.json.signals
    }
    assert.deepStrictEqual(await signals([]), { tool: "refund", amount: 5 })
    assert.deepStrictEqual(await signals(["--signals", "token"]), { tool: "refund" })
    assert.deepStrictEqual(await signals(["--signals", "amount,token"]), { tool: "refund", amount: 5 })
  }, 30_000)

  it("says that it mediated with a gateway's key alone", async () => {
    const { decisions, script, url } = await service()
    const captured = async () => {
      const { ask, child, greet } = await start({ url })
      await greet()
      await ask("tools/call", call("refund", { amount: 5 }))
      child.stdin.end()
      await once(child, "exit")
      return decisions().map(({ action, capture }) => `${action} ${capture}`)
    }
    assert.deepStrictEqual(await captured(), ["refund framework_hook"])
    script.isGateway = true
    assert.deepStrictEqual((await captured()).slice(1), ["flyball-mcp-proxy/start mediated", "refund mediated"])
  }, 30_000)

  it("denies each call while the service is away or refuses the key, and continues when it is there", async () => {
    const { script, url } = await service()
    script.isAway = true
    const { ask, greet, said } = await start({ url })
    await greet()
    const refused = await ask("tools/call", call("refund", { amount: 5 }))
    assert.isTrue(refused.result.isError)
    assert.match(refused.result.content[0].text, /^The call did not run: The agent could not be looked up/)
    script.isAway = false
    assert.include(JSON.stringify(await ask("tools/call", call("refund", { amount: 6 }))), "refunded 6")
    assert.deepStrictEqual(said.err.match(/ran refund \d/g), ["ran refund 6"])

    const other = await start({ url, key: "wrong" })
    await other.greet()
    assert.match(
      JSON.stringify(await other.ask("tools/call", call("refund", { amount: 7 }))),
      /did not run.*status 401/
    )
    assert.notInclude(other.said.err, "ran refund")
  })

  it("answers pending within the hold, and the same call continues later", async () => {
    const { resolve, reviews, script, url } = await service()
    script.verdict = () => "require_review"
    const { ask, greet, said } = await start({ url, options: ["--hold", "0"] })
    await greet()
    assert.match((await ask("tools/call", call("refund", { amount: 5 }))).result.content[0].text, /^pending rev_1: /)
    resolve("rev_1", "approve")
    assert.match((await ask("tools/call", call("refund", { amount: 6 }))).result.content[0].text, /^pending rev_2: /)
    const state = { ...call("refund", { amount: 7 }), requestState: "rev_1", _meta: { approval_id: "rev_1" } }
    assert.match((await ask("tools/call", state)).result.content[0].text, /^pending rev_3: /)
    assert.notInclude(said.err, "ran refund")
    assert.include(JSON.stringify(await ask("tools/call", call("refund", { amount: 5 }))), "refunded 5")
    assert.strictEqual(reviews.size, 3)
  })

  it("cancels what runs at a halt, and starts nothing after it", async () => {
    const { decisions, halt, url } = await service()
    const { ask, child, greet, said } = await start({ url })
    await greet()
    const running = ask("tools/call", call("slow"))
    await until(() => said.err.includes("ran slow"))
    halt()
    const halted = await running
    assert.match(
      halted.result.content[0].text,
      /halted while the action slow ran\. .*known\. Why it was halted: Pays twice\./
    )
    await until(() => said.err.includes("slow was cancelled"))
    assert.match(
      (await ask("tools/call", call("refund", { amount: 5 }))).result.content[0].text,
      /halt by @killed\. .*: Pays twice\./
    )
    assert.notInclude(said.err, "ran refund")
    child.stdin.end()
    await once(child, "exit")
    assert.deepStrictEqual(
      decisions().map(({ action, status }) => `${action} ${status}`),
      ["slow error", "refund denied"]
    )
  }, 30_000)

  it("passes half lines and large messages, and answers or drops what is no message", async () => {
    const { url } = await service()
    const noisy = `process.stdout.write("Server starting\\n");await import(${JSON.stringify(shop)})`
    const server = [process.execPath, "--input-type=module", "-e", noisy]
    const { ask, child, greet, said } = await start({ url, server })
    await until(() => said.err.includes("the server sent what is no MCP message; it was dropped"))
    await greet()
    assert.notInclude(said.out, "Server starting")
    const text = "é".repeat(2_000_000)
    const params = call("echo", { text })
    const line = `${JSON.stringify({ jsonrpc: "2.0", id: "big", method: "tools/call", params })}\n`
    const bytes = Buffer.from(line)
    for (const [from, to] of [
      [0, 5],
      [5, 100],
      [100, 1_000_001],
      [1_000_001, bytes.length]
    ] as const)
      child.stdin.write(bytes.subarray(from, to))
    await until(() => said.out.includes('"id":"big"') && said.out.endsWith("\n"))
    assert.include(said.out, text)
    said.out = ""
    child.stdin.write(
      '{"jsonrpc":"2.0",\n\n[{"jsonrpc":"2.0","id":1,"method":"tools/call"}]\n{"jsonrpc":"2.0","id":9}\n'
    )
    child.stdin.write('{"jsonrpc":"2.0","id":77,"method":"ping","Method":"tools/call","params":{"name":"refund"}}\n')
    await until(() => said.out.split("\n").length === 5)
    const codes = said.out
      .split("\n")
      .slice(0, -1)
      .map((one) => JSON.parse(one))
      .map(({ error, id }: { error?: { code: number }; id: unknown }) => [id, error?.code])
    assert.sameDeepMembers(codes, [
      [null, -32_700],
      [null, -32_600],
      [9, -32_600],
      [77, undefined]
    ])
    assert.match(
      JSON.stringify(await ask("tools/call", call("refund", { amount: 2 ** 60 }))),
      /cannot be carried exactly/
    )
    assert.notInclude(said.err, "ran refund")
  })

  it("passes the child's output on stderr and its exit status, and keeps our variables from it", async () => {
    const { url } = await service()
    const { ask, child, greet, send, said } = await start({ url })
    await greet()
    const names = (await ask("tools/call", call("environment"))).result.content[0].text.split(",")
    assert.include(names, "PATH")
    assert.lengthOf(
      names.filter((name: string) => name.startsWith("FLYBALL")),
      0
    )
    await ask("tools/call", call("refund", { amount: 5 }))
    assert.include(said.err, "ran refund 5\n")
    send({ id: "last", method: "tools/call", params: call("leave") })
    assert.deepStrictEqual(await once(child, "exit"), [7, null])

    const gone = await start({ url, server: ["/nonexistent/server"] })
    assert.deepStrictEqual(await once(gone.child, "exit"), [127, null])
    assert.include(gone.said.err, "could not be started")
  })

  it("ends with its client, and passes a signal on", async () => {
    const { url } = await service()
    const first = await start({ url })
    await first.greet()
    first.child.stdin.end()
    assert.deepStrictEqual(await once(first.child, "exit"), [0, null])
    const second = await start({ url })
    await second.greet()
    second.child.kill("SIGTERM")
    assert.deepStrictEqual(await once(second.child, "exit"), [143, null])
  })

  it("starts nothing without settings", async () => {
    const { child, said } = await start({ url: "nowhere" })
    assert.deepStrictEqual(await once(child, "exit"), [64, null])
    assert.include(said.err, "FLYBALL_URL must be the address")
  })
})
