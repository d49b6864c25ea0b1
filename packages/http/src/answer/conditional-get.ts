/** Answers with what is kept, or that the caller has it already. */
import type { BytesAnswer } from "./answer.ts"
import type { Incoming } from "../exchange.ts"
import { knows } from "../request/accepts.ts"

/** Bytes that stay the same as long as the process lives. */
export interface Kept<M extends string = string> {
  readonly media: M
  readonly bytes: Uint8Array
  /** Strong, in its quotes. */
  readonly etag: string
  readonly headers: { readonly [name: string]: string }
}

/** The bytes, unless `If-None-Match` names them. */
export const conditionalGet = <M extends string>(
  { headers }: Incoming,
  { bytes, etag, headers: own, media }: Kept<M>
): BytesAnswer<M> => {
  const given = { ...own, etag, "cache-control": "no-cache" }
  return knows(headers["if-none-match"], etag)
    ? { kind: "unchanged", headers: given }
    : { kind: "kept", media, bytes, headers: given }
}
