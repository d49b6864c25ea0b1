/** The common part of the three forms: text, tool calls, usage and ends, in events and in whole answers. */
import type { GatewayForm } from "./upstreams.ts"
import type { SseEvent } from "./sse.ts"

/** JSON of an upstream: nothing of it is known. */
export type Any = any

/** A tool call of a model. */
export interface ToolCall {
  /** Its place in the answer, by which its pieces belong together. */
  readonly key: string
  readonly id: string | null
  readonly name: string
  /** Arguments as text: JSON, or free text where `isFree`. */
  readonly args: string
  readonly isFree: boolean
}

/** A piece of a tool call. What it does not say is null. */
export interface CallPiece extends Omit<ToolCall, "name" | "args"> {
  readonly name: string | null
  readonly args: string
  /** True when `args` are all of the arguments, and not more of them. */
  readonly isWhole: boolean
}

/** Tokens that an upstream reports; null: not yet. */
export interface Reported {
  readonly input: number | null
  readonly output: number | null
}

/** Meaning of an event, or of a part of it. */
export type Piece =
  | { readonly is: "text"; readonly characters: number }
  | { readonly is: "call"; readonly piece: CallPiece }
  /** Calls whose keys begin so are complete. */
  | { readonly is: "complete"; readonly keys: string }
  | { readonly is: "usage"; readonly usage: Reported }
  /** Nothing comes behind it. */
  | { readonly is: "end" }
  | { readonly is: "error" }

/** Sentences that stand in the place of refused calls, by key. */
export type Refused = ReadonlyMap<string, string>

/** Reads and writes one stream. */
export interface StreamCodec {
  /** Meaning of an event. Throws {@link Malformed} where a client could read it otherwise. */
  readonly read: (event: SseEvent) => ReadonlyArray<Piece>
  /** The event as the client gets it: as it came where nothing was refused. */
  readonly write: (event: SseEvent, refused: Refused) => string
  /** An end that clients understand, for an answer that stops in its midst. `output`: tokens so far. */
  readonly halt: (output: number) => string
}

/** One form. */
export interface Codec {
  readonly form: GatewayForm
  /** Path below the base URL of an upstream. */
  readonly path: string
  readonly secretHeaders: (secret: string) => { readonly [name: string]: string }
  /** The request as it is sent: with what makes the upstream report its usage. */
  readonly request: (body: Uint8Array) => { readonly body: Uint8Array; readonly isOwnUsage: boolean }
  /** True when text may overtake a call that waits: its place in the answer does not depend on it. */
  readonly overtakes: boolean
  /** `isOwnUsage`: the client did not ask for the usage, so that it does not get it. */
  readonly stream: (isOwnUsage: boolean) => StreamCodec
  /** Problem of an upstream in the midst of a stream, so that clients raise it. */
  readonly failure: (message: string) => string
  /** Calls and usage of a whole answer; null where it is none. */
  readonly whole: (answer: Any) => { readonly calls: ReadonlyArray<ToolCall>; readonly usage: Reported } | null
  /** The answer with sentences in the place of refused calls. */
  readonly rewrite: (answer: Any, refused: Refused) => Any
}

/** The upstream sent what clients would read otherwise than this gateway. */
export class Malformed extends Error {}

/** The JSON object of an event. */
export const jsonOf = ({ data }: SseEvent): Any => {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value === "object" && value !== null) return value
  } catch {
    // As below.
  }
  throw new Malformed("an event is no JSON object")
}

/** Tool calls of one answer: each is a record of its own. */
export const MAX_CALLS = 200
/** More tokens than any call takes: an upstream that reports more would use up the month of its org unit. */
const MAX_TOKENS = 20_000_000

/** Whole tokens, or a place in a list; null for anything else. */
export const tokens = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : null

/** The sum of those that are tokens; null where none is. */
export const sum = (...values: ReadonlyArray<unknown>): number | null => {
  const known = values.map(tokens).filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((all, one) => all + one, 0)
}

/** A text, or none. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** A list, or an empty one. */
export const listOf = (value: unknown): ReadonlyArray<Any> => (Array.isArray(value) ? value : [])
