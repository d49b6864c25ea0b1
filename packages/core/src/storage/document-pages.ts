/** A whole collection, read in pages. */
import { Effect, Option, Stream } from "effect"
import type { Document, ReadFault, StorageApi } from "./port.ts"

/** Unit: documents. */
const PAGE = 500

/**
 * The documents of a collection by id ascending, one page at a time. The next page is read when it is pulled.
 *
 * - Unit: `size` is the number of documents of a page. The last page is shorter, and may be empty.
 */
export const documentPages = (
  storage: StorageApi,
  collection: string,
  size = PAGE
): Stream.Stream<ReadonlyArray<Document>, ReadFault> =>
  Stream.paginate(undefined as string | undefined, (after) =>
    Effect.map(
      storage.list(collection, after === undefined ? { limit: size } : { after, limit: size }),
      (page) => [[page], page.length < size ? Option.none<string>() : Option.some(page.at(-1)!.id)] as const
    )
  )

/** All documents of a collection by id ascending, each page as `show` makes it. */
export const everyDocument = <A, E = never, R = never>(
  storage: StorageApi,
  collection: string,
  show: (page: ReadonlyArray<Document>) => Effect.Effect<ReadonlyArray<A>, E, R>
): Effect.Effect<ReadonlyArray<A>, E | ReadFault, R> =>
  Effect.map(Stream.runCollect(Stream.mapEffect(documentPages(storage, collection), show)), (pages) => pages.flat())
