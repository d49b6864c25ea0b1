/**
 * A request and its answer as the dispatcher uses them. Node's `IncomingMessage` and `ServerResponse` are of this form
 * already; adapters make others so.
 */
import type { InvalidInput } from "@flyball/contract"
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http"

// oxlint-disable-next-line no-explicit-any
type Listener = (...args: any[]) => void

/** A request. Its body flows from the first `data` listener on: `data`, then `end`; `error` or `close` without it. */
export interface Incoming {
  readonly method?: string | undefined
  /** Path and query; a proxy may have written scheme and host before them. */
  readonly url?: string | undefined
  /** By lower-case name. */
  readonly headers: IncomingHttpHeaders
  /** Names and values in turns, as they came. */
  readonly rawHeaders: ReadonlyArray<string>
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly readableEnded: boolean
  readonly destroyed: boolean
  on(event: "data" | "end" | "error" | "close", listener: Listener): this
  off(event: "data" | "end" | "error" | "close", listener: Listener): this
  pause(): unknown
  resume(): unknown
  destroy(): unknown
  /** Why its body cannot be read: another part of the host has read it, and left too little of it. */
  readonly unreadable?: InvalidInput | Error | undefined
  /** The request object of the host's framework; none for a request of a listener of our own. */
  readonly native?: unknown
}

/** An answer that is being written. */
export interface Outgoing {
  readonly statusCode: number
  readonly headersSent: boolean
  readonly writableFinished: boolean
  readonly destroyed: boolean
  writeContinue(): void
  writeHead(status: number, headers: OutgoingHttpHeaders | Array<string>): this
  /** False where the reader is to be waited for: `drain` comes when it takes more. */
  write(piece: Uint8Array | string): boolean
  end(text?: Uint8Array | string, encoding?: BufferEncoding): unknown
  destroy(): unknown
  on(event: "close" | "error" | "drain", listener: Listener): this
  once(event: "close" | "error" | "drain", listener: Listener): this
  off(event: "close" | "error" | "drain", listener: Listener): this
}
