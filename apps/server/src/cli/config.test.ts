import { mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { settingsTable } from "../settings/table.ts"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

describe("flyball config", () => {
  it("prints every setting, where it comes from, and no secret; it makes nothing", async () => {
    const { err, out, status } = await me.flyball(["config"], {
      FLYBALL_DATABASE_URL: "postgres://flyball:hunter2@db.example:5432/flyball",
      FLYBALL_ORIGIN: "flyball.example/a"
    })
    assert.deepEqual([status, err, readdirSync(me.folder)], [0, "", []])
    const lines = out.trimEnd().split("\n")
    assert.deepEqual(
      lines.slice(0, -1).map((line) => line.split(/ +/)[0]),
      Object.values(settingsTable).map(({ name }) => name)
    )
    assert.match(
      out,
      /^FLYBALL_DATABASE_URL +postgres:\/\/flyball:\*{4}@db\.example:5432\/flyball {2}\(environment\)$/m
    )
    assert.match(out, /^FLYBALL_HOST +127\.0\.0\.1 {2}\(default\)$/m)
    assert.match(out, /^FLYBALL_TENANT_ID +\(not set\) {2}\(default\)$/m)
    assert.strictEqual(lines.at(-1), `Relative paths start at ${realpathSync(me.folder)}.`)
    assert.notInclude(out, "hunter2")
  })

  it("takes a secret from a file, and warns about what is no setting", async () => {
    mkdirSync(me.path("secrets"))
    writeFileSync(me.path("secrets", "url"), "postgres://flyball:hunter2@db.example/flyball\n")
    const { err, out, status } = await me.flyball(["config"], {
      FLYBALL_DATABASE_URL_FILE: "secrets/url",
      FLYBALL_PROT: "1",
      FLYBALL_PORT_FILE: "2"
    })
    assert.strictEqual(status, 0)
    assert.match(out, /^FLYBALL_DATABASE_URL +postgres:\/\/flyball:\*{4}@db\.example\/flyball {2}\(file\)$/m)
    assert.strictEqual(
      err,
      "flyball: FLYBALL_PORT_FILE is not a setting and is ignored. Only secrets can come from a file; set " +
        "FLYBALL_PORT.\n" +
        "flyball: FLYBALL_PROT is not a setting and is ignored. Did you mean FLYBALL_PORT?\n"
    )
  })

  it("lists every problem at once, as every command does", async () => {
    const wrong = {
      FLYBALL_PORT: "eighty",
      FLYBALL_ORIGIN: "a b",
      FLYBALL_DATABASE_URL: "mysql://u:hunter2@h/d",
      FLYBALL_LOG_LEVEL: "loud"
    }
    for (const command of ["config", "check"]) {
      assert.deepEqual(await me.flyball([command], wrong), {
        status: 1,
        out: "",
        err:
          `flyball ${command}: the settings cannot be used:\n` +
          '  FLYBALL_PORT should be a whole number from 0 to 65535, and is "eighty".\n' +
          "  FLYBALL_DATABASE_URL should be sqlite:<path>, sqlite::memory: or postgres://….\n" +
          "  FLYBALL_ORIGIN should be 1 to 255 printable ASCII characters without space, + or a scheme, such " +
          'as flyball.example/acme/prod, and is "a b".\n' +
          '  FLYBALL_LOG_LEVEL should be one of info, warn, error, silent, and is "loud".\n'
      })
    }
  })
})
