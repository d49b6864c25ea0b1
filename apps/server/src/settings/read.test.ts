import { assert, describe, it } from "vitest"
import { readSettings } from "./read.ts"

const noFile = (): string => {
  throw new Error("no such file")
}

describe("settings", () => {
  it("has defaults for everything", () => {
    const read = readSettings({}, noFile)
    assert.isTrue(read.ok)
    if (!read.ok) return
    assert.deepEqual(read.settings, {
      host: "127.0.0.1", port: 8787, database: { kind: "sqlite", file: "./.flyball/flyball.db" }, origin: null, dataDir: "./.flyball", tenantId: "default", logLevel: "info"
    })
  })
  it("lists every problem, and never shows a secret", () => {
    const read = readSettings({ FLYBALL_PORT: "x", FLYBALL_ORIGIN: "a b", FLYBALL_DATABASE_URL: "mysql://u:hunter2@h/d" }, noFile)
    assert.isFalse(read.ok)
    if (read.ok) return
    assert.equal(read.problems.length, 3)
    assert.notInclude(read.problems.join(), "hunter2")
  })
  it("masks the password of a database address", () => {
    const read = readSettings({ FLYBALL_DATABASE_URL: "postgres://u:hunter2@h/d?sslkey=hunter3" }, noFile)
    assert.isTrue(read.ok)
    if (!read.ok) return
    const shown = read.effective.map((row) => row.shown).join()
    assert.notInclude(shown, "hunter")
    assert.include(shown, "****@h/d")
  })
  it("reads a secret from a file, and refuses both", () => {
    const read = readSettings({ FLYBALL_DATABASE_URL_FILE: "/run/secret" }, () => "sqlite::memory:\n")
    assert.isTrue(read.ok && read.settings.database.kind === "memory")
    assert.isFalse(readSettings({ FLYBALL_DATABASE_URL_FILE: "/run/secret", FLYBALL_DATABASE_URL: "sqlite::memory:" }, () => "sqlite::memory:").ok)
    assert.isFalse(readSettings({ FLYBALL_DATABASE_URL_FILE: "/run/secret" }, noFile).ok)
  })
  it("warns about unknown names, with the nearest known one", () => {
    assert.deepEqual(readSettings({ FLYBALL_PROT: "1", FLYBALL_TEST_PG_URL: "x", PATH: "y" }, noFile).warnings, ["FLYBALL_PROT is not a setting and is ignored. Did you mean FLYBALL_PORT?"])
  })
  it("keeps the store in the data folder unless told otherwise", () => {
    const read = readSettings({ FLYBALL_DATA_DIR: "/srv/flyball" }, noFile)
    assert.isTrue(read.ok && read.settings.database.kind === "sqlite" && read.settings.database.file === "/srv/flyball/flyball.db")
  })
})
