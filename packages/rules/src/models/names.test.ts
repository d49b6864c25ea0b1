import { assert, describe, it } from "vitest"
import { isSameModel, type NamedModel, namesOfModel, noModels } from "./names.ts"

const one = { provider: "acme", name: "big", version: "2" }
const other = { provider: "acme", name: "big", version: "3" }
const slashed = { provider: "hub", name: "team/b@g", version: null }
const registered = new Map<string, NamedModel>([
  ["mdl_1", one],
  ["mdl_2", other],
  ["mdl_3", slashed]
])

describe("the names of a model", () => {
  it("name one model, from either side", () => {
    for (const [id, model] of registered)
      for (const name of namesOfModel(id, model)) {
        assert.isTrue(isSameModel(id, name, registered), `${id} ${name}`)
        assert.isTrue(isSameModel(name, id, registered), `${name} ${id}`)
      }
  })

  it("fit where a provider or a version is left out, and differ where both state another", () => {
    const texts = ["big", "acme/big", "big@2", "acme/big@2"]
    for (const a of texts) for (const b of texts) assert.isTrue(isSameModel(a, b, noModels), `${a} ${b}`)
    for (const [a, b] of [
      ["big@2", "acme/big@3"],
      ["acme/big", "umbrella/big"],
      ["big", "bigger"],
      ["big", "acme/notbig"],
      ["mdl_1", "mdl_2"],
      ["mdl_1", "acme/big@3"],
      ["mdl_1", "umbrella/big"]
    ] as const)
      assert.isFalse(isSameModel(a, b, registered), `${a} ${b}`)
  })
})
