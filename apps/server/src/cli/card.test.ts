import { readFileSync, statSync, writeFileSync } from "node:fs"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeEach(() => {
  me = operator()
})
afterEach(() => me.leave())

describe("flyball card", () => {
  it("makes a key, a signed card and the trust entry, and a server verifies the card", async () => {
    const variables = { FLYBALL_TRUST_STORE: "trust" }
    writeFileSync(me.path("card.json"), '{ "name": "courier",  "version": "1.0" }\n')
    const signed = await me.flyball(["card", "sign", "--key", "acme.pem", "--card", "card.json"], variables)
    assert.equal(signed.status, 0, signed.err)
    assert.include(signed.err, "acme.pem is a new key")
    assert.equal(statSync(me.path("acme.pem")).mode & 0o777, 0o600)
    const key = readFileSync(me.path("acme.pem"), "utf8")
    const trusted = await me.flyball(["card", "trust", "--key", "acme.pem"], variables)
    assert.deepEqual([trusted.status, trusted.err], [0, ""])
    assert.match(trusted.out, /\/trust\/acme\.pem\n$/)
    assert.equal(readFileSync(me.path("acme.pem"), "utf8"), key)
    assert.notInclude(readFileSync(me.path("trust", "acme.pem"), "utf8"), "PRIVATE")
    const server = await me.serve(variables)
    const token = (await me.flyball(["token", "--role", "admin"], variables)).out.trim()
    const post = async (path: string, body: string) =>
      (
        await fetch(`${server.url}/api/v1${path}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body
        })
      ).json() as Promise<{ readonly [member: string]: unknown }>
    const { id } = await post("/agents", JSON.stringify({ name: "courier", org_unit: "ops" }))
    assert.equal((await post(`/agents/${String(id)}/identity`, signed.out))["reason_code"], "ok")
    assert.equal((await server.stop("SIGTERM")).status, 0)
  })

  it("never replaces a key: another key under a trusted name is refused, the same again is not", async () => {
    const variables = { FLYBALL_TRUST_STORE: "trust" }
    const trust = (key: string) => me.flyball(["card", "trust", "--key", key], variables)
    assert.equal((await trust("acme.pem")).status, 0)
    assert.equal((await trust("acme.pem")).status, 0)
    const before = readFileSync(me.path("trust", "acme.pem"), "utf8")
    const other = await trust("acme.key")
    assert.deepEqual([other.status, other.out], [1, ""])
    assert.include(other.err, "holds another key")
    assert.equal(readFileSync(me.path("trust", "acme.pem"), "utf8"), before)
    const unset = await me.flyball(["card", "trust", "--key", "acme.pem"])
    assert.equal(unset.status, 1)
    assert.include(unset.err, "FLYBALL_TRUST_STORE is not set")
  })

  it("ends with status 2 on wrong usage", async () => {
    writeFileSync(me.path("list.json"), "[]")
    for (const [args, says] of [
      [[], "expected sign"],
      [["sign"], "--key FILE is missing"],
      [["sign", "--key", "a.pem"], "--card FILE is missing"],
      [["sign", "--key", "a.pem", "--card", "none.json"], "cannot be read"],
      [["sign", "--key", "a.pem", "--card", "list.json"], "one JSON object"],
      [["trust", "--key", "list.json"], "one private key in PEM"]
    ] as const) {
      const { err, out, status } = await me.flyball(["card", ...args])
      assert.deepEqual([status, out], [2, ""])
      assert.include(err, says)
    }
  })
})
