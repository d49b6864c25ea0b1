/** A module answers with the shapes of its rows: anything else is a compile error, which `npm run check` sees. */
import { access, endpoint, json, versioned } from "@flyball/contract/http"
import { Effect, Layer, Schema } from "effect"
import { assert, it } from "vitest"
import { defineModule } from "./module.ts"

const row = { id: "x.y", method: "GET", path: "/x", summary: "X.", access: access.read } as const
const count = Schema.Struct({ count: Schema.Int })
const rows = {
  one: endpoint({ ...row, success: json(200, count) }),
  all: endpoint({ ...row, success: json(200, Schema.Array(count)) }),
  kept: endpoint({ ...row, success: versioned(count) })
}
const named = { name: "x", rows, layer: Layer.empty } as const
const operations = {
  one: () => Effect.succeed({ count: 1 }),
  all: () => Effect.succeed([{ count: 1 }]),
  kept: () => Effect.succeed({ value: { count: 1 }, version: 1 })
}

it("a module has the operations of its rows, which answer their members", () => {
  const more = { count: 1, more: 2 }
  const right = defineModule({ ...named, operations })
  const wrong = [
    // @ts-expect-error an operation that no row declares
    defineModule({ ...named, operations: { ...operations, two: operations.one } }),
    // @ts-expect-error a member that the row does not declare
    defineModule({ ...named, operations: { ...operations, one: () => Effect.succeed(more) } }),
    // @ts-expect-error the same, in an item of a list
    defineModule({ ...named, operations: { ...operations, all: () => Effect.succeed([more]) } }),
    // @ts-expect-error the same, in a value with a version
    defineModule({ ...named, operations: { ...operations, kept: () => Effect.succeed({ value: more, version: 1 }) } })
  ]
  assert.lengthOf([right, ...wrong], 5)
})
