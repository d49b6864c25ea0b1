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

describe("the README of webhooks", () => {
  it("has an example that runs in its own process, without a server or Effect", async () => {
    const readme = await readFile(join(here, "README.md"), "utf8")
    // Inside the package, so that its imports resolve as a host's would.
    const folder = await mkdtemp(join(here, "../../../core/.readme-webhooks-"))
    try {
      const file = join(folder, "example.ts")
      // Any module of Effect that is loaded would be reported at the end.
      await writeFile(
        file,
        `import { registerHooks } from "node:module"\nregisterHooks({ resolve: (name, context, next) => { if ` +
          `(name === "effect" || name.startsWith("effect/")) throw new Error("Effect was loaded"); return ` +
          `next(name, context) } })\nawait import("./inner.ts")\n`
      )
      await writeFile(join(folder, "inner.ts"), block(readme, "ts"))
      const { stderr, stdout } = await promisify(execFile)(process.execPath, [file])
      assert.strictEqual(stderr, "")
      assert.strictEqual(stdout, block(readme, "text"))
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
