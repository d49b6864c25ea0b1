import { createPublicKey, verify } from "node:crypto"
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { givenDatabase } from "@flyball/testkit/postgres"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
beforeEach(() => {
  me = operator()
})
afterEach(() => me.leave())

interface Reported {
  readonly oldKey: string
  readonly newKey: string
  readonly seq: number
  readonly note: string
}

/** Parses the output of the command. */
const reported = (out: string): Reported => {
  const found = new RegExp(
    /^The signing key was rotated in record (\d+)\.\n\nold key: (\S+)\nnew key: (\S+)\n\n/.source +
      /The checkpoint of \d+ records carries both signatures:\n\n/.source +
      /(.*?\n\n(?:— .*\n)+)\nSend this text/.source,
    "s"
  ).exec(out)
  if (found === null) throw new Error(`The command printed something else: ${out}`)
  return { seq: Number(found[1]), oldKey: found[2]!, newKey: found[3]!, note: found[4]! }
}

/** True for a note with a signature by this key: by OpenSSL, over bytes that were cut out by hand. */
const isSignedBy = (note: string, vkey: string): boolean => {
  const gap = note.indexOf("\n\n")
  const raw = Buffer.from(vkey.split("+").slice(2).join("+"), "base64").subarray(1)
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") }, format: "jwk" })
  return note
    .slice(gap + 2)
    .trimEnd()
    .split("\n")
    .some((line) => {
      const payload = Buffer.from(line.split(" ")[2]!, "base64")
      return (
        payload.subarray(0, 4).toString("hex") === vkey.split("+")[1] &&
        verify(null, Buffer.from(note.slice(0, gap + 1)), key, payload.subarray(4))
      )
    })
}

