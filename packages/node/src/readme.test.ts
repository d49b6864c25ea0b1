import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, test } from "vitest"

const here = import.meta.dirname
/** The first example, and those that say what they print. */
const examples = async (): Promise<ReadonlyArray<{ readonly code: string; readonly prints: string | undefined }>> => {
  const readme = await readFile(join(here, "../README.md"), "utf8")
  return [...readme.matchAll(/```ts\n([\s\S]*?)```\n(?:\nIt prints:\n\n```text\n([\s\S]*?)```)?/g)]
    .map(([, code, prints]) => ({ code: code!, prints }))
    .filter(({ prints }, place) => place === 0 || prints !== undefined)
}

describe("the README", () => {
  test("has an example of the data folder, and one of webhooks", async () => {
    expect(
      (await examples()).map(({ code }) => [code.includes("dataFolderVkey"), code.includes("pinnedWebhooks")])
    ).toEqual([
      [true, false],
      [false, true]
    ])
  })

  test.each([0, 1])(
    "shows example %i, which runs in a process of its own, again over what it left, and prints what it says",
    async (place) => {
      const { code, prints } = (await examples())[place]!
      // Inside the package, so that its imports resolve as a host's would.
      const folder = await mkdtemp(join(here, "../.readme-example-"))
      try {
        const file = join(folder, "example.ts")
        await writeFile(file, code)
        const said: Array<string> = []
        for (const _start of [1, 2]) {
          const { stderr, stdout } = await promisify(execFile)(process.execPath, [file], { cwd: folder })
          expect(stderr).toBe("")
          if (prints === undefined)
            expect(stdout).toMatch(/^flyball\.example\/acme\/prod\+[0-9a-f]{8}\+[0-9A-Za-z+/]{44}\n$/)
          else expect(stdout).toBe(prints)
          said.push(stdout)
        }
        expect(said[1]).toBe(said[0])
      } finally {
        await rm(folder, { recursive: true })
      }
    }
  )
})
