import { execFile } from "node:child_process"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"

const here = import.meta.dirname

describe("the README", () => {
  it("begins with an example that runs twice in its own process and prints the documented output", async () => {
    const [, code, prints] =
      /^# .*\n\n[^`\n][^\n]*\n\n```ts\n([\s\S]*?)```\n\nIt prints:\n\n```text\n([\s\S]*?)```/.exec(
        await readFile(join(here, "../README.md"), "utf8")
      )!
    // Inside the package, so that its imports resolve as a host's would.
    const folder = await mkdtemp(join(here, "../.readme-example-"))
    try {
      const file = join(folder, "example.ts")
      await writeFile(file, code!)
      for (const _start of [1, 2]) {
        const { stderr, stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder })
        assert.strictEqual(stderr, "")
        assert.strictEqual(stdout, prints)
      }
      assert.includeMembers(await readdir(folder), [".flyball", "flyball.db"])
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