// Each test runs up to a dozen commands, each a process that opens the store.
describe("flyball rotate-key", { timeout: 240_000 }, () => {
  it("rotates the key of a store, once, and the packs verify with the new one", async () => {
    assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
    const before = (await me.flyball(["vkey"])).out.trim()
    const ended = await me.flyball(["rotate-key"])
    assert.deepEqual([ended.status, ended.err], [0, ""])
    const { newKey, note, oldKey, seq } = reported(ended.out)
    assert.deepEqual([oldKey, seq, (await me.flyball(["vkey"])).out.trim()], [before, 300, newKey])
    assert.deepEqual(
      [isSignedBy(note, oldKey), isSignedBy(note, newKey), isSignedBy(note.replace("\n301\n", "\n302\n"), oldKey)],
      [true, true, false]
    )
    assert.deepEqual(
      readdirSync(me.path(".flyball")).filter((name) => name.startsWith("signing.key")),
      ["signing.key"]
    )
    assert.match(
      (await me.flyball(["check"])).out,
      /^Chain: 301 records recomputed from the stored bytes; no difference; the last checkpoint covers 301 records\.\n/
    )

    const exported = async (name: string) =>
      assert.deepInclude(await me.flyball(["export", "--kind", "full", "--out", name]), { status: 0, out: "" })
    const exits = async (name: string) => [
      (await me.verify(name, "--vkey", newKey)).status,
      (await me.verify(name, "--vkey", oldKey)).status,
      (await me.verify(name, "--vkey", oldKey, "--vkey", newKey)).status
    ]
    await exported("at.evp")
    assert.deepEqual(await exits("at.evp"), [0, 2, 0])
    const server = await me.serve()
    assert.strictEqual((await server.call("POST", "/api/v1/agents", { name: "later", org_unit: "claims" })).status, 201)
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    await exported("later.evp")
    assert.deepEqual(await exits("later.evp"), [0, 2, 0])
    const report = await me.verify("later.evp", "--vkey", newKey)
    assert.include(report.out, "record 300 rotates the key from")
    assert.include((await me.verify("later.evp", "--vkey", oldKey)).out, "E_KEY_UNKNOWN")
  })

  it("has a running server on SQLite rotate the key, and is refused where that has no control socket", async () => {
    const server = await me.serve()
    const before = (await me.flyball(["vkey"])).out.trim()
    const ended = await me.flyball(["rotate-key"])
    assert.deepEqual([ended.status, ended.err], [0, ""])
    const { newKey, note, oldKey } = reported(ended.out)
    assert.deepEqual([oldKey, (await me.flyball(["vkey"])).out.trim()], [before, newKey])
    assert.deepEqual([isSignedBy(note, oldKey), isSignedBy(note, newKey)], [true, true])
    // The server signs with the new key alone.
    assert.strictEqual((await server.call("POST", "/api/v1/agents", { name: "later", org_unit: "claims" })).status, 201)
    assert.strictEqual((await server.call("POST", "/api/v1/evidence/packs", { kind: "full" })).status, 201)
    const head = (await (await server.call("GET", "/api/v1/chain/head")).json()) as { readonly checkpoint: string }
    assert.deepEqual([isSignedBy(head.checkpoint, oldKey), isSignedBy(head.checkpoint, newKey)], [false, true])
    rmSync(me.path(".flyball", "control.sock"))
    const refused = await me.flyball(["rotate-key"])
    assert.deepEqual([refused.status, refused.out], [1, ""])
    assert.match(
      refused.err,
      /^flyball rotate-key: another process writes \S+, probably a running flyball serve\. Stop it first[^\n]+\.\n$/
    )
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it("is refused with a folder from before the rotation", async () => {
    await (await me.serve()).stop("SIGTERM")
    const key = readFileSync(me.path(".flyball", "signing.key"), "utf8")
    assert.strictEqual((await me.flyball(["rotate-key"])).status, 0)
    const vkey = (await me.flyball(["vkey"])).out
    writeFileSync(me.path(".flyball", "signing.key"), key, { mode: 0o600 })
    rmSync(me.path(".flyball", "vkey"))
    const { err, status } = await me.flyball(["serve"])
    assert.strictEqual(status, 1)
    assert.match(
      err,
      new RegExp(
        /^flyball serve: Record 1 of \S+ rotates the signing key to \S+, but the /.source +
          /signing key here is the older \S+\. [^\n]+\n$/.source
      )
    )
    assert.include(err, vkey.trim())
  })
})

describe("on Postgres", () => {
  const database = givenDatabase({ beforeAll, afterAll })

  it("a running server takes the new key up by itself, and two commands at once make no fork", async () => {
    const inDatabase = { FLYBALL_DATABASE_URL: database.url }
    const server = await me.serve(inDatabase)
    const witness = async (name: string) =>
      assert.strictEqual((await server.call("POST", "/api/v1/agents", { name, org_unit: "claims" })).status, 201)
    await witness("one")
    const first = await me.flyball(["rotate-key"], inDatabase)
    assert.deepEqual([first.status, first.err], [0, ""])
    const { newKey, note, oldKey } = reported(first.out)
    assert.deepEqual([isSignedBy(note, oldKey), isSignedBy(note, newKey)], [true, true])
    await witness("two")
    // Asking for a pack makes the server sign.
    assert.strictEqual((await server.call("POST", "/api/v1/evidence/packs", { kind: "full" })).status, 201)
    const { checkpoint } = (await (await server.call("GET", "/api/v1/chain/head")).json()) as {
      readonly checkpoint: string
    }
    assert.deepEqual([isSignedBy(checkpoint, oldKey), isSignedBy(checkpoint, newKey)], [false, true])

    const both = await Promise.all([me.flyball(["rotate-key"], inDatabase), me.flyball(["rotate-key"], inDatabase)])
    assert.include(
      both.map(({ status }) => status),
      0
    )
    await witness("three")
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    const check = await me.flyball(["check"], inDatabase)
    assert.deepEqual([check.status, check.err], [0, ""], check.out)
    assert.strictEqual((await me.flyball(["export", "--kind", "full", "--out", "a.evp"], inDatabase)).status, 0)
    assert.strictEqual(
      (await me.verify("a.evp", "--vkey", (await me.flyball(["vkey"], inDatabase)).out.trim(), "--quiet")).status,
      0
    )
  })
})
