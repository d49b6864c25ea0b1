/** Streams of server-sent events: a first piece at once, and a comment where nothing happens. */
import { EVENT_STREAM_MEDIA } from "@flyball/contract/http"
import { utf8 } from "@flyball/evidence"
import type { BytesAnswer } from "./answer.ts"

/**
 * Time after which a stream without events sends a comment, since proxies cut what is silent, and after which its
 * caller is checked again. Unit: milliseconds.
 */
export const PING_MS = 5_000

/** An event. `id` is what a client that connects again sends as `Last-Event-ID`. */
export const serverSentEvent = (id: number, event: string, data: unknown): Uint8Array =>
  utf8(`id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

/**
 * A comment, which clients pass over. With `id` a client that connects again continues there although no event came: a
 * block without data sets the last id and is no event.
 */
export const ping = (id: number | null = null): Uint8Array => utf8(`: ping\n${id === null ? "" : `id: ${id}\n`}\n`)

/** An answer of events. */
export const eventStream = (chunks: AsyncIterable<Uint8Array>): BytesAnswer<typeof EVENT_STREAM_MEDIA> => ({
  kind: "stream",
  media: EVENT_STREAM_MEDIA,
  chunks,
  fileName: null
})
