/** Types of a handler's answer, before it is bytes on a socket. */

/** A success. Its status stands in the endpoint table. `A` is the value of an answer in JSON. */
export type Answer<A = unknown> =
  | { readonly kind: "json"; readonly value: A }
  /** Bytes that are there already, in pieces, so that nobody joins them. */
  | { readonly kind: "pieces"; readonly media: string; readonly pieces: ReadonlyArray<Uint8Array> }
  /** Bytes that are made while they are sent. The first failure before the first byte is still a proper answer. */
  | {
      readonly kind: "stream"
      readonly media: string
      readonly chunks: AsyncIterable<Uint8Array>
      /** File name under which a browser saves it; null for events, which are read as they come. */
      readonly fileName: string | null
    }
  /** Bytes that stay the same, and what says so. */
  | {
      readonly kind: "kept"
      readonly media: string
      readonly bytes: Uint8Array
      readonly headers: { readonly [name: string]: string }
    }
  /** The caller has them already. */
  | { readonly kind: "unchanged"; readonly headers: { readonly [name: string]: string } }
  /** Which methods a path takes. */
  | { readonly kind: "allow"; readonly methods: ReadonlyArray<string> }

/** Answers with JSON. */
export const json = <A>(value: A): Answer<A> => ({ kind: "json", value })

/** Answers with bytes of a media type. */
export const pieces = (media: string, ...bytes: ReadonlyArray<Uint8Array>): Answer<never> => ({
  kind: "pieces",
  media,
  pieces: bytes
})
