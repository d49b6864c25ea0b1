import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { UsageError } from "../arguments.ts"
import { checkNotOwn, type OwnPlaces } from "./own-files.ts"

let root: string
let places: OwnPlaces
const at = (...names: ReadonlyArray<string>): string => join(root, ...names)

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flyball-own-"))
  for (const folder of ["data/guard", "stores", "keys", "trusted", "elsewhere"])
    mkdirSync(at(folder), { recursive: true })
  for (const file of [
    "data/signing.key",
    "data/guard/0000000000000001",
    "data/old.evp",
    "stores/s.db",
    "stores/s.db.retired-1",
    "keys/secrets",
    "trusted/a.pem"
  ])
    writeFileSync(at(file), file)
  places = {
    dataDir: at("data"),
    database: { kind: "sqlite", file: at("stores/s.db") },
    secretsKeyFile: at("keys/secrets"),
    trustStore: at("trusted")
  }
})
afterEach(() => rmSync(root, { recursive: true }))

const refuses = (path: string, owner: RegExp): void =>
  assert.throws(() => checkNotOwn("--out", path, places), UsageError, owner)

describe("a path of an output", () => {
  it("is none of the store, the keys, the guard and the trust store", () => {
    for (const name of [
      "s.db",
      "s.db-wal",
      "s.db-shm",
      "s.db-journal",
      "s.db.retired-1",
      "s.db.retired-2",
      "s.db.lock",
      "S.DB-wal"
    ])
      refuses(at("stores", name), /the store; name another place/)
    for (const name of [
      "signing.key",
      "signing.key.next-0a0b0c0d",
      "secrets.key",
      "dev-issuer.jwk",
      "origin",
      "vkey",
      "guard",
      "guard/0000000000000001",
      "guard/new",
      "old.evp",
      "tmp-1-a"
    ])
      refuses(at("data", name), /the data folder/)
    refuses(at("keys/secrets"), /the keys/)
    refuses(at("trusted/a.pem"), /the trust store/)
  })

  it("is found through links of either kind, and relative paths", () => {
    symlinkSync(at("data"), at("elsewhere/data"))
    symlinkSync(at("stores/s.db-wal"), at("elsewhere/dangling"))
    symlinkSync("dangling", at("elsewhere/twice"))
    symlinkSync("circle", at("elsewhere/circle"))
    for (const [file, link] of [
      ["stores/s.db", "a"],
      ["stores/s.db.retired-1", "b"],
      ["data/signing.key", "c"],
      ["data/guard/0000000000000001", "d"],
      ["keys/secrets", "e"],
      ["trusted/a.pem", "f"]
    ] as const) {
      linkSync(at(file), at("elsewhere", link))
      refuses(at("elsewhere", link), /belongs to/)
    }
    refuses(at("elsewhere/data/vkey"), /the data folder/)
    refuses(at("elsewhere/data/guard/new"), /the data folder/)
    for (const name of ["dangling", "twice"]) refuses(at("elsewhere", name), /the store/)
    refuses(relative(process.cwd(), at("elsewhere/../data/signing.key")), /the data folder/)
    checkNotOwn("--out", at("elsewhere/circle"), places)
  })

  it("follows a store and a data folder that are links themselves", () => {
    symlinkSync(at("stores/s.db"), at("elsewhere/store"))
    symlinkSync(at("data"), at("elsewhere/folder"))
    places = { ...places, dataDir: at("elsewhere/folder"), database: { kind: "sqlite", file: at("elsewhere/store") } }
    for (const path of ["stores/s.db-wal", "elsewhere/store", "elsewhere/store-wal"]) refuses(at(path), /the store/)
    refuses(at("data/signing.key"), /the data folder/)
  })

  it("may be a new one in the data folder, and anything elsewhere", () => {
    for (const path of [
      "data/new.evp",
      "data/backup-monday",
      "elsewhere/a.evp",
      "stores/a.evp",
      "trusted/a.evp",
      "elsewhere/none/a.evp"
    ])
      checkNotOwn("--out", at(path), places)
    places = {
      dataDir: at("none"),
      database: { kind: "postgres", url: "postgres://h/d" },
      secretsKeyFile: null,
      trustStore: null
    }
    for (const path of ["stores/s.db", "elsewhere/a.evp"]) checkNotOwn("--out", at(path), places)
  })
})
