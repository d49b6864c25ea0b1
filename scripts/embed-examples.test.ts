/** The services that embed the library, run from the workspace as their READMEs say; Nest's runs in test:packages. */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, describe, it } from "vitest"
import { tryExample } from "./publish/try-example.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "flyball-embed-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.each(["embed-express", "embed-fastify"])("examples/%s", (name) => {
  it("continues a start that a typing error ended, and governs its refunds", async () => {
    const place = join(folder, name)
    cpSync(join(root, "examples", name), place, { recursive: true })
    symlinkSync(join(root, "node_modules"), join(place, "node_modules"), "junction")
    const governance = join(place, "governance.mjs")
    const text = readFileSync(governance, "utf8")
    writeFileSync(governance, text.replace('effects: { refund: "money" }', 'effects: { refund: "mony" }'))
    const broken = spawnSync(process.execPath, ["server.mjs", "0"], { cwd: place, encoding: "utf8" })
    assert.strictEqual(broken.status, 1)
    assert.include(broken.stderr, "envelope_not_publishable")
    writeFileSync(governance, text)
    await tryExample(place, "server.mjs", join(root, "apps/verify/src/main.ts"))
  })
})
