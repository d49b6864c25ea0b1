/** Programs of the READMEs of the client and its adapters, run as a reader copies them, against a real server. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { adapterReadmes, refundModel } from "./adapter-readmes.ts"
import { openWorld, type World } from "../../../apps/server/src/http/http-world.ts"
import { prepareReadme, readmeAgent, readmeOutput, readmeProgram, type Sender } from "./readme-program.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-client-readme-"))
let world: World
beforeAll(async () => void (world = await openWorld()))
afterAll(async () => {
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

const senderOf =
  (token: string): Sender =>
  async (method, path, json) => {
    const got = await world.send(method, `/api/v1${path}`, { token, json })
    assert.isBelow(got.status, 300, `${path}: ${got.text}`)
    return got.json
  }

/** Runs a program of the folder; `more` are variables of its environment. */
const run = (
  file: string,
  more: { readonly [name: string]: string } = {}
): Promise<{ readonly status: number | null; readonly out: string; readonly err: string }> =>
  new Promise((resolve, reject) => {
    const env = { PATH: process.env["PATH"], FLYBALL_URL: world.url, FLYBALL_KEY: world.key, ...more }
    const child = spawn(process.execPath, [file], { cwd: folder, env })
    const [out, err]: [Array<Buffer>, Array<Buffer>] = [[], []]
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
    child.on("error", reject)
    child.on("close", (status) =>
      resolve({ status, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() })
    )
  })

describe("the README of the client", () => {
  it("has a complete program of under 30 lines", () => assert.isBelow(readmeProgram.trimEnd().split("\n").length, 30))

  it("shows its program's output, and the server holds its records without the card number", async () => {
    await prepareReadme(senderOf(world.admin), senderOf(await world.token("governor", "*")))
    symlinkSync(fileURLToPath(new URL("../../../node_modules", import.meta.url)), join(folder, "node_modules"))
    writeFileSync(join(folder, "program.ts"), readmeProgram)
    const { err, out, status } = await run("program.ts")
    assert.deepStrictEqual({ status, out }, { status: 0, out: readmeOutput }, err)
    const [agent] = (await world.send("GET", `/api/v1/agents?name=${readmeAgent}`, { token: world.admin })).json
    const decisions = await world.send("GET", `/api/v1/agents/${agent.id}/decisions`, { token: world.admin })
    assert.deepStrictEqual(
      decisions.json.map((one: { status: string }) => one.status),
      ["denied", "ok"]
    )
    const evaluations = await world.send("GET", `/api/v1/bound/evaluations?agent_id=${agent.id}`, {
      token: world.admin
    })
    assert.strictEqual(evaluations.status, 200)
    assert.notInclude(decisions.text + evaluations.text, "4000 0000 0000 0002")
  })
})

describe.each(adapterReadmes)("the README of $name", ({ files, prints }) => {
  it("shows the output of its program", async () => {
    for (const file of files) writeFileSync(join(folder, file.name), file.text)
    const model = await refundModel(folder)
    const { err, out, status } = await run("program.ts", model.environment)
    await model.close()
    assert.deepStrictEqual({ status, out }, { status: 0, out: prints }, err)
    const decisions = await world.send("GET", "/api/v1/bound/evaluations", { token: world.admin })
    assert.notInclude(decisions.text, "4000 0000 0000 0002")
  }, 60_000)
})
