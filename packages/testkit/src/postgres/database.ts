/** Empty databases on a running server, one for each test that wants to be alone. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"

/** A database nobody else uses. */
export interface FreshDatabase {
  readonly url: string
  /** Removes it, and ends whoever is still connected. */
  readonly drop: () => Promise<void>
}

/**
 * Creates an empty database beside the one that `url` names.
 *
 * It sorts text as people do (ICU, en-US) where the server can, because most servers in the world do: a store that relies on byte order must ask for it.
 *
 * - Fails: rejects with the server's error; the role in `url` needs CREATEDB.
 */
export const freshDatabase = async (url: string): Promise<FreshDatabase> => {
  const name = `flyball_test_${randomBytes(8).toString("hex")}`
  const create = `create database ${name} template template0 encoding 'UTF8'`
  await execute(url, `${create} locale_provider icu icu_locale 'en-US'`).catch(() => execute(url, create))
  const fresh = new URL(url)
  fresh.pathname = `/${name}`
  return { url: fresh.href, drop: () => execute(url, `drop database if exists ${name} with (force)`) }
}

const execute = (url: string, sql: string): Promise<void> =>
  PgConnection.make({ url: Redacted.make(url) }).pipe(
    Effect.flatMap((connection) => connection.query(sql, [], false)),
    Effect.scoped,
    Effect.asVoid,
    Effect.runPromise
  )
