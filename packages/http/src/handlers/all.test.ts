import { endpoints } from "@flyball/contract/http"
import { assert, it } from "vitest"
import { pages } from "../answer/pages.ts"
import { handlers } from "./all.ts"

it("every row has a handler, from its module or by hand", () => {
  const ids = [...endpoints, ...Object.values(pages)].map(({ id }) => id)
  assert.deepStrictEqual(Object.keys(handlers).sort(), ids.sort())
})
