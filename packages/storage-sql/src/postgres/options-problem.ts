/**
 * Checks the options of a store on Postgres before any connection: plain JavaScript has no compiler that would check
 * them.
 */
import { isOptions, describeValue } from "@flyball/core/storage"
import type { PostgresOptions } from "./sessions.ts"

const schemaPattern = /^[a-z_][a-z0-9_]{0,62}$/

/**
 * Describes the problem with these options in a sentence that continues after a colon; null if there is none. A text in
 * `url` is not shown: it may hold a password.
 */
export const optionsProblem = (options: PostgresOptions): string | null => {
  if (!isOptions(options))
    return (
      `postgresStorage takes an object such as { url: "postgres://user@host/database" }, not ` +
      `${typeof options === "string" ? "a text" : describeValue(options)}`
    )
  const { applicationName, maxConnections, readOnly, schema, url } = options
  if (!isAddress(url)) {
    const instead =
      typeof url === "string"
        ? "a text of another form"
        : isOptions(url) && (url as unknown) instanceof URL
          ? "an object (URL); write url.href"
          : describeValue(url)
    return `url is the address of a database, such as postgres://user@host/database, not ${instead}`
  }
  if (schema !== undefined && typeof schema !== "string")
    return `schema is the name of a schema, not ${describeValue(schema)}`
  if (schema !== undefined && !schemaPattern.test(schema))
    return `the name of the schema does not match ${schemaPattern.source}; choose another`
  if (maxConnections !== undefined && !(Number.isInteger(maxConnections) && maxConnections >= 2)) {
    return (
      `maxConnections is a whole number from 2, not ${describeValue(maxConnections)}; one connection ` +
      "writes and the others read"
    )
  }
  if (applicationName !== undefined && (typeof applicationName !== "string" || applicationName.includes("\0")))
    return `applicationName is a text, not ${describeValue(applicationName)}`
  if (readOnly !== undefined && typeof readOnly !== "boolean")
    return `readOnly is true, false or left out, not ${describeValue(readOnly)}`
  return null
}

const isAddress = (url: unknown): boolean =>
  typeof url === "string" && ["postgres:", "postgresql:"].includes(URL.parse(url)?.protocol ?? "")
