/** Writes answers to the socket, with backpressure. */
import { type EventEmitter, once } from "node:events"
import { setImmediate as anotherTurn } from "node:timers/promises"
import { JSON_MEDIA, LINES_MEDIA, type Problem } from "@flyball/contract/http"
import { utf8 } from "@flyball/evidence"
import { Effect } from "effect"
import type { Answer } from "./answer.ts"
import type { Outgoing } from "../exchange.ts"

/** Headers of one answer, beside or instead of those of every answer. */
type Headers = { readonly [name: string]: string }

/** Facts for writing any answer to a request. */
export interface Writing {
  /** The request's id, which every response says. */
  readonly requestId: string
  /** Headers of the dialect, called when the head is written; left out where there are none. */
  readonly headers?: () => Headers
  /** Writes the head only, for HEAD. */
  readonly bodiless: boolean
  /** How long a reader may take nothing. Unit: milliseconds. */
  readonly stallMs: number
}

/**
 * Writes a success. Fails only with what a stream fails with before its first byte; later failures cut the connection,
 * so that nobody takes half for whole.
 */
export const writeAnswer = (
  response: Outgoing,
  status: number,
  answer: Answer,
  writing: Writing
): Effect.Effect<void, unknown> => {
  switch (answer.kind) {
    case "json": {
      const { headers, value } = answer
      if (headers !== undefined)
        return Effect.sync(() => writeKept(response, status, JSON_MEDIA, utf8(JSON.stringify(value)), headers, writing))
      const list = listIn(value)
      return list !== null
        ? writeList(response, status, list, writing)
        : Effect.sync(() => writeJson(response, status, noHeaders, value, writing))
    }
    case "allow":
      return Effect.sync(
        () => void response.writeHead(status, headOf(writing, { allow: answer.methods.join(", ") })).end()
      )
    case "kept":
      return Effect.sync(() => writeKept(response, status, answer.media, answer.bytes, answer.headers, writing))
    case "unchanged":
      return Effect.sync(() => void response.writeHead(status, headOf(writing, answer.headers)).end())
    case "text":
      return piecesOf(response, status, JSON_MEDIA, answer.text.pieces, writing)
    case "lines":
      return piecesOf(
        response,
        status,
        LINES_MEDIA,
        answer.lines.flatMap(({ pieces }) => [...pieces, lineFeed]),
        writing
      )
    case "pieces":
      return piecesOf(response, status, answer.media, answer.pieces, writing)
    case "stream":
      // It ends by itself when the reader leaves; cutting it short here would leave its source open.
      return Effect.uninterruptible(
        Effect.tryPromise({ try: () => writeStream(response, status, answer, writing), catch: (error) => error })
      )
  }
}

/** Writes a refusal, a fault or a defect. Spec: document 1 section 7; decision 0034. */
export const writeProblem = (
  response: Outgoing,
  { body, headers, status }: Problem,
  writing: Head & Pick<Writing, "bodiless">
): void => writeJson(response, status, headers, body, writing)

const noHeaders = {}
const lineFeed = utf8("\n")

type Head = Pick<Writing, "headers" | "requestId">

/** Returns the headers of every answer and its own in a row, as Node writes them fastest. */
const headOf = ({ headers, requestId }: Head, own: Headers): Array<string> => {
  const head = ["x-request-id", requestId, "x-content-type-options", "nosniff"]
  if (own["cache-control"] === undefined) head.push("cache-control", "no-store")
  if (headers !== undefined) for (const [name, value] of Object.entries(headers())) head.push(name, value)
  for (const name in own) head.push(name, own[name]!)
  return head
}

const writeJson = (
  response: Outgoing,
  status: number,
  own: Headers,
  value: unknown,
  writing: Head & Pick<Writing, "bodiless">
): void => writeText(response, status, own, JSON.stringify(value), writing)

/** As text: Node then joins head and body, and hands the socket one piece, a tenth of what a small answer costs. */
const writeText = (
  response: Outgoing,
  status: number,
  own: Headers,
  text: string,
  writing: Head & Pick<Writing, "bodiless">
): void => {
  const length = Buffer.byteLength(text)
  const head = headOf(writing, own)
  if (own["content-type"] === undefined) head.push("content-type", JSON_MEDIA)
  head.push("content-length", String(length))
  response.writeHead(status, head)
  // ASCII is the same bytes in both, and Node writes Latin-1 without inspecting them.
  response.end(writing.bodiless ? undefined : text, length === text.length ? "latin1" : "utf8")
}

/** A list, and the text around its items. */
interface ListText {
  readonly before: string
  readonly items: ReadonlyArray<unknown>
  readonly after: string
}

/** A member that has no more items than this is made into text with its object. */
const LONG_LIST = 64

