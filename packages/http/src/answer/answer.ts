/** Types of a handler's answer, before it is bytes on a socket. */
import type { JSON_MEDIA, LINES_MEDIA } from "@flyball/contract/http"
import type { Schema } from "effect"
import type { JsonText } from "./json-text.ts"

type Headers = { readonly [name: string]: string }

/**
 * Names of the members of a value; of an item, where it is a list. A value of more members than its type is accepted,
 * a name that is none of these is not. Members of members are compared at run time, in `answers.test.ts` of the server.
 */
type MembersOf<A> = unknown extends A
  ? PropertyKey
  : A extends ReadonlyArray<infer Item>
    ? MembersOf<Item>
    : A extends object
      ? keyof A
      : never

/** A value in JSON. */
interface JsonValue<A> {
  readonly kind: "json"
  readonly value: A
  /** Beside or instead of those of every answer. */
  readonly headers?: Headers
  /** Only a type, never set: a member that the row does not declare is a compile error. */
  readonly members?: MembersOf<A>
}

/** The caller has it already. */
interface Unchanged {
  readonly kind: "unchanged"
  readonly headers: Headers
}

/** JSON of an `A`. */
export type JsonAnswer<A> = JsonValue<A> | { readonly kind: "text"; readonly text: JsonText<A> } | Unchanged

/** JSON of an `A` on each line. */
export interface LinesAnswer<A> {
  readonly kind: "lines"
  readonly lines: ReadonlyArray<JsonText<A>>
}

/** Bytes of a media type of `M`. */
export type BytesAnswer<M extends string> =
  /** Bytes that are there already, in pieces, so that nobody joins them. */
  | { readonly kind: "pieces"; readonly media: M; readonly pieces: ReadonlyArray<Uint8Array> }
  /** Bytes that are made while they are sent. The first failure before the first byte is still a proper answer. */
  | {
      readonly kind: "stream"
      readonly media: M
      readonly chunks: AsyncIterable<Uint8Array>
      /** File name under which a browser saves it; null for events, which are read as they come. */
      readonly fileName: string | null
      /** Beside those of every answer. */
      readonly headers?: Headers
      /** In place of the row's. */
      readonly status?: number
    }
  /** Bytes that stay the same, and what says so. */
  | {
      readonly kind: "kept"
      readonly media: M
      readonly bytes: Uint8Array
      readonly headers: Headers
      /** In place of the row's. */
      readonly status?: number
    }
  | Unchanged

/** Lines, where the row names their media type; its value is the list of them. */
type LinesOf<A, M> = typeof LINES_MEDIA extends M
  ? A extends ReadonlyArray<infer Item>
    ? LinesAnswer<Item>
    : never
  : never

/** An answer of a row: JSON of its schema, and bytes of the media types that it names besides. */
export type AnswerOf<S extends Schema.Top | null, M extends string> = S extends Schema.Top
  ? JsonAnswer<S["Type"]> | LinesOf<S["Type"], M> | BytesAnswer<Exclude<M, typeof JSON_MEDIA | typeof LINES_MEDIA>>
  : BytesAnswer<M>

/** A success of any row. Its status is in the endpoint table. */
export type Answer =
  | JsonAnswer<unknown>
  | LinesAnswer<unknown>
  | BytesAnswer<string>
  /** Which methods a path takes. */
  | { readonly kind: "allow"; readonly methods: ReadonlyArray<string> }

/** Answers with JSON. */
export const json = <A>(value: A): JsonAnswer<A> => ({ kind: "json", value })

/** Answers with JSON and headers of its own: an ETag, how long it may be kept. */
export const jsonWith = <A>(headers: Headers, value: A): JsonAnswer<A> => ({ kind: "json", value, headers })

/** Answers with bytes of a media type. */
export const pieces = <const M extends string>(media: M, ...bytes: ReadonlyArray<Uint8Array>): BytesAnswer<M> => ({
  kind: "pieces",
  media,
  pieces: bytes
})
