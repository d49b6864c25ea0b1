import { assert, describe, it } from "vitest"
import { nearest } from "./nearest.ts"

describe("a mistyped name", () => {
  it.each([
    ["exprot", "export"],
    ["chek", "check"],
    ["serv", "serve"],
    ["tokens", "token"]
  ])("%s was meant to be %s", (name, meant) =>
    assert.strictEqual(nearest(name, ["serve", "token", "check", "export"]), meant)
  )
  it.each(["", "x", "go", "frobnicate"])("%j was not meant to be any", (name) =>
    assert.isNull(nearest(name, ["serve", "token", "check", "export"]))
  )
  it("has nothing to be among no names", () => assert.isNull(nearest("serve", [])))
})
