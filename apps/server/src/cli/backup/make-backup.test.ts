/** A backup beside a rotation of the signing key. */
import { readdirSync } from "node:fs"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { readSettings, type Settings } from "../../settings/read.ts"
import { operator, type Operator, starterFile, type Variables } from "../testing/commands.ts"
import { makeBackup } from "./make-backup.ts"

let me: Operator
const database = givenDatabase({ beforeAll, afterAll })
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

const settingsOf = (variables: Variables): Settings => {
  const read = readSettings(variables, () => "")
  if (!read.ok) throw new Error(read.problems.join())
  return read.settings
}

describe.each(["sqlite", "postgres"] as const)(
  "a backup on %s whose copy is from before a rotation",
  { timeout: 120_000 },
  (kind) => {
    const variables = (): Variables => ({
      FLYBALL_DATA_DIR: me.path(kind),
      FLYBALL_DATABASE_URL: kind === "sqlite" ? `sqlite:${me.path(kind, "flyball.db")}` : database.url
    })
    const rotate = async (): Promise<void> => {
      const { err, status } = await me.flyball(["rotate-key"], variables())
      assert.strictEqual(status, 0, err)
    }
    const backedUp = (out: string, copied: () => Promise<void>) => {
      const settings = settingsOf(variables())
      if (settings.database.kind === "memory") throw new Error("in memory")
      return makeBackup(settings, settings.database, me.path(out), new Date(), copied)
    }

    it("copies again, and fits the new key", async () => {
      assert.strictEqual((await me.flyball(["import", starterFile], variables())).status, 0)
      let copies = 0
      const { vkey } = await backedUp(`${kind}-again`, async () => {
        if (copies++ === 0) await rotate()
      })
      assert.deepEqual([copies, `${vkey}\n`], [2, (await me.flyball(["vkey"], variables())).out])
    })

    it("says so when the key is rotated each time, and leaves nothing", async () => {
      const said = await backedUp(`${kind}-never`, rotate).then(
        () => "made",
        (cause: Error) => cause.message
      )
      assert.strictEqual(
        said,
        "the signing key was rotated while the store was copied, and again at each of 3 attempts. Back up " +
          "again after the rotations"
      )
      assert.isEmpty(readdirSync(me.folder).filter((name) => name.includes("never")))
    })
  }
)
