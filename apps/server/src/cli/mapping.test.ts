import { rmSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
beforeAll(async () => {
  me = operator()
  assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
})
afterAll(() => me.leave())

const admins = { match: { claim: "groups", value: "founders" }, role: "admin", org_unit: "*" }
const file = (name: string, content: unknown): string => {
  writeFileSync(me.path(name), typeof content === "string" ? content : JSON.stringify(content))
  return name
}

describe("flyball mapping", () => {
  it("shows that there is none, sets one, and shows it as set takes it back", async () => {
    assert.deepStrictEqual(JSON.parse((await me.flyball(["mapping", "show"])).out), {
      rules: [],
      trust_canonical: false,
      if_version: 0
    })
    const set = await me.flyball(["mapping", "set", file("one.json", { rules: [admins] })])
    assert.deepEqual(set, { status: 0, out: "The access mapping is set: 1 rule. This is version 1.\n", err: "" })
    const shown = (await me.flyball(["mapping", "show"])).out
    assert.deepStrictEqual(JSON.parse(shown), {
      rules: [{ id: "r1", ...admins }],
      trust_canonical: false,
      if_version: 1
    })
    assert.strictEqual((await me.flyball(["mapping", "set", file("again.json", `\ufeff${shown}`)])).status, 0)
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it("that was changed since it was shown, or would lock everybody out, is refused and left as it is", async () => {
    const before = (await me.flyball(["mapping", "show"])).out
    const late = await me.flyball(["mapping", "set", file("late.json", { rules: [admins], if_version: 1 })])
    assert.deepEqual([late.status, late.out], [1, ""])
    assert.include(late.err, "changed since it was read")
    const nobody = await me.flyball([
      "mapping",
      "set",
      file("nobody.json", { rules: [{ ...admins, role: "auditor" }] })
    ])
    assert.deepEqual([nobody.status, nobody.out], [1, ""])
    assert.include(nobody.err, "Nobody could change this mapping again")
    assert.strictEqual((await me.flyball(["mapping", "show"])).out, before)
  })

  it("is set by a running server, which applies it from the next request on and says why not", async () => {
    const server = await me.serve()
    const shown = async () =>
      (await (await server.call("GET", "/api/v1/admin/entitlement-rules")).json()) as { readonly version: number }
    const { version } = await shown()
    const trusting = { rules: [admins, { ...admins, role: "auditor" }], trust_canonical: true }
    const set = await me.flyball(["mapping", "set", file("running.json", { ...trusting, if_version: version })])
    assert.deepEqual(set, {
      status: 0,
      out:
        "The access mapping is set: 2 rules, Flyball's role names in tokens are trusted. " +
        `This is version ${version + 1}.\n`,
      err: ""
    })
    assert.strictEqual((await shown()).version, version + 1)
    const late = await me.flyball(["mapping", "set", "running.json"])
    assert.deepEqual([late.status, late.out], [1, ""])
    assert.match(late.err, /^flyball mapping: .*changed since it was read/)
    const records = await server.call("GET", "/api/v1/chain/records?kind=mapping.changed")
    const last = ((await records.json()) as ReadonlyArray<{ readonly body: object }>).at(-1)!
    assert.deepInclude(last.body, { writer: "system:host" })
    await server.stop("SIGTERM")
  })

  it("beside a server without a control socket names the same act as a curl line", async () => {
    const server = await me.serve()
    rmSync(me.path(".flyball", "control.sock"))
    const name = file("it's.json", { rules: [admins], trust_canonical: true })
    const { err, out, status } = await me.flyball(["mapping", "set", name], { FLYBALL_PORT: new URL(server.url).port })
    assert.deepEqual([status, out], [1, ""])
    assert.include(err, ". Nothing was recorded. Stop the server, run this again, and start the server")
    assert.include(
      err,
      'Or leave it running: curl -X PUT -H "Authorization: Bearer $(flyball token --role admin)" ' +
        `-H 'Content-Type: application/json' -d '@it'\\''s.json' ${server.url}/api/v1/admin/entitlement-rules.\n`
    )
    await server.stop("SIGTERM")
  })

  it.each([
    ["{", "is not JSON that can be read (syntax at byte 1)"],
    ["[]", "is not an access mapping: the file: "],
    ['{"rules":[{}]}', "is not an access mapping: rules.0.match: Field required"],
    ['{"rules":[],"roles":[]}', "is not an access mapping: roles: "]
  ])("a file with %s is a mistake in the call", async (content, says) => {
    const { err, out, status } = await me.flyball(["mapping", "set", file("bad.json", content)])
    assert.deepEqual([status, out], [2, ""])
    assert.include(err, `flyball mapping: bad.json ${says}`)
  })
})
