import { assert, describe, it } from "vitest"
import { readSettings } from "./settings.ts"

const env = { FLYBALL_URL: "http://flyball.test", FLYBALL_KEY: "k" }
const read = (line: string, more: object = {}): unknown => readSettings(line.split(" "), { ...env, ...more })

describe("the command line of the proxy", () => {
  it("names a command", () => {
    assert.deepStrictEqual(
      read("--agent bot --hold 20 --read-only a,b --redact token --signals amount -- npx -y @shop/server --port 1"),
      {
        url: "http://flyball.test",
        key: "k",
        spoolFolder: null,
        agent: "bot",
        toolServer: "server",
        holdMs: 20_000,
        readOnly: ["a", "b"],
        redact: ["token"],
        record: "spool",
        signals: ["amount"],
        pass: [],
        target: { kind: "stdio", command: "npx", args: ["-y", "@shop/server", "--port", "1"] }
      }
    )
  })

  it("names no argument where the list of signals is empty", () => {
    const argv = ["--agent", "bot", "--signals", "", "--pass", "shop/list, shop/find", "--", "server"]
    assert.deepInclude(readSettings(argv, env) as object, { signals: [], pass: ["shop/list", "shop/find"] })
    assert.deepInclude(read("--agent bot -- server") as object, { signals: null })
  })

  it("names an address", () => {
    const settings = read("--agent bot --upstream https://shop.test/mcp --listen [::1]:9000", { FLYBALL_SPOOL: "/s" })
    assert.deepInclude(read("--agent bot --record strict -- server") as object, { record: "strict" })
    assert.deepInclude(settings as object, {
      spoolFolder: "/s",
      toolServer: "shop.test",
      target: { kind: "http", upstream: "https://shop.test/mcp", host: "::1", port: 9_000 }
    })
  })

  it("is refused where something is missing or unknown", () => {
    for (const [line, sentence] of [
      ["-- server", "--agent is missing"],
      ["--agent bot", "no command follows --, and there is no --upstream"],
      ["--agent bot --", "no command follows --, and there is no --upstream"],
      ["--agent", "--agent needs a value"],
      ["--agent bot --agent rob -- server", "--agent is given twice"],
      ["--agent bot --fail-open yes -- server", "unknown option --fail-open"],
      ["--agent bot --hold 56 -- server", "--hold must be 0 to 55 seconds"],
      ["--agent bot --record never -- server", "--record must be spool or strict"],
      ["--agent bot --hold soon -- server", "--hold must be 0 to 55 seconds"],
      ["--agent bot --upstream http://a/mcp -- server", "give a command or --upstream, not both"],
      ["--agent bot --upstream file:///etc/passwd", "--upstream must be an http or https address"],
      ["--agent bot --listen 127.0.0.1:1 -- server", "--listen needs --upstream"],
      ["--agent bot --upstream http://a/mcp --listen 127.0.0.1:70000", "--listen must be HOST:PORT"]
    ] as const)
      assert.strictEqual(read(line), sentence, line)
    assert.match(String(read("--agent bot -- server", { FLYBALL_KEY: undefined })), /^FLYBALL_KEY/)
    assert.match(String(read("--agent bot -- server", { FLYBALL_URL: "flyball" })), /^FLYBALL_URL/)
    assert.isNull(read("--help"))
  })
})
