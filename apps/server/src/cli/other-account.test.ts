/** Commands that another account runs: what may not be seen is not called missing. */
import { spawn } from "node:child_process"
import { chmodSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"
import { mainFile } from "./testing/programs.ts"

/** The account `nobody`. The tests' own account, where it may not become another one, loses its rights instead. */
const OTHER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

let me: Operator
beforeAll(async () => {
  me = operator()
  assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
  chmodSync(me.folder, 0o755)
}, 60_000)
afterAll(() => me.leave())

const asAnother = (args: ReadonlyArray<string>): Promise<{ readonly status: number | null; readonly err: string }> => {
  const child = spawn(process.execPath, [mainFile, ...args], {
    cwd: me.folder,
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "ignore", "pipe"],
    ...OTHER
  })
  let err = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
  return new Promise((resolve) => child.on("close", (status) => resolve({ status, err })))
}

describe.skipIf(process.platform === "win32")("a command that another account runs", { timeout: 60_000 }, () => {
  it.each<[string, number, number]>([
    ["folder", 0o700, 0o600],
    ["key", 0o755, 0o600]
  ])("says that it may not read the key: the %s is closed", async (what, folder, key) => {
    const own = OTHER.uid === undefined
    chmodSync(me.path(".flyball", "signing.key"), own && what === "key" ? 0 : key)
    chmodSync(me.path(".flyball"), own && what === "folder" ? 0 : folder)
    try {
      for (const args of [["backup", "--out", "bk"], ["rotate-key"]]) {
        const { err, status } = await asAnother(args)
        assert.deepEqual(
          [status, err],
          [
            1,
            `flyball ${args[0]}: the signing key in ${me.path(".flyball")} cannot be read: permission ` +
              `denied (EACCES). Run this command as the account that the server runs as.\n`
          ]
        )
      }
    } finally {
      chmodSync(me.path(".flyball"), 0o700)
      chmodSync(me.path(".flyball", "signing.key"), 0o600)
    }
  })
})
