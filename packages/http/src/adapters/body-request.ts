/** A request whose body comes from anything but Node's own parser: a web stream, or bytes that are there already. */
import { EventEmitter } from "node:events"
import type { IncomingHttpHeaders } from "node:http"
import type { Incoming } from "../exchange.ts"

/** A request as it is known before its body is read. */
export interface RequestHead {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: ReadonlyArray<string>
  readonly remoteAddress: string | undefined
  readonly native: unknown
  readonly unreadable?: Incoming["unreadable"]
}

/** Begins to read its body when the first listener for it comes. */
export class BodyRequest extends EventEmitter implements Incoming {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: ReadonlyArray<string>
  readonly socket: { readonly remoteAddress: string | undefined }
  readonly native: unknown
  readonly unreadable: Incoming["unreadable"]
  readableEnded = false
  destroyed = false
  readonly #chunks: AsyncIterator<Uint8Array>
  #isReading = false
  #paused: PromiseWithResolvers<void> | null = null

  constructor(head: RequestHead, chunks: AsyncIterator<Uint8Array>) {
    super()
    this.method = head.method
    this.url = head.url
    this.headers = head.headers
    this.rawHeaders = head.rawHeaders
    this.socket = { remoteAddress: head.remoteAddress }
    this.native = head.native
    this.unreadable = head.unreadable
    this.#chunks = chunks
  }

  override on(event: string, listener: (...args: Array<never>) => void): this {
    super.on(event, listener as (...args: Array<unknown>) => void)
    if (event === "data") this.resume()
    return this
  }

  /** Stops reading until the next {@link resume}. */
  pause(): this {
    this.#paused ??= Promise.withResolvers()
    return this
  }

  /** Reads the body to its end, with or without listeners. */
  resume(): this {
    this.#paused?.resolve()
    this.#paused = null
    if (this.#isReading) return this
    this.#isReading = true
    // Listeners for its end are added after the first for its data.
    queueMicrotask(() => void this.#read())
    return this
  }

  /** Gives the rest of the body up: its sender is gone, or sends too much. */
  destroy(): this {
    if (this.destroyed) return this
    this.destroyed = true
    this.#paused?.resolve()
    void this.#chunks.return?.()?.catch(() => undefined)
    this.emit("close")
    return this
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const next = await this.#chunks.next()
        if (this.destroyed) return
        if (next.done === true) break
        if (!(next.value instanceof Uint8Array)) throw new TypeError("A body is expected to be a stream of bytes.")
        this.emit("data", next.value)
        if (this.#paused !== null) await this.#paused.promise
      }
      this.readableEnded = true
      this.emit("end")
      this.emit("close")
    } catch {
      this.destroy()
    }
  }
}

/** The chunks of a web stream. A `return` cancels it. */
export const chunksOf = (stream: ReadableStream<Uint8Array> | null): AsyncIterator<Uint8Array> => {
  const reader = stream?.getReader()
  return {
    next: async () => {
      const read = await reader?.read()
      return read === undefined || read.done ? { done: true, value: undefined } : { done: false, value: read.value }
    },
    return: async () => {
      await reader?.cancel()
      return { done: true, value: undefined }
    }
  }
}

/** Bytes in one chunk; nothing where there are none. */
export const chunkOf = (bytes: Uint8Array): AsyncIterator<Uint8Array> =>
  (async function* () {
    if (bytes.length > 0) yield bytes
  })()
