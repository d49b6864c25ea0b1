/** The programs of examples/agents, each started by its command: they print what their README says. */
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const folder = fileURLToPath(new URL("../examples/agents", import.meta.url))
const page = readFileSync(`${folder}/README.md`, "utf8")
const { scripts } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as {
  readonly scripts: { readonly [name: string]: string }
}

/** The output of a command as the page shows it. */
const printed = (name: string): string | undefined =>
  new RegExp(`^\`npm run ${name}\` prints[^\`]*:\n\n\`\`\`text\n([\\s\\S]*?)^\`\`\``, "m").exec(page)?.[1]

const run = (
  command: string
): Promise<{ readonly status: number | null; readonly out: string; readonly err: string }> =>
  new Promise((resolve, reject) => {
    const [, file] = /^node (\S+)$/.exec(command)!
    const child = spawn(process.execPath, [file!], { cwd: folder })
    let out = ""
    let err = ""
    child.stdout.on("data", (chunk) => (out += String(chunk)))
    child.stderr.on("data", (chunk) => (err += String(chunk)))
    child.on("error", reject)
    child.on("close", (status) => resolve({ status, out, err }))
  })

describe("the agents of the examples", () => {
  it("are each in the table of their page", () => {
    for (const name of Object.keys(scripts)) assert.include(page, `| \`npm run ${name}\` |`)
  })

  it.each(Object.entries(scripts))("%s runs offline, and prints what the page says", async (name, command) => {
    const { err, out, status } = await run(command)
    assert.deepStrictEqual({ status, out, err }, { status: 0, out: printed(name), err: "" })
  })
})
