/** The store that the settings name, for commands that handle it as a whole. */
import { resolve } from "node:path"
import type { StoreLocation } from "@flyball/storage-sql/operations"
import type { Settings } from "../settings/read.ts"

/** Where the store is. Fails with the sentence `inMemory` when it lives in a server's memory. */
export const storeLocation = ({ database }: Settings, inMemory: string): StoreLocation => {
  if (database.kind === "memory") throw new Error(inMemory)
  return database
}

/** The store's name for a person; never its password. */
export const storeName = (store: StoreLocation): string => {
  if (store.kind === "sqlite") return resolve(store.file)
  const { host, pathname } = new URL(store.url)
  return `the database ${pathname.slice(1)} at ${host}`
}
