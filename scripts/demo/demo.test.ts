/** The demo's page is golden: the same figures on every machine, whatever the keys and the day. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

describe("the demo", () => {
  it("prints the golden page, and leaves a pack that the printed command verifies", { timeout: 300_000 }, () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-demo-test-"))
    try {
      // The pack is left in the working folder; the command is one of the project's.
      symlinkSync(at("../../node_modules"), join(folder, "node_modules"))
      const demo = spawnSync(process.execPath, [at("main.ts")], { cwd: folder, encoding: "utf8" })
      assert.strictEqual(demo.status, 0, demo.stderr)
      const [page, command = ""] = demo.stdout.split("The pack is kept as demo.evp. This verifies it:\n\n  ")
      const files = "Two files for a browser are kept: demo-fairness.html and demo-routes.svg.\n"
      assert.strictEqual(page, `\n${readFileSync(at("../../fixtures/reports/demo.txt"), "utf8")}\n${files}`)
      for (const file of ["demo-fairness.html", "demo-routes.svg"])
        assert.match(readFileSync(join(folder, file), "utf8"), /<svg/)
      const { status, stdout } = spawnSync("bash", ["-c", command], { cwd: folder, encoding: "utf8" })
      assert.strictEqual(status, 0, stdout)
      assert.include(stdout, "GOOD. ")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