/** The list that an answer is, or the longest of its members where that is long; null for any other answer. */
const listIn = (value: unknown): ListText | null => {
  if (Array.isArray(value)) return { before: "[", items: value, after: "]" }
  if (typeof value !== "object" || value === null || "toJSON" in value) return null
  let longest: ReadonlyArray<unknown> | null = null
  for (const member of Object.values(value))
    if (Array.isArray(member) && member.length > (longest?.length ?? LONG_LIST)) longest = member
  if (longest === null) return null
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const place = members.findIndex(([, member]) => member === longest)
  const textOf = ([name, member]: readonly [string, unknown]): string =>
    `${JSON.stringify(name)}:${JSON.stringify(member)}`
  return {
    before: `{${members
      .slice(0, place)
      .map((one) => `${textOf(one)},`)
      .join("")}${JSON.stringify(members[place]![0])}:[`,
    items: longest,
    after: `]${members
      .slice(place + 1)
      .map((one) => `,${textOf(one)}`)
      .join("")}}`
  }
}

/** How much of a list is made into text before others have their turn, about a millisecond's work. Unit: characters. */
const TURN_CHARACTERS = 65_536

/**
 * A list, at once where it is short. A long one is made into text while its reader takes it, so that nobody else waits
 * for that.
 */
const writeList = (
  response: Outgoing,
  status: number,
  list: ListText,
  writing: Writing
): Effect.Effect<void, unknown> =>
  Effect.suspend(() => {
    const { after, before, items } = list
    const first = textFrom(items, 0)
    return first.next === items.length
      ? Effect.sync(() => writeText(response, status, noHeaders, before + first.text + after, writing))
      : Effect.tryPromise({
          try: () => writeLongList(response, status, list, first, writing),
          catch: (error) => error
        })
  })

/** The text of the items from one on, as many as one turn takes, and which comes next. */
const textFrom = (items: ReadonlyArray<unknown>, from: number): { readonly text: string; readonly next: number } => {
  let text = ""
  let next = from
  while (next < items.length && text.length < TURN_CHARACTERS) {
    text += next === from ? JSON.stringify(items[next]) : `,${JSON.stringify(items[next])}`
    next++
  }
  return { text, next }
}

const writeLongList = async (
  response: Outgoing,
  status: number,
  { after, before, items }: ListText,
  first: { readonly text: string; readonly next: number },
  writing: Writing
): Promise<void> => {
  response.writeHead(status, headOf(writing, { "content-type": "application/json" }))
  if (writing.bodiless) return void response.end()
  let { next, text } = first
  for (let joint = before; ; joint = ",") {
    if (!(await push(response, joint + text, writing.stallMs))) return
    if (next === items.length) break
    await anotherTurn()
    ;({ next, text } = textFrom(items, next))
  }
  response.end(after)
}

const writeKept = (
  response: Outgoing,
  status: number,
  media: string,
  bytes: Uint8Array,
  own: Headers,
  writing: Writing
): void => {
  response.writeHead(status, headOf(writing, { "content-type": media, ...own, "content-length": String(bytes.length) }))
  response.end(writing.bodiless ? undefined : bytes)
}

const piecesOf = (
  response: Outgoing,
  status: number,
  media: string,
  pieces: ReadonlyArray<Uint8Array>,
  writing: Writing
): Effect.Effect<void, unknown> =>
  Effect.tryPromise({
    try: () => writePieces(response, status, media, pieces, writing),
    catch: (error) => error
  })

const writePieces = async (
  response: Outgoing,
  status: number,
  media: string,
  pieces: ReadonlyArray<Uint8Array>,
  writing: Writing
): Promise<void> => {
  const { bodiless, stallMs } = writing
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  response.writeHead(status, headOf(writing, { "content-type": media, "content-length": String(length) }))
  if (!bodiless) for (const piece of pieces) if (!(await push(response, piece, stallMs))) return
  response.end()
}

const writeStream = async (
  response: Outgoing,
  status: number,
  answer: Extract<Answer, { readonly kind: "stream" }>,
  writing: Writing
): Promise<void> => {
  const { bodiless, stallMs } = writing
  const own = {
    "content-type": answer.media,
    ...answer.headers,
    // A proxy that collects an answer before it passes it on would hold events back.
    ...(answer.fileName === null
      ? { "x-accel-buffering": "no" }
      : { "content-disposition": `attachment; filename="${answer.fileName}"` })
  }
  if (bodiless) return void response.writeHead(status, headOf(writing, own)).end()
  const chunks = answer.chunks[Symbol.asyncIterator]()
  let next = await chunks.next()
  response.writeHead(status, headOf(writing, own))
  try {
    while (next.done !== true) {
      if (!(await push(response, next.value, stallMs))) return void (await chunks.return?.())
      next = await chunks.next()
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
}

/**
 * Writes a piece and waits until the socket takes more; false when the reader is gone, or has taken nothing for
 * `stallMs` and is cut off.
 */
const push = async (response: Outgoing, piece: Uint8Array | string, stallMs: number): Promise<boolean> => {
  if (response.destroyed) return false
  if (response.write(piece)) return true
  const gone = new AbortController()
  const onClose = (): void => gone.abort()
  response.once("close", onClose)
  const stalled = setTimeout(() => response.destroy(), stallMs)
  try {
    await once(response as unknown as EventEmitter, "drain", { signal: gone.signal })
    return true
  } catch {
    return false
  } finally {
    clearTimeout(stalled)
    response.off("close", onClose)
  }
}
