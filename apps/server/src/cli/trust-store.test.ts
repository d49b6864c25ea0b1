import { generateKeyPairSync, sign } from "node:crypto"
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeEach(() => {
  me = operator()
})
afterEach(() => me.leave())

const { privateKey, publicKey } = generateKeyPairSync("ed25519")

describe("FLYBALL_TRUST_STORE", () => {
  it("names keys whose cards are verified; changes count at once, and an untrusted file is logged", async () => {
    mkdirSync(me.path("trust"), { mode: 0o755 })
    const variables = { FLYBALL_TRUST_STORE: "trust" }
    const server = await me.serve(variables)
    const token = (await me.flyball(["token", "--role", "admin"], variables)).out.trim()
    const post = async (path: string, body: unknown) =>
      (
        await fetch(`${server.url}/api/v1${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify(body)
        })
      ).json() as Promise<{ readonly [member: string]: unknown }>
    const { id } = await post("/agents", { name: "courier", org_unit: "ops" })
    const card = Buffer.from('{"name":"courier"}')
    const reason = async () =>
      (
        await post(`/agents/${String(id)}/identity`, {
          signed_card: {
            card: card.toString("base64"),
            signature: sign(null, card, privateKey).toString("base64"),
            key_id: "acme"
          }
        })
      )["reason_code"]
    assert.equal(await reason(), "key_unknown")
    writeFileSync(me.path("trust", "acme.pem"), publicKey.export({ format: "pem", type: "spki" }))
    assert.equal(await reason(), "ok")
    writeFileSync(me.path("trust", "acme.revoked"), "")
    assert.equal(await reason(), "key_revoked")
    chmodSync(me.path("trust", "acme.pem"), 0o666)
    assert.equal(await reason(), "key_unknown")
    assert.equal((await server.stop("SIGTERM")).status, 0)
    assert.include(server.err(), "acme.pem: its group or everybody may write it")
  })

  it("of a folder that does not exist stops the server with a sentence, and no command that only reads", async () => {
    await me.flyball(["import", "-"])
    const { err, out, status } = await me.flyball(["serve"], { FLYBALL_TRUST_STORE: "trust" })
    assert.deepEqual([status, out], [1, ""])
    assert.equal(
      err,
      `flyball serve: the trust store ${realpathSync(me.folder)}/trust cannot be used: there is no such ` +
        `folder. Make it, or leave the trust store out. FLYBALL_TRUST_STORE names it.\n`
    )
    assert.equal((await me.flyball(["check"], { FLYBALL_TRUST_STORE: "trust" })).status, 0)
  })
})
