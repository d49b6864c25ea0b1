import { chmodSync, existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from "node:fs"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeEach(() => {
  me = operator()
})
afterEach(() => me.leave())

const one = /^flyball [a-z-]+: [^\n]+\.\n$/

describe("token and vkey in a fresh folder", () => {
  it("print only the requested output, make only the data folder, and report that on standard error", async () => {
    const vkey = await me.flyball(["vkey"], { FLYBALL_ORIGIN: "flyball.example/acme" })
    const dir = realpathSync(me.path(".flyball"))
    assert.match(vkey.out, /^flyball\.example\/acme\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+\n$/)
    assert.deepEqual([vkey.status, vkey.err], [0, `flyball: a new chain's signing key was created in ${dir}.\n`])
    const token = await me.flyball(["token", "--role", "admin", "--sub", "ann", "--org-unit", "claims"])
    assert.match(token.out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/)
    assert.deepEqual([token.status, token.err], [0, `flyball: a new development issuer's key was created in ${dir}.\n`])
    const claims = JSON.parse(Buffer.from(token.out.split(".")[1]!, "base64url").toString()) as object
    assert.deepInclude(claims, { sub: "ann", roles: ["admin"], org_unit: "claims" })
    assert.match(readdirSync(dir).sort().join(), /^dev-issuer\.jwk,guard,origin,signing\.key,unused-[0-9a-f]{16},vkey$/)
    assert.deepEqual(
      ["", "dev-issuer.jwk", "signing.key"].map((name) => statSync(`${dir}/${name}`).mode & 0o077),
      [0, 0, 0]
    )
    assert.deepEqual(await me.flyball(["vkey"]), { status: 0, out: vkey.out, err: "" })
  })

  it("say where the folder cannot be made or used", async () => {
    writeFileSync(me.path("file"), "")
    for (const command of [["vkey"], ["token", "--role", "admin"], ["serve"]]) {
      const { err, out, status } = await me.flyball(command, {
        FLYBALL_DATA_DIR: "file",
        FLYBALL_DATABASE_URL: "sqlite:a.db"
      })
      assert.deepEqual([status, out], [1, ""])
      assert.match(err, one)
      assert.include(err, `FLYBALL_DATA_DIR should name a folder, and ${realpathSync(me.folder)}/file is a file`)
    }
    const below = await me.flyball(["vkey"], { FLYBALL_DATA_DIR: "file/below" })
    assert.match(
      below.err,
      /^flyball vkey: the data folder \S+file\/below cannot be created: .*\(ENOTDIR\)\. FLYBALL_DATA_DIR names it\.\n$/
    )
    assert.deepEqual(readdirSync(me.folder), ["file"])
  })
})

describe("a data folder that cannot be right", () => {
  const refusal = async (args: ReadonlyArray<string>, variables = {}): Promise<string> => {
    const { err, out, status } = await me.flyball(args, variables)
    assert.deepEqual([status, out], [1, ""], err)
    assert.match(err, one)
    return err
  }

  it("is not made by commands that only read, or that change what must be there", async () => {
    for (const command of [
      ["check"],
      ["export", "--kind", "full", "--out", "a.evp"],
      ["backup", "--out", "b"],
      ["rotate-key"],
      ["recover", "--accept-rollback", "--reason", "x"]
    ]) {
      assert.include(
        await refusal(command),
        `there is no signing key in ${realpathSync(me.folder)}/.flyball. Set FLYBALL_DATA_DIR to the server's ` +
          "data folder"
      )
    }
    assert.deepEqual(readdirSync(me.folder), [])
    await me.flyball(["vkey"])
    for (const command of [["check"], ["backup", "--out", "b"], ["rotate-key"]]) {
      assert.include(
        await refusal(command),
        `there is no store at ${realpathSync(me.folder)}/.flyball/flyball.db. flyball serve creates it`
      )
    }
    assert.isFalse(existsSync(me.path(".flyball", "flyball.db")))
  })

  it("of another origin, another store or with a broken key is refused", async () => {
    const server = await me.serve({ FLYBALL_ORIGIN: "flyball.example/acme" })
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    const store = { FLYBALL_DATABASE_URL: "sqlite:.flyball/flyball.db" }
    for (const command of ["serve", "check", "vkey"]) {
      assert.include(
        await refusal([command], { FLYBALL_ORIGIN: "flyball.example/other" }),
        "Expected the origin flyball.example/other, found flyball.example/acme"
      )
    }
    const other = await me.flyball(["serve"], { ...store, FLYBALL_DATA_DIR: "elsewhere" })
    assert.strictEqual(other.status, 1)
    assert.match(
      other.err,
      new RegExp(
        /^flyball serve: the store holds the chain of flyball\.example\/acme, and /.source +
          /there is no signing key in \S+elsewhere\. [^\n]+ Nothing was written\.\n$/.source
      )
    )
    assert.isFalse(existsSync(me.path("elsewhere")))
    await me.flyball(["vkey"], { FLYBALL_DATA_DIR: "elsewhere" })
    for (const command of ["serve", "check"])
      assert.include(
        (await me.flyball([command], { ...store, FLYBALL_DATA_DIR: "elsewhere" })).err,
        `flyball ${command}: The keys belong to flyball.local/`
      )
    assert.include(
      await refusal(["serve"], { FLYBALL_TENANT_ID: "other" }),
      "This store belongs to the tenant default, not to other"
    )
    const key = me.path(".flyball", "signing.key")
    const secret = readFileSync(key, "utf8")
    writeFileSync(key, secret.slice(0, 40))
    const broken = await refusal(["serve"])
    assert.include(broken, "signing.key: ")
    assert.notInclude(broken, secret.slice(-40, -1))
    writeFileSync(key, secret)
    chmodSync(key, 0o644)
    assert.include(await refusal(["vkey"]), "chmod 600")
  })
})
