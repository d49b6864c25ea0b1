/**
 * Lists with a cursor: pages of rows in an order that does not change while others write.
 *
 * A document is in a list through look-up keys, one for each order and filter, whose values sort as the list does. A
 * row that stays, and keeps its values, comes exactly once in a walk. Spec: document 2 section 4; platform section 2.
 */
import {
  DEFAULT_LIST,
  DEFAULT_SORT,
  detailItem,
  InvalidInput,
  type ListQuery,
  type PlatformEvent,
  type PlatformEventType
} from "@flyball/contract"
import { formatInstant, fromBase64, parseInstant, toBase64 } from "@flyball/evidence"
import { hmacKey, type HmacKey } from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { Entropy } from "../../foundation/entropy.ts"
import { beside } from "../commit-claim.ts"
import { commitWithRetry } from "../commit-with-retry.ts"
import { idAtMs } from "../../foundation/id-time.ts"
import { firstEventId } from "../outbox/ids.ts"
import type { StoredEvent } from "../outbox/outbox.ts"
import { type Document, type KeyRange, type ReadFault, Storage } from "../port.ts"
import { cursorOf, positionIn } from "./cursor.ts"
import { type ListEntry, sortable, sortValues } from "./keys.ts"

/** A request for a page. */
export interface ListRequest {
  /** Name of the list, as its row has it. */
  readonly route: string
  /** Whose rows: the digest of an org unit. */
  readonly owner: string
  /** The decoded query: what every list takes, and texts that filter. */
  readonly query: ListQuery & { readonly [filter: string]: string | number | undefined }
}

/** A page of rows, and the cursor of the next one. */
export interface ListPage<A> {
  readonly rows: ReadonlyArray<A>
  readonly has_more: boolean
  readonly next_cursor: string | null
}

/** Where the rows of a list come from. Positions are texts that sort as the rows do. */
export interface ListSource<A, E> {
  /** Rows between two positions, both exclusive. */
  readonly read: (range: KeyRange) => Effect.Effect<ReadonlyArray<A>, E>
  readonly position: (row: A) => string
  readonly createdAtMs: (row: A) => number
  /** A position before all rows created at this time or later; left out where rows are not in that order. */
  readonly from?: (atMs: number) => string
}

/** Lists of the platform API. Spec: document 2 section 4, conventions 2 and 3. */
export interface ListsApi {
  /** A page of any rows. */
  readonly page: <A, E>(
    request: ListRequest,
    source: ListSource<A, E>
  ) => Effect.Effect<ListPage<A>, InvalidInput | ReadFault | E>
  /** A page of the documents of a collection that have keys of a list. `filter` is a name among their filters. */
  readonly documents: (
    request: ListRequest,
    collection: string,
    entryOf: (document: Document) => ListEntry,
    filter?: string
  ) => Effect.Effect<ListPage<Document>, InvalidInput | ReadFault>
  /** A page of the events of an owner, of these types, as they were sent: newest first, the only order of its query. */
  readonly events: (
    request: ListRequest,
    types: ReadonlyArray<PlatformEventType>
  ) => Effect.Effect<ListPage<PlatformEvent>, InvalidInput | ReadFault>
}

const SETTINGS = { collection: "list_settings", id: "cursor_key" } as const
const KEY_BYTES = 32

