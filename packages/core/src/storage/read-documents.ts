/**
 * Documents out of the text that a store keeps of them: all stores answer them alike, and none holds up the host with
 * many long ones.
 */
import { Effect } from "effect"
import { queueTask } from "../foundation/task-queue.ts"
import type { Document, JsonObject } from "./port.ts"

/** A document as a store keeps it: its body is text. */
export interface DocumentText {
  readonly collection: string
  readonly id: string
  readonly version: number
  /** JSON. */
  readonly body: string
}

/**
 * Size after which a store ends a page of a long list, the last document included. Unit: characters of bodies, or
 * bytes.
 */
export const LIST_UNITS = 1_048_576

/** How much is read before others have their turn: about a millisecond's work. Unit: characters of bodies. */
const TURN_UNITS = 65_536

/** Reads a document and freezes it, because several callers may get it. */
export const readDocument = ({ body, collection, id, version }: DocumentText): Document =>
  Object.freeze({ collection, id, version, body: frozen(JSON.parse(body) as JsonObject) })

/**
 * Reads documents, a little in each turn of the event loop where they are long. What is answered may be kept and
 * answered to many, so it is frozen too.
 */
export const readDocuments = (rows: ReadonlyArray<DocumentText>): Effect.Effect<ReadonlyArray<Document>> =>
  Effect.suspend(() =>
    unitsOf(rows) <= TURN_UNITS
      ? Effect.succeed(Object.freeze(rows.map(readDocument)))
      : Effect.map(readInTurns(rows), (found) => Object.freeze(found))
  )

const readInTurns = Effect.fnUntraced(function* (rows: ReadonlyArray<DocumentText>) {
  const documents: Array<Document> = []
  let units = 0
  for (const row of rows) {
    if (units + row.body.length > TURN_UNITS && units > 0) {
      yield* nextTurn
      units = 0
    }
    units += row.body.length
    documents.push(readDocument(row))
  }
  return documents
})

const nextTurn = Effect.callback<void>((resume) => queueTask(() => resume(Effect.void)))

/** A piece of a list. */
export interface ListPiece {
  readonly rows: ReadonlyArray<DocumentText>
  /** True when more may follow: it was ended by its length. */
  readonly isCut: boolean
}

/**
 * Reads a list piece by piece.
 *
 * - `ask`: at most `limit` documents behind `after` (null: all), of at most {@link LIST_UNITS} together, the last one
 *   on top.
 */
export const listDocuments = Effect.fnUntraced(function* <E>(
  page: { readonly after?: string; readonly limit?: number } | undefined,
  ask: (after: string, limit: number | null) => Effect.Effect<ListPiece, E>
): Effect.fn.Return<ReadonlyArray<Document>, E> {
  const documents: Array<Document> = []
  let { after = "" } = page ?? {}
  for (let left = page?.limit ?? null; ;) {
    const { isCut, rows } = yield* ask(after, left)
    for (const document of yield* readDocuments(rows)) documents.push(document)
    if (left !== null) left -= rows.length
    if (!isCut || left === 0) return documents
    after = rows.at(-1)!.id
  }
})

/** Total length of the bodies of these rows. Unit: characters. */
export const unitsOf = (rows: ReadonlyArray<DocumentText>): number =>
  rows.reduce((units, { body }) => units + body.length, 0)

const frozen = <A>(value: A): A => {
  if (typeof value !== "object" || value === null) return value
  // Names of a long list's members would be a text each.
  if (Array.isArray(value)) for (const item of value) frozen(item)
  else for (const name in value) frozen(value[name])
  return Object.freeze(value)
}
