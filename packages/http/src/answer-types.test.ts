/** A handler answers with the shape of its row: anything else is a compile error, which `npm run check` sees. */
import { endpoint, access, json as success, media } from "@flyball/contract/http"
import { Effect, Schema } from "effect"
import { assert, it } from "vitest"
import { json, pieces } from "./answer/answer.ts"
import type { HandlerOf } from "./request/call.ts"

const row = { id: "x.y", method: "GET", path: "/x", summary: "X.", access: access.read } as const
const counted = endpoint({ ...row, success: success(200, Schema.Struct({ count: Schema.Int })) })
const bytes = endpoint({ ...row, success: media("text/plain") })

it("a handler answers with the shape of its row", () => {
  const right: HandlerOf<typeof counted> = () => Effect.succeed(json({ count: 1 }))
  // @ts-expect-error a member of another type
  const wrong: HandlerOf<typeof counted> = () => Effect.succeed(json({ count: "1" }))
  // @ts-expect-error a member is missing
  const missing: HandlerOf<typeof counted> = () => Effect.succeed(json({}))
  const text: HandlerOf<typeof bytes> = () => Effect.succeed(pieces("text/plain"))
  // @ts-expect-error JSON where the row promises bytes
  const noText: HandlerOf<typeof bytes> = () => Effect.succeed(json({ count: 1 }))
  assert.lengthOf([right, wrong, missing, text, noText], 5)
})
