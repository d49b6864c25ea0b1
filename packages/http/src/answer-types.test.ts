/** A handler answers with the shape of its row: anything else is a compile error, which `npm run check` sees. */
import { access, type chain, endpoint, json as success, type kill, media, PACK_MEDIA } from "@flyball/contract/http"
import { Effect, Schema } from "effect"
import { assert, it } from "vitest"
import { json, jsonWith, pieces } from "./answer/answer.ts"
import { listText, recordText } from "./answer/json-text.ts"
import { eventStream } from "./answer/sse.ts"
import type { HandlerOf } from "./request/call.ts"

const row = { id: "x.y", method: "GET", path: "/x", summary: "X.", access: access.read } as const
const counted = endpoint({ ...row, success: success(200, Schema.Struct({ count: Schema.Int })) })
const listed = endpoint({ ...row, success: success(200, Schema.Array(Schema.Struct({ count: Schema.Int }))) })
const bytes = endpoint({ ...row, success: media("text/plain") })

const nothing = new Uint8Array()
async function* chunks() {
  yield nothing
}
const keptJson = { kind: "kept", media: "application/json", bytes: nothing, headers: {} } as const
const record = { bytes: nothing } as Parameters<typeof recordText>[0]

it("a handler answers with the shape of its row", () => {
  const right: HandlerOf<typeof counted> = () => Effect.succeed(json({ count: 1 }))
  // @ts-expect-error a member of another type
  const wrong: HandlerOf<typeof counted> = () => Effect.succeed(json({ count: "1" }))
  // @ts-expect-error a member is missing
  const missing: HandlerOf<typeof counted> = () => Effect.succeed(json({}))
  // @ts-expect-error a member that the row does not declare
  const extra: HandlerOf<typeof counted> = () => Effect.succeed(json({ count: 1, more: 2 }))
  // @ts-expect-error the same, with headers
  const extraWith: HandlerOf<typeof counted> = () => Effect.succeed(jsonWith({ etag: "x" }, { count: 1, more: 2 }))
  // @ts-expect-error the same, in an item of a list
  const extraItem: HandlerOf<typeof listed> = () => Effect.succeed(json([{ count: 1, more: 2 }]))
  assert.lengthOf([right, wrong, missing, extra, extraWith, extraItem], 6)
})

it("a row of JSON takes no bytes, and a row of bytes no JSON and no other media type", () => {
  const text: HandlerOf<typeof bytes> = () => Effect.succeed(pieces("text/plain"))
  // @ts-expect-error JSON where the row promises bytes
  const noText: HandlerOf<typeof bytes> = () => Effect.succeed(json({ count: 1 }))
  // @ts-expect-error bytes of another media type
  const html: HandlerOf<typeof bytes> = () => Effect.succeed(pieces("text/html"))
  // @ts-expect-error bytes where the row promises JSON
  const noJson: HandlerOf<typeof counted> = () => Effect.succeed(pieces("text/plain"))
  // @ts-expect-error bytes that say that they are JSON: nothing holds them to the shape
  const unheld: HandlerOf<typeof counted> = () => Effect.succeed(pieces("application/json"))
  // @ts-expect-error the same, kept
  const kept: HandlerOf<typeof counted> = () => Effect.succeed(keptJson)
  // @ts-expect-error events where the row does not stream
  const events: HandlerOf<typeof counted> = () => Effect.succeed(eventStream(chunks()))
  // @ts-expect-error the methods of a path, which no row answers with
  const methods: HandlerOf<typeof counted> = () => Effect.succeed({ kind: "allow", methods: ["GET"] } as const)
  assert.lengthOf([text, noText, html, noJson, unheld, kept, events, methods], 8)
})

it("records, lines, files and events answer the rows that say so", () => {
  const list = listText([recordText(record)])
  const whole: HandlerOf<typeof chain.records> = () => Effect.succeed({ kind: "text", text: list } as const)
  const lines: HandlerOf<typeof chain.records> = () =>
    Effect.succeed({ kind: "lines", lines: [recordText(record)] } as const)
  // @ts-expect-error one record where the row promises a list
  const one: HandlerOf<typeof chain.records> = () => Effect.succeed({ kind: "text", text: recordText(record) } as const)
  // @ts-expect-error lines of another shape
  const otherLines: HandlerOf<typeof chain.records> = () => Effect.succeed({ kind: "lines", lines: [list] } as const)
  // @ts-expect-error lines that nothing holds to the shape
  const unheld: HandlerOf<typeof chain.records> = () => Effect.succeed(pieces("application/x-ndjson"))
  // @ts-expect-error lines where the row has none
  const noLines: HandlerOf<typeof listed> = () => Effect.succeed({ kind: "lines", lines: [] } as const)
  const file: HandlerOf<typeof kill.certificate> = () =>
    Effect.succeed({ kind: "stream", media: PACK_MEDIA, chunks: chunks(), fileName: "x" } as const)
  const events: HandlerOf<typeof kill.stream> = () => Effect.succeed(eventStream(chunks()))
  // @ts-expect-error events where the row promises a file
  const noFile: HandlerOf<typeof kill.certificate> = () => Effect.succeed(eventStream(chunks()))
  assert.lengthOf([whole, lines, one, otherLines, unheld, noLines, file, events, noFile], 9)
})