/** Service of lists. Every process over one store signs with the same key. Spec: document 2 section 4. */
export class Lists extends Context.Service<Lists, ListsApi>()("flyball/core/Lists") {
  static readonly layer: Layer.Layer<Lists, never, Storage> = Layer.effect(
    Lists,
    Effect.gen(function* () {
      const storage = yield* Storage
      const entropy = yield* Entropy
      const { sha256 } = yield* EvidenceCrypto
      let known: HmacKey | null = null

      /** The key that signs cursors: made once, and kept in the store. */
      const signingKey: Effect.Effect<HmacKey, ReadFault> = Effect.suspend(() =>
        known !== null
          ? Effect.succeed(known)
          : beside(
              commitWithRetry(
                storage,
                Effect.gen(function* () {
                  const kept = yield* storage.get(SETTINGS.collection, SETTINGS.id)
                  const bytes = kept === null ? entropy.bytes(KEY_BYTES) : fromBase64(String(kept.body["key"]))!
                  if (kept === null)
                    yield* storage.commit({
                      puts: [{ ...SETTINGS, expectedVersion: 0, body: { key: toBase64(bytes) } }]
                    })
                  return (known = hmacKey(bytes, sha256))
                })
              )
            )
      )

      const page: ListsApi["page"] = Effect.fnUntraced(function* ({ owner, query, route }, source) {
        const { cursor, limit = DEFAULT_LIST, sort = DEFAULT_SORT, ...rest } = query
        const filters = Object.fromEntries(
          Object.entries(rest).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
        )
        const key = yield* signingKey
        const signed = { route, owner, sort, filters }
        const start = cursor === undefined ? null : positionIn(signed, cursor, key, sha256)
        if (cursor !== undefined && start === null) return yield* new InvalidInput({ detail: [notOfThisQuery(cursor)] })
        const isDown = sort.startsWith("-")
        const afterMs = msOf(rest.created_after) ?? -1
        const beforeMs = msOf(rest.created_before) ?? Number.POSITIVE_INFINITY
        const [after, before] = [positionAt(source, afterMs), positionAt(source, beforeMs)]
        const rows: Array<Parameters<typeof source.position>[0]> = []
        for (let at = start; ;) {
          const wanted = limit + 1 - rows.length
          const [low, high] = isDown ? [after, at ?? before] : [at ?? after, before]
          const read = yield* source.read({
            ...(low === null ? {} : { after: low }),
            ...(high === null ? {} : { before: high }),
            limit: wanted,
            order: isDown ? "desc" : "asc"
          })
          for (const row of read) {
            const createdAtMs = source.createdAtMs(row)
            if (createdAtMs > afterMs && createdAtMs < beforeMs) rows.push(row)
          }
          if (rows.length > limit || read.length < wanted) break
          at = source.position(read.at(-1)!)
        }
        const last = rows.length > limit ? source.position(rows[limit - 1]!) : null
        return {
          rows: rows.slice(0, limit),
          has_more: last !== null,
          next_cursor: last === null ? null : cursorOf(signed, last, key, sha256)
        }
      })

      return Lists.of({
        page,
        documents: (request, collection, entryOf, filter) => {
          const sort = (request.query.sort ?? DEFAULT_SORT).replace("-", "")
          const word = filter === undefined ? undefined : request.query[filter]
          const key = word === undefined ? `list.${sort}` : `list.${sort}.${filter}`
          const prefix = word === undefined ? `${request.owner} ` : `${request.owner} ${word} `
          return page(request, {
            read: ({ after = "", before = "~", ...range }) =>
              storage.range(collection, key, { ...range, after: prefix + after, before: prefix + before }),
            position: (document) => {
              const entry = entryOf(document)
              return `${sortValues(entry)[sort]!} ${entry.id}`
            },
            createdAtMs: (document) => entryOf(document).createdAtMs,
            ...(sort === "created_at" ? { from: sortable } : {})
          })
        },
        events: (request, types) =>
          page(request, {
            read: ({ after, before, limit }) =>
              Effect.map(
                storage.outbox.owned({
                  owner: request.owner,
                  types,
                  limit,
                  ...(after === undefined ? {} : { after }),
                  ...(before === undefined ? {} : { before })
                }),
                (found) => found.map(shownEvent)
              ),
            position: ({ id }) => id,
            createdAtMs: ({ id }) => idAtMs(id),
            from: firstEventId
          })
      })
    })
  )
}

const msOf = (time: string | undefined): number | null => (time === undefined ? null : parseInstant(time))

const positionAt = <A, E>({ from }: ListSource<A, E>, atMs: number): string | null =>
  from === undefined || atMs < 0 || !Number.isFinite(atMs) ? null : from(atMs)

const shownEvent = ({ atMs, data, id, type }: StoredEvent): PlatformEvent => ({
  id,
  type: type as PlatformEventType,
  created_at: formatInstant(atMs),
  data
})

const notOfThisQuery = (cursor: string) =>
  detailItem(["query", "cursor"], "value_error", "Expected next_cursor of a page of the same query", cursor)
