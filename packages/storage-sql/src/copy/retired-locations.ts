/** Locations of retired stores: a backup contains them as well as the store in use. Spec: decision 0010. */
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import type { StorageOpenFault } from "@flyball/core/storage"
import { Effect } from "effect"
import { defaultSchema } from "../postgres/postgres-storage.ts"
import type { StoreLocation } from "../store-location.ts"
import { withPostgres } from "../store-location.ts"

/** A retired store, and its number: the oldest has the lowest. Spec: decision 0010. */
export interface RetiredLocation {
  readonly number: number
  readonly location: StoreLocation
}

/**
 * The retired stores beside this one, oldest first. They can be copied with `copyToFile`, and nothing is created beside
 * their files. Spec: decision 0010.
 */
export const retiredLocations = (
  store: StoreLocation
): Effect.Effect<ReadonlyArray<RetiredLocation>, StorageOpenFault> =>
  store.kind === "sqlite"
    ? Effect.sync(() => retiredFiles(store.file))
    : Effect.map(
        withPostgres(store, true, (pool, schema) =>
          Effect.scoped(Effect.flatMap(pool.reserve, (connection) => connection.query(schemas, [schema])))
        ),
        ({ rows }) =>
          rows.map((row) => ({
            number: row["number"] as number,
            location: { ...store, schema: row["name"] as string }
          }))
      )

/**
 * The location beside `store` of the retired store with this number, 1 for the first: where a restore puts it. Spec:
 * decision 0010.
 */
export const retiredLocation = (store: StoreLocation, number: number): StoreLocation =>
  store.kind === "sqlite"
    ? { kind: "sqlite", file: `${store.file}.retired-${number}` }
    : { ...store, schema: `${store.schema ?? defaultSchema}_retired_${number}` }

const schemas = `SELECT nspname::text AS name, substring(nspname FROM '[0-9]+$')::int4 AS number FROM pg_namespace
  WHERE nspname ~ ('^' || $1::text || '_retired_[1-9][0-9]{0,8}$') ORDER BY number`

const retiredFiles = (file: string): ReadonlyArray<RetiredLocation> => {
  if (!existsSync(file)) return []
  const real = realpathSync(file)
  const prefix = `${basename(real)}.retired-`
  return (
    readdirSync(dirname(real))
      .filter((name) => name.startsWith(prefix) && /^[1-9][0-9]{0,8}$/.test(name.slice(prefix.length)))
      .map((name) => ({ path: join(dirname(real), name), number: Number(name.slice(prefix.length)) }))
      // A recovery that stopped half-way: it is still the file in use.
      .filter(({ path }) => statSync(path, { bigint: true }).ino !== statSync(real, { bigint: true }).ino)
      .sort((a, b) => a.number - b.number)
      .map(({ number, path }) => ({
        number,
        location: { kind: "sqlite", file: `${pathToFileURL(path).href}?immutable=1` }
      }))
  )
}
