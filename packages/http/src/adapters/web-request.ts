/** A `Request` of the web platform as the dispatcher reads one. */
import type { IncomingHttpHeaders } from "node:http"
import { BodyRequest, type RequestHead, chunkOf, chunksOf } from "./body-request.ts"
import type { ReadBody } from "./given-body.ts"

/**
 * The request, at a path below the prefix. Where no header says whether a body comes, its first bytes are waited for.
 *
 * `read`: a body that the host has read; null where it has not.
 */
export const webRequest = async (request: Request, url: string, read: ReadBody | null): Promise<BodyRequest> => {
  const headers: IncomingHttpHeaders = {}
  const rawHeaders: Array<string> = []
  for (const [name, value] of request.headers) {
    headers[name] = value
    rawHeaders.push(name, value)
  }
  const head = { method: request.method, url, headers, rawHeaders, remoteAddress: undefined, native: request }
  if (read !== null) return requestOfRead(head, read)
  return requestOfChunks(head, chunksOf(request.body))
}

/** A request whose body is still to be read. */
export const requestOfChunks = async (head: RequestHead, chunks: AsyncIterator<Uint8Array>): Promise<BodyRequest> => {
  const { headers } = head
  if (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined)
    return new BodyRequest(head, chunks)
  // HTTP/2 and some platforms have a stream for every request, and neither header.
  const first = await chunks.next()
  if (first.done === true) return new BodyRequest(head, chunks)
  return new BodyRequest(
    { ...head, headers: { ...headers, "transfer-encoding": "chunked" } },
    after(first.value, chunks)
  )
}

/** A request whose body the host has read. */
export const requestOfRead = (head: RequestHead, read: ReadBody): BodyRequest =>
  "bytes" in read
    ? new BodyRequest({ ...head, headers: withLength(head.headers, read.bytes.length) }, chunkOf(read.bytes))
    : new BodyRequest({ ...head, ...read, headers: withLength(head.headers, 1) }, chunkOf(new Uint8Array()))

/** Headers that describe bytes which the host has read, and unpacked where they were packed. */
const withLength = (headers: IncomingHttpHeaders, length: number): IncomingHttpHeaders => {
  const { "content-encoding": _encoding, expect: _expect, "transfer-encoding": _transfer, ...others } = headers
  return { ...others, "content-length": String(length) }
}

const after = (first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncIterator<Uint8Array> => {
  let isFirst = true
  return {
    next: async () => {
      if (!isFirst) return rest.next()
      isFirst = false
      return { done: false, value: first }
    },
    return: async () => (await rest.return?.()) ?? { done: true, value: undefined }
  }
}
