/** Writes answers to the socket, with backpressure. */
import { once } from "node:events"
import type { ServerResponse } from "node:http"
import type { Problem } from "@flyball/contract/http"
import { Effect } from "effect"
import type { Answer } from "./answer.ts"

/** What every response says beside its content. */
const always = { "cache-control": "no-store", "x-content-type-options": "nosniff" } as const

/** How an answer is written. */
export interface Writing {
  /** Head only, as HEAD asks for. */
  readonly bodiless: boolean
  /** How long a reader may take nothing. Unit: milliseconds. */
  readonly stallMs: number
}

/** Writes a success. Fails only with what a stream fails with before its first byte; later failures cut the connection, so that nobody takes half for whole. */
export const writeAnswer = (response: ServerResponse, status: number, answer: Answer, writing: Writing): Effect.Effect<void, unknown> => {
  switch (answer.kind) {
    case "json":
      return Effect.sync(() => writeWhole(response, status, { "content-type": "application/json" }, [Buffer.from(JSON.stringify(answer.value))], writing.bodiless))
    case "allow":
      return Effect.sync(() => void response.writeHead(status, { ...always, allow: answer.methods.join(", ") }).end())
    case "kept":
      return Effect.sync(() => writeWhole(response, status, { "content-type": answer.media, ...answer.headers }, [answer.bytes], writing.bodiless))
    case "unchanged":
      return Effect.sync(() => void response.writeHead(status, { ...always, ...answer.headers }).end())
    case "pieces":
      return Effect.tryPromise({ try: () => writePieces(response, status, answer.media, answer.pieces, writing), catch: (error) => error })
    case "stream":
      // It ends by itself when the reader leaves; cutting it short here would leave its source open.
      return Effect.uninterruptible(Effect.tryPromise({ try: () => writeStream(response, status, answer, writing), catch: (error) => error }))
  }
}

/** Writes a refusal, a fault or a defect. */
export const writeProblem = (response: ServerResponse, { body, headers, status }: Problem, bodiless: boolean): void =>
  writeWhole(response, status, { "content-type": "application/json", ...headers }, [Buffer.from(JSON.stringify(body))], bodiless)

const writeWhole = (response: ServerResponse, status: number, headers: { readonly [name: string]: string }, pieces: ReadonlyArray<Uint8Array>, bodiless: boolean): void => {
  response.writeHead(status, { ...always, ...headers, "content-length": pieces.reduce((sum, piece) => sum + piece.length, 0) })
  const [only] = pieces
  // One chunk goes out with the head.
  if (!bodiless && only !== undefined && pieces.length === 1) return void response.end(only)
  if (!bodiless) for (const piece of pieces) response.write(piece)
  response.end()
}

const writePieces = async (response: ServerResponse, status: number, media: string, pieces: ReadonlyArray<Uint8Array>, { bodiless, stallMs }: Writing): Promise<void> => {
  response.writeHead(status, { ...always, "content-type": media, "content-length": pieces.reduce((sum, piece) => sum + piece.length, 0) })
  if (!bodiless) for (const piece of pieces) if (!(await push(response, piece, stallMs))) return
  response.end()
}

const writeStream = async (response: ServerResponse, status: number, answer: Extract<Answer, { readonly kind: "stream" }>, { bodiless, stallMs }: Writing): Promise<void> => {
  const headers = { ...always, "content-type": answer.media, "content-disposition": `attachment; filename="${answer.fileName}"` }
  if (bodiless) return void response.writeHead(status, headers).end()
  const chunks = answer.chunks[Symbol.asyncIterator]()
  let next = await chunks.next()
  response.writeHead(status, headers)
  try {
    while (next.done !== true) {
      if (!(await push(response, next.value, stallMs))) return void await chunks.return?.()
      next = await chunks.next()
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
}

/** Writes a piece and waits until the socket takes more; false when the reader is gone, or has taken nothing for `stallMs` and is cut off. */
const push = async (response: ServerResponse, piece: Uint8Array, stallMs: number): Promise<boolean> => {
  if (response.destroyed) return false
  if (response.write(piece)) return true
  const gone = new AbortController()
  const onClose = (): void => gone.abort()
  response.once("close", onClose)
  const stalled = setTimeout(() => response.destroy(), stallMs)
  try {
    await once(response, "drain", { signal: gone.signal })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(stalled)
    response.off("close", onClose)
  }
}
