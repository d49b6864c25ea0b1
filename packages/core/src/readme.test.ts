import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"

const here = import.meta.dirname
const block = (readme: string, language: string): string => {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1]
  assert.isString(found, `README.md is expected to have a ${language} block`)
  return found!
}

describe("the README", () => {
  it("shows an example that runs in a process of its own and prints what it says", async () => {
    const readme = await readFile(join(here, "../README.md"), "utf8")
    // Inside the package, so that its imports resolve as a host's would.
    const folder = await mkdtemp(join(here, "../.readme-example-"))
    try {
      const file = join(folder, "example.ts")
      await writeFile(file, block(readme, "ts"))
      const { stderr, stdout } = await promisify(execFile)(process.execPath, [file])
      assert.strictEqual(stderr, "")
      assert.strictEqual(stdout, block(readme, "text"))
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
