/** What the README tells a stranger to type is typed here: the shell blocks against a real server, the embedding example as it stands. */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { startServer } from "./demo/server.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const readme = readFileSync(join(root, "README.md"), "utf8")
const folder = mkdtempSync(join(tmpdir(), "flyball-readme-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const blocks = (language: string): ReadonlyArray<string> => [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map((match) => match[1]!)

const run = (program: string, args: ReadonlyArray<string>, environment: { readonly [name: string]: string }): Promise<{ readonly status: number; readonly output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env: { ...process.env, ...environment }, stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    child.stdout.on("data", (chunk) => (output += String(chunk)))
    child.stderr.on("data", (chunk) => (output += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status: status ?? -1, output }))
  })

describe("the README", () => {
  it("starts with two commands and npm start, which CI and the other tests run", () => {
    assert.deepEqual(blocks("sh").filter((block) => block.startsWith("npm ")).map((block) => block.trim()), ["npm ci && npm run demo", "npm ci && npm test", "npm start"])
  })

  it("says what works at a running server", async () => {
    const server = await startServer(folder)
    try {
      const script = blocks("sh").filter((block) => !block.startsWith("npm ")).join("\n").replaceAll("http://127.0.0.1:8787", server.address).replaceAll("evidence.evp", join(folder, "evidence.evp")).replaceAll("backup-monday", join(folder, "backup-monday"))
      const { output, status } = await run("bash", ["-euo", "pipefail", "-c", script], { FLYBALL_DATA_DIR: folder, FLYBALL_DATABASE_URL: `sqlite:${folder}/flyball.db`, FLYBALL_ORIGIN: "flyball.example/demo" })
      assert.equal(status, 0, output)
      assert.include(output, `"client_ref":"run-1/step-1"`)
      assert.include(output, "GOOD. Everything that was asked for holds.")
    } finally {
      await server.stop()
    }
  })

  it("embeds in ten lines", async () => {
    const [example] = blocks("ts")
    assert.isAtMost(example!.trim().split("\n").length, 10)
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction")
    const file = join(folder, "example.ts")
    writeFileSync(file, example!.replace("decisions.db", join(folder, "decisions.db")).replace("./keys", join(folder, "keys")))
    const { output, status } = await run(process.execPath, [file], {})
    assert.equal(status, 0, output)
    assert.equal(output.trim(), "durable and sealed as record 2")
  })
})
