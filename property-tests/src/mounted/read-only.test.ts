/** A governor that reads beside the one that writes. */
import { openGovernor } from "@flyball/core"
import { dataFolder } from "@flyball/node"
import { sqliteStorage } from "@flyball/storage-sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, it } from "vitest"

it("reads what the other one writes, refuses to write, and logs nothing", async () => {
  const dir = mkdtempSync(join(tmpdir(), "flyball-read-only-"))
  const file = join(dir, "flyball.db")
  const open = (readOnly: boolean, lines: Array<unknown>) =>
    openGovernor({
      storage: sqliteStorage({ file, readOnly }),
      keys: dataFolder({ dir }),
      log: (line) => void lines.push(line)
    })
  const lines: Array<unknown> = []
  const writer = await open(false, [])
  const reader = await open(true, lines)
  const { agent } = await writer.agents.register({ name: "clerk", org_unit: "support" })
  assert.strictEqual((await reader.agents.get(agent.id)).name, "clerk")
  assert.isTrue((await reader.check()).ok)
  const refused = await reader.agents
    .register({ name: "other", org_unit: "support" })
    .catch((cause: { readonly code: string }) => cause.code)
  assert.strictEqual(refused, "storage_unavailable")
  await reader.close()
  await writer.close()
  assert.deepStrictEqual(lines, [])
  rmSync(dir, { recursive: true })
})
