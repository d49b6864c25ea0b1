/** The programs of examples/agents, each started as its command does: they print what their README says. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { agentExamples, runExample } from "./agent-examples.ts"

const folder = fileURLToPath(new URL("../examples/agents", import.meta.url))
const examples = agentExamples(folder)

describe("the agents of the examples", () => {
  it("are all in the table of their page", () => {
    const page = readFileSync(`${folder}/README.md`, "utf8")
    for (const { name } of examples) assert.include(page, `| \`npm run ${name}\` |`)
  })

  it.each(examples)("$name runs offline, and prints the output of its page", async ({ file, prints }) => {
    assert.deepStrictEqual(await runExample(folder, file), { status: 0, out: prints, err: "" })
  })
})
