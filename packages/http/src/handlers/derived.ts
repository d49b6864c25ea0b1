/** Handlers that derive from the rows and operations of modules. Spec: house section 3. */
import type { AnyEndpoint, Form, Success } from "@flyball/contract/http"
import {
  type AnyModule,
  type AnyOperation,
  type PassedAnswer,
  type StreamStep,
  type Tagged,
  type Versioned
} from "@flyball/core"
import { Effect } from "effect"
import { type Answer, json, jsonWith, pieces } from "../answer/answer.ts"
import { knows } from "../request/accepts.ts"
import { eventStream, ping, serverSentEvent } from "../answer/sse.ts"
import type { AnyHandler, Call, Services } from "../request/call.ts"
import { checkLastEventId, operationCaller } from "../request/operation-caller.ts"

/** Makes the handler of a row: it runs the operation, and answers in the form of the row. */
export const derivedHandler = (row: AnyEndpoint, operation: AnyOperation<Services>): AnyHandler => {
  const form = row.success.form as Form
  const answer = answerIn(row.success)
  const run = (call: Call<never, never, never>) =>
    Effect.contextWith((context: Parameters<typeof operationCaller>[1]) =>
      Effect.map(operation(call, operationCaller(call, context)), (value) => answer(value, call))
    )
  return typeof form === "string"
    ? run
    : (call) => Effect.andThen(checkLastEventId(call.request.headers["last-event-id"]), run(call))
}

/** Says the position in the chain as of which an answer holds: `<seq> <ms>`. Also where nothing changed (304). */
const AS_OF_HEADER = "flyball-as-of"

/** Makes the answer of a row from what its operation answers. */
export const answerIn = (success: Success): ((value: unknown, call: Call<never, never, never>) => Answer) => {
  const { extension, form, media, schema } = success
  if (form === "plain" && schema !== null) return json
  if (form === "plain")
    return (bytes, { params }) =>
      bytes instanceof Uint8Array
        ? pieces(media, bytes)
        : {
            kind: "stream",
            media,
            chunks: bytes as AsyncIterable<Uint8Array>,
            fileName: extension === null ? null : `${Object.values(params)[0]}.${extension}`
          }
  if (form === "passed")
    return (answered) => {
      const { body, headers, media: passedMedia, status } = answered as PassedAnswer
      return body instanceof Uint8Array
        ? { kind: "kept", media: passedMedia, bytes: body, headers, status }
        : { kind: "stream", media: passedMedia, chunks: body, fileName: null, headers, status }
    }
  if (form === "versioned")
    return (answered) => {
      const { value, version } = answered as Versioned<unknown>
      return jsonWith({ etag: `"p${version}"` }, value)
    }
  if (form === "tagged")
    return (answered, { request }) => {
      const { asOf, keptS, tag, value } = answered as Tagged<unknown>
      if (tag === null) return json(value)
      const etag = `"${tag}"`
      const headers = {
        "cache-control": `private, ${keptS === 0 ? "no-cache" : `max-age=${keptS}, must-revalidate`}`,
        etag,
        // What is confirmed is confirmed as of now, whatever was read before.
        ...(asOf === undefined ? {} : { [AS_OF_HEADER]: `${asOf.seq} ${asOf.ms}` })
      }
      return knows(request.headers["if-none-match"], etag) ? { kind: "unchanged", headers } : jsonWith(headers, value)
    }
  return (steps) => eventStream(events(form.event, steps as AsyncIterable<StreamStep<unknown>>))
}

/** The events of a stream; a comment where a step brought none. */
async function* events(name: string, steps: AsyncIterable<StreamStep<unknown>>): AsyncGenerator<Uint8Array> {
  // At once, so that the answer begins; without an id, since nothing was sent yet.
  yield ping()
  for await (const { events, readTo } of steps) {
    for (const { data, id } of events) yield serverSentEvent(id, name, data)
    if (events.length === 0) yield ping(readTo)
  }
}

/** Makes the handlers of modules by the id of their endpoint. */
export const derivedHandlers = (of: ReadonlyArray<AnyModule>): ReadonlyArray<readonly [string, AnyHandler]> =>
  of.flatMap(({ operations, rows }) =>
    Object.entries(rows).map(
      ([name, row]) =>
        [
          row.id,
          derivedHandler(row, (operations as { readonly [name: string]: AnyOperation<Services> })[name]!)
        ] as const
    )
  )
