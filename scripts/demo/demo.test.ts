/** The demo's page is golden: the same figures on every machine, whatever the keys and the day. */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { keepPack } from "./keep-pack.ts"
import { pageOf } from "./page.ts"
import { tellStory } from "./story.ts"

describe("the demo", () => {
  it("prints the golden page, and leaves a pack that the printed command verifies", async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-demo-test-"))
    try {
      const page = pageOf(await tellStory(folder, () => {}))
      assert.equal(
        page,
        readFileSync(fileURLToPath(new URL("../../fixtures/reports/demo.txt", import.meta.url)), "utf8")
      )
      const command = keepPack(folder, join(folder, "demo.evp"))
      const cwd = fileURLToPath(new URL("../..", import.meta.url))
      const { status, stdout } = spawnSync("bash", ["-c", command], { cwd, encoding: "utf8" })
      assert.equal(status, 0, stdout)
      assert.include(stdout, "GOOD. ")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    // A dozen programs one after another; on a machine that does other work, more than the usual minute.
  }, 120_000)
})
