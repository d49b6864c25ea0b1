/** The demo's page is golden: the same figures on every machine, whatever the keys and the day. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import { pageOf } from "./page.ts"
import { tellStory } from "./story.ts"

describe("the demo", () => {
  it("prints the golden page", async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-demo-test-"))
    try {
      const page = pageOf(await tellStory(folder, () => {}))
      assert.equal(
        page,
        readFileSync(fileURLToPath(new URL("../../fixtures/reports/demo.txt", import.meta.url)), "utf8")
      )
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
