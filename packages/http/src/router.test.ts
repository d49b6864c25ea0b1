import { access, type AnyEndpoint, media } from "@flyball/contract/http"
import { assert, describe, it } from "vitest"
import { paramNames, router } from "./router.ts"

const endpoint = (id: string, method: AnyEndpoint["method"], path: string): AnyEndpoint => ({
  id,
  method,
  path,
  summary: "",
  access: access.public,
  params: {},
  query: null,
  body: null,
  admission: null,
  success: media(""),
  refusals: [],
  platform: null
})

const route = router([
  endpoint("one", "GET", "/a/{id}"),
  endpoint("all", "GET", "/a"),
  endpoint("make", "POST", "/a"),
  endpoint("orphans", "GET", "/a/orphans"),
  endpoint("deep", "GET", "/a/{id}/b/{n}"),
  endpoint("gone", "POST", "/a/orphans/b"),
  endpoint("left", "GET", "/p/{x}/q"),
  endpoint("right", "GET", "/{y}/r/s")
])
const found = (path: string, method = "GET") => {
  const at = route(path)
  return at === null ? null : [at.methods.get(method)?.id ?? null, ...at.values]
}

describe("router", () => {
  it("lets a fixed segment beat a parameter, whatever the order", () => {
    assert.deepStrictEqual(found("/a/orphans"), ["orphans"])
    assert.deepStrictEqual(found("/a/x"), ["one", "x"])
  })
  it("tries the parameter when the fixed segment matches no endpoint", () => {
    assert.deepStrictEqual(found("/a/orphans/b/1"), ["deep", "orphans", "1"])
    assert.deepStrictEqual(found("/a/orphans/b", "POST"), ["gone"])
  })
  it("drops the values of a branch that matched no endpoint", () => {
    assert.deepStrictEqual(found("/p/r/s"), ["right", "p"])
    assert.deepStrictEqual(found("/p/r/q"), ["left", "r"])
  })
  it("gives the values in order, decoded", () => {
    assert.deepStrictEqual(found("/a/%C3%A4/b/x%2Fy"), ["deep", "ä", "x/y"])
  })
  it("finds nothing at other paths", () => {
    for (const path of [
      "/",
      "",
      "/b",
      "/a/",
      "/a/x/",
      "/a//b/1",
      "/a/x/b",
      "//a",
      "/a/%ff",
      "/a/%",
      `/a${"/x".repeat(40)}`,
      "/__proto__",
      "/A"
    ])
      assert.isNull(found(path), path)
  })
  it("knows the methods of a path", () => {
    assert.deepStrictEqual(route("/a")!.allow, ["GET", "HEAD", "OPTIONS", "POST"])
    assert.deepStrictEqual(route("/a/orphans/b")!.allow, ["OPTIONS", "POST"])
    assert.deepStrictEqual(found("/a", "DELETE"), [null])
  })
  it("refuses two endpoints at one place", () => {
    assert.throws(() => router([endpoint("x", "GET", "/a/{id}"), endpoint("y", "GET", "/a/{other}")]), /two endpoints/)
  })
  it("names parameters", () => {
    assert.deepStrictEqual(paramNames("/a/{id}/b/{n}"), ["id", "n"])
  })
})
