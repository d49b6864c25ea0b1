/** Where a store of these tests is, as a value that travels to a child process. */
import type { StorageChoice } from "@flyball/core"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"

/** Where the store is. */
export type StoreAt = { readonly sqlite: string } | { readonly postgres: string }

/** The storage choice of a place. */
export const storageAt = (at: StoreAt): StorageChoice =>
  "sqlite" in at ? sqliteStorage({ file: at.sqlite }) : postgresStorage({ url: at.postgres })
