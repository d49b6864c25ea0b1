/** Requests that two readers could read in two ways: a query that is no UTF-8, a host that is named twice. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { assert, describe, it } from "vitest"
import { givenRefusedWorld, seen } from "./testing/given-refused-world.ts"
import { rawConnection } from "./testing/raw-client.ts"

const given = givenRefusedWorld()
const get = (query: string) => given.world.send("GET", `/api/v1/agents?${query}`, { token: given.world.admin })

describe("a query", () => {
  it("that is not percent-encoded UTF-8 is refused where the endpoint reads it", async () => {
    await given.world.register("\ufffd")
    for (const value of ["%ff", "%c3", "a%", "%zz", "%2", "%c0%80", "%ed%a0%80", "ok%ffok", "x=%ff"]) {
      assert.deepStrictEqual(seen(await get(`name=${value}`)), [422, "value_error", "query.name"], value)
    }
    assert.deepStrictEqual(seen(await get("n%61me=%ff")), [422, "value_error", "query.name"])
    assert.deepStrictEqual(seen(await get("status=active&q=%ff&limit=1")), [422, "value_error", "query.q"])
    assert.deepStrictEqual(seen(await get("name=a&name=%ff")), [422, "value_error", "query.name"])
  })

  it("is refused where the endpoint has no such parameter", async () => {
    for (const query of ["utm=%ff", "%ff=1", "%ff", "&&=%zz"]) assert.strictEqual((await get(query)).status, 422, query)
  })

  it("finds what it names: an equals sign, a plus for a space, U+FFFD itself", async () => {
    for (const name of ["a=b", "two words", "100%", "café"]) {
      await given.world.register(name)
      assert.deepStrictEqual(
        (await get(`name=${encodeURIComponent(name).replaceAll("%20", "+")}`)).json.map(
          (one: { readonly name: string }) => one.name
        ),
        [name]
      )
    }
    assert.lengthOf((await get("name=%EF%BF%BD")).json, 1)
  })
})

describe("the header Host", () => {
  const ask = async (lines: ReadonlyArray<string>, version = "1.1") =>
    (
      await rawConnection(
        given.world.port,
        [`GET /status HTTP/${version}`, ...lines, "connection: close", "", ""].join("\r\n")
      )
    ).ended()

  it("stands in a request once", async () => {
    for (const version of ["1.1", "1.0"]) {
      for (const hosts of [
        ["host: a", "host: b"],
        ["Host: a", "HOST: a"],
        ["host: a", "x: y", "host: a"]
      ]) {
        const text = await ask(hosts, version)
        assert.match(text, /^HTTP\/1.1 400 [^]*"code":"bad_request"/, `${version} ${hosts.join()}`)
        assert.match(text, /\r\nx-request-id: /i)
      }
    }
    assert.match(await ask(["host: a", "x-host: b", "hosts: c"]), /^HTTP\/1.1 200 /)
    assert.match(await ask([], "1.0"), /^HTTP\/1.1 200 /)
    assert.match(await ask([]), /^HTTP\/1.1 400 /)
  })
})
