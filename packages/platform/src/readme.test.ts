import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, it } from "vitest"

const here = import.meta.dirname

it("the example of the README runs in a process of its own and prints what it says", async () => {
  const [, code] = /```ts\n([\s\S]*?)```/.exec(await readFile(join(here, "../README.md"), "utf8"))!
  // Inside the package, so that its imports resolve as a host's would.
  const folder = await mkdtemp(join(here, "../.readme-example-"))
  try {
    await writeFile(join(folder, "example.ts"), code!)
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "example.ts")], { cwd: folder })
    assert.strictEqual(stdout.trim(), /^\/\/ prints: (.*)$/m.exec(code!)![1])
  } finally {
    await rm(folder, { recursive: true })
  }
})
