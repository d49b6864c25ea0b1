/** An answer that becomes a `Response` of the web platform: at once where it is whole, else as a stream. */
import { EventEmitter } from "node:events"
import type { OutgoingHttpHeaders } from "node:http"
import type { Outgoing } from "../exchange.ts"

/** Bytes that wait for a reader before the writer does. */
const HIGH_WATER_BYTES = 65_536

const encoder = new TextEncoder()
const bytesOf = (piece: Uint8Array | string): Uint8Array<ArrayBuffer> =>
  (typeof piece === "string" ? encoder.encode(piece) : piece) as Uint8Array<ArrayBuffer>

/** Turns what a handler writes to it into a web `Response`: {@link WebResponse.response}. */
export class WebResponse extends EventEmitter implements Outgoing {
  statusCode = 200
  headersSent = false
  writableFinished = false
  destroyed = false
  /** The answer, from its head on. Rejects when it is destroyed before. */
  readonly response: Promise<Response>
  readonly #settle: { readonly resolve: (response: Response) => void; readonly reject: (cause: unknown) => void }
  #headers = new Headers()
  #stream: ReadableStreamDefaultController<Uint8Array> | null = null

  constructor() {
    super()
    const { promise, reject, resolve } = Promise.withResolvers<Response>()
    this.response = promise
    this.#settle = { resolve, reject }
  }

  writeContinue(): void {}

  writeHead(status: number, headers: OutgoingHttpHeaders | Array<string>): this {
    this.statusCode = status
    this.headersSent = true
    const pairs = Array.isArray(headers)
      ? headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]!] as const] : []))
      : Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
    for (const [name, value] of pairs) this.#headers.append(name, value)
    return this
  }

  write(piece: Uint8Array | string): boolean {
    if (this.destroyed) return false
    this.#stream ??= this.#begin()
    this.#stream.enqueue(bytesOf(piece))
    return this.#stream.desiredSize! > 0
  }

  end(last?: Uint8Array | string): this {
    if (this.destroyed || this.writableFinished) return this
    if (this.#stream === null) this.#answer(last === undefined ? null : bytesOf(last))
    else {
      if (last !== undefined) this.#stream.enqueue(bytesOf(last))
      this.#stream.close()
    }
    this.writableFinished = true
    queueMicrotask(() => this.emit("close"))
    return this
  }

  /** Cuts the answer off, so that nobody takes half for whole. */
  destroy(cause: unknown = new Error("The answer was cut off before its end.")): this {
    if (this.destroyed || this.writableFinished) return this
    this.destroyed = true
    if (this.#stream === null) this.#settle.reject(cause)
    else this.#stream.error(cause)
    this.emit("close")
    return this
  }

  #begin(): ReadableStreamDefaultController<Uint8Array> {
    let controller: ReadableStreamDefaultController<Uint8Array> | null = null
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (begun) => void (controller = begun),
        pull: () => void this.emit("drain"),
        cancel: () => {
          if (this.writableFinished) return
          this.destroyed = true
          this.emit("close")
        }
      },
      { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => chunk.byteLength }
    )
    this.#answer(body)
    return controller!
  }

  #answer(body: ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> | null): void {
    this.#settle.resolve(new Response(body, { status: this.statusCode, headers: this.#headers }))
  }
}
