/** Options of a guard on Postgres, checked before any connection. */
import { describeValue, isOptions } from "@flyball/core/storage"
import { optionsProblem } from "../postgres/options-problem.ts"

/** Place of a guard that several hosts share. */
export interface PostgresGuardOptions {
  /** `postgres://user:password@host:port/database`; `sslmode` as in libpq. Best another server than the store's. */
  readonly url: string
  /** Default `flyball_guard`. Made when it is missing. Each chain has a schema of its own, never the store's. */
  readonly schema?: string | undefined
  /** Shown in `pg_stat_activity`. Default `flyball guard`. */
  readonly applicationName?: string | undefined
  /** Makes nothing and signs nothing: for commands that read. A role that may only SELECT will do. */
  readonly readOnly?: boolean | undefined
}

/** The schema of a guard that names none. */
export const guardSchema = "flyball_guard"

/** The schema of a store on Postgres that names none. Not imported: the client would be loaded with it. */
const storeSchema = "flyball"

/**
 * Describes the problem with these options in a sentence that continues after a colon; null if there is none. A text in
 * `url` is not shown.
 */
export const guardOptionsProblem = (options: PostgresGuardOptions): string | null => {
  if (!isOptions(options))
    return (
      `postgresGuard takes an object such as { url: "postgres://user@host/database" }, not ` +
      `${typeof options === "string" ? "a text" : describeValue(options)}`
    )
  const { applicationName, readOnly, schema, url } = options
  const problem = optionsProblem({ url, schema, applicationName, readOnly })
  if (problem !== null) return problem
  return schema === storeSchema
    ? `the schema ${storeSchema} is the store's, and a restore of the store would restore the guard with it; ` +
        `choose another`
    : null
}

/** The guard's place for a person; never its password. */
export const guardPlace = ({ schema = guardSchema, url }: PostgresGuardOptions): string => {
  const { host, pathname } = new URL(url)
  return `the schema ${schema} of the database ${pathname.slice(1)} at ${host}`
}
