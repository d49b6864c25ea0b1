/** The programs of docs/embed-then-operate.md, each in a process and a folder of its own. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, describe, it } from "vitest"

const root = fileURLToPath(new URL("..", import.meta.url))
const page = readFileSync(join(root, "docs/embed-then-operate.md"), "utf8")
const programs = [...page.matchAll(/```ts\n([\s\S]*?)```[\s\S]*?It prints:\n\n```text\n([\s\S]*?)```/g)]
const folder = mkdtempSync(join(tmpdir(), "flyball-operate-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("docs/embed-then-operate.md", () => {
  it("shows the output of each of its programs", () =>
    assert.deepEqual([programs.length, page.match(/^```ts$/gm)?.length], [3, 3]))

  for (const [place, [, code, prints]] of programs.entries())
    it(`shows program ${place + 1}, which prints the shown output`, async () => {
      const own = join(folder, String(place))
      mkdirSync(own)
      symlinkSync(join(root, "node_modules"), join(own, "node_modules"), "junction")
      writeFileSync(join(own, "example.ts"), code!)
      const { stderr, stdout } = await promisify(execFile)(process.execPath, ["example.ts"], { cwd: own })
      assert.deepEqual([stdout, stderr], [prints, ""])
    })
})
