/** JSON that is there as text already: records, whose exact bytes are answered. */
import type { RecordOut } from "@flyball/contract"
import type { ChainApi } from "@flyball/core"
import { utf8 } from "@flyball/evidence"
import type { Effect } from "effect"

type StoredRecord = Effect.Success<ReturnType<ChainApi["record"]>>

declare const encodes: unique symbol

/** UTF-8 of the JSON of an `A`, in pieces. Only the functions of this file make it. */
export interface JsonText<A> {
  readonly pieces: ReadonlyArray<Uint8Array>
  /** Only a type, never set. */
  readonly [encodes]: A
}

const jsonText = <A>(pieces: ReadonlyArray<Uint8Array>): JsonText<A> => ({ pieces }) as JsonText<A>

/** A record as it was hashed. Its form is that of `RecordOut`: storage holds nothing else. Spec: format 1 section 1. */
export const recordText = ({ bytes }: StoredRecord): JsonText<RecordOut> => jsonText([bytes])

const [open, comma, close] = [utf8("["), utf8(","), utf8("]")]

/** The list of these items. */
export const listText = <A>(items: ReadonlyArray<JsonText<A>>): JsonText<ReadonlyArray<A>> =>
  jsonText([open, ...items.flatMap(({ pieces }, index) => (index === 0 ? pieces : [comma, ...pieces])), close])
