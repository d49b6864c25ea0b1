/** Reads request bodies: bounded before they are kept, whatever the headers say. */
import {
  BodyTooLarge,
  detailItem,
  InvalidInput,
  MAX_BODY_MEMBERS,
  MAX_BODY_VALUES,
  MAX_FREE_MEMBERS,
  UnsupportedMediaType
} from "@flyball/contract"
import type { Body } from "@flyball/contract/http"
import { inSlices } from "@flyball/core"
import { type BoundedReason, readJsonInSlices, withoutMark } from "@flyball/evidence"
import { Effect } from "effect"
import type { Incoming, Outgoing } from "../exchange.ts"

/** True for a request that brings a body, by its headers. */
export const bringsBody = ({ headers }: Incoming): boolean =>
  headers["transfer-encoding"] !== undefined ||
  (headers["content-length"] !== undefined && headers["content-length"] !== "0")

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i

/** True when a body can be read, by its headers. */
export const isJson = ({ headers }: Incoming): boolean =>
  JSON_TYPE.test(headers["content-type"] ?? "") &&
  (headers["content-encoding"] ?? "identity").toLowerCase() === "identity"

/**
 * The JSON value of the body that a request {@link bringsBody}; undefined when it is empty.
 *
 * - Fails: `UnsupportedMediaType` and `BodyTooLarge` before anything is kept; `InvalidInput` with `json_invalid` at
 *   `body`.
 */
export const readBody = (
  request: Incoming,
  response: Outgoing,
  { file, keepRaw, limitBytes }: Pick<Body<unknown>, "file" | "limitBytes" | "keepRaw">
): Effect.Effect<unknown, UnsupportedMediaType | BodyTooLarge | InvalidInput> => {
  if (!isJson(request)) return Effect.fail(new UnsupportedMediaType(file === undefined ? {} : { media: file.media }))
  const { unreadable } = request
  if (unreadable !== undefined)
    return unreadable instanceof InvalidInput ? Effect.fail(unreadable) : Effect.die(unreadable)
  if (Number(request.headers["content-length"] ?? 0) > limitBytes) return Effect.fail(new BodyTooLarge({ limitBytes }))
  if (request.headers.expect?.toLowerCase() === "100-continue") response.writeContinue()
  return collect(request, limitBytes, (received) => {
    const bytes = withoutMark(received)
    if (bytes.length === 0) return Effect.undefined
    return Effect.flatMap(
      inSlices(readJsonInSlices(bytes, keepRaw === null ? bounds : { ...bounds, keepRaw })),
      (read) => {
        if (read.ok) {
          if (typeof read.value === "object" && read.value !== null) sources.set(read.value, bytes)
          return Effect.succeed(read.value)
        }
        const { offset, reason } = read
        const msg = `The body is not JSON that can be read: ${says[reason]}`
        return Effect.fail(
          new InvalidInput({ detail: [detailItem(["body"], "json_invalid", msg, null, { reason, offset })] })
        )
      }
    )
  })
}

/** The bytes that values of bodies were read from. */
const sources = new WeakMap<object, Uint8Array>()

/** Returns the bytes that the value of a body was read from; none where it was not read here. */
export const receivedBytes = (value: unknown): Uint8Array =>
  (typeof value === "object" && value !== null ? sources.get(value) : undefined) ?? new Uint8Array()

const bounds = { maxPlaces: MAX_BODY_VALUES, maxMembers: MAX_BODY_MEMBERS, maxKeptMembers: MAX_FREE_MEMBERS }

const says: { readonly [R in BoundedReason]: string } = {
  size: "it is too large",
  utf8: "it is not valid UTF-8",
  syntax: "its syntax is wrong",
  depth: "more than 64 containers are open at once",
  duplicate: "a member occurs twice in one object",
  places: `it has more than ${MAX_BODY_VALUES} values`,
  members:
    `an object has more than ${MAX_BODY_MEMBERS} members, or in args, result, labels or signals ` +
    `${MAX_FREE_MEMBERS}`
}

/**
 * Reads all bytes of the request and passes them to `read`. Bytes beyond the limit are never kept; {@link discardRest}
 * reads and drops the rest.
 */
const collect = <A, E>(
  request: Incoming,
  limitBytes: number,
  read: (bytes: Uint8Array) => Effect.Effect<A, E>
): Effect.Effect<A, E | BodyTooLarge> =>
  Effect.callback((resume) => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    // Listeners stay until the request goes: to take them off one by one costs as much as to read a small body.
    let isOver = false
    const onData = (chunk: Uint8Array): void => {
      if (isOver) return
      size += chunk.length
      if (size <= limitBytes) return void chunks.push(chunk)
      end()
      resume(Effect.fail(new BodyTooLarge({ limitBytes })))
    }
    const onEnd = (): void => {
      if (isOver) return
      isOver = true
      resume(Effect.suspend(() => read(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size))))
    }
    // The sender is gone in the middle of its body: nobody waits for an answer.
    const onGone = (): void => {
      if (isOver) return
      end()
      resume(Effect.interrupt)
    }
    const end = (): void => {
      isOver = true
      chunks.length = 0
      request.off("data", onData)
    }
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone)
    return Effect.sync(end)
  })

/**
 * Lets the rest of a body that nobody reads run out, so that its sender sees the answer instead of a reset connection.
 *
 * `maxBytes` bounds it: past that the connection is cut. Time is bounded by the server's request time-out.
 */
export const discardRest = (request: Incoming, maxBytes: number): void => {
  if (request.readableEnded || request.destroyed) return
  let left = maxBytes
  request.on("data", (chunk: Uint8Array) => {
    left -= chunk.length
    if (left < 0) request.destroy()
  })
  request.on("error", () => {})
  request.resume()
}
