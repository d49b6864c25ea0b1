/** Empty databases on a running server, one for each test that wants to be alone. */
import * as PgConnection from "@effect/sql-pg/PgConnection"
import { Effect, Exit, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"

/** A database nobody else uses. */
export interface FreshDatabase {
  readonly url: string
  /** Removes it, and ends all remaining connections. */
  readonly drop: () => Promise<void>
}

/**
 * Creates an empty database beside the one that `url` names.
 *
 * It sorts text as people do (ICU, en-US) where the server can, because most servers in the world do: a store that
 * relies on byte order must ask for it.
 *
 * `folder`: where its tables lie, an empty folder of the account that the server runs as; else among those of all
 * databases.
 *
 * - Fails: rejects with the server's error; the role in `url` needs CREATEDB.
 */
export const freshDatabase = async (
  url: string,
  { folder }: { readonly folder?: string } = {}
): Promise<FreshDatabase> => {
  const name = `flyball_test_${randomBytes(8).toString("hex")}`
  if (folder !== undefined) await execute(url, `create tablespace ${name} location '${folder.replaceAll("'", "''")}'`)
  const create =
    `create database ${name} template template0 encoding ` +
    `'UTF8'${folder === undefined ? "" : ` tablespace ${name}`}`
  await execute(url, `${create} locale_provider icu icu_locale 'en-US'`).catch(() => execute(url, create))
  const fresh = new URL(url)
  fresh.pathname = `/${name}`
  return { url: fresh.href, drop: () => execute(url, `drop database if exists ${name} with (force)`) }
}

/** Rows as the server answers them. */
export type Rows = ReadonlyArray<{ readonly [column: string]: unknown }>

/** A connection for a test that reads below what it tests. */
export interface OpenDatabase {
  readonly ask: (sql: string, params?: ReadonlyArray<unknown>) => Promise<Rows>
  readonly close: () => Promise<void>
}

/** Opens a connection. Rejects with the server's error, as its questions do. */
export const openDatabase = async (url: string): Promise<OpenDatabase> => {
  const scope = Scope.makeUnsafe()
  const connection = await Effect.runPromise(
    Effect.provideService(PgConnection.make({ url: Redacted.make(url) }), Scope.Scope, scope)
  )
  return {
    ask: (sql, params = []) => Effect.runPromise(Effect.map(connection.query(sql, params, false), ({ rows }) => rows)),
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const execute = async (url: string, sql: string): Promise<void> => {
  const { ask, close } = await openDatabase(url)
  await ask(sql).finally(close)
}
