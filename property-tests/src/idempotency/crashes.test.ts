/** A process that is killed at the commits of a request leaves effect and answer, or neither. Property P6, in small. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, it } from "vitest"
import { crashes } from "./crashes.ts"

const folder = mkdtempSync(join(tmpdir(), "flyball-crashes-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Each kill starts two processes.
it("SIGKILL before and after each commit: once, whatever comes again", { timeout: 300_000 }, async () => {
  const found = await crashes({
    at: { sqlite: join(folder, "store.db") },
    dir: join(folder, "keys"),
    acts: ["order", "agent"],
    isOne: (statement) => /^commit .*idempotency #/.test(statement),
    moments: () => ["before", "after"]
  })
  const outcomes = (act: string) => new Set(found.filter((one) => one.act === act).map(({ outcome }) => outcome))
  assert.deepStrictEqual(outcomes("order"), new Set(["neither", "both"]))
  assert.deepStrictEqual(outcomes("agent"), new Set(["neither", "effect, answer lost", "both"]))
})
