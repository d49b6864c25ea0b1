/**
 * The numbered schema changes of a Postgres store.
 *
 * The first line of each file says whether older processes may keep running. Files are never edited once released:
 * until the first release there is one, and a change edits it. Sealed bytes are never migrated.
 */
import { readFileSync } from "node:fs"

/** One schema change. */
export interface Migration {
  readonly id: number
  readonly name: string
  /** False: a process that knows only the migrations before this one must stop writing. */
  readonly olderMayRun: boolean
  /** Statements in order, for the schema `flyball`; see {@link inSchema}. */
  readonly statements: ReadonlyArray<string>
}

const files = ["0001-store"]

/** Splits at every `;` that ends a line; our files hold no other statements that span one. */
const splitStatements = (text: string): ReadonlyArray<string> =>
  text
    .replace(/^\s*--.*$/gm, "")
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "")

const read = (file: string): Migration => {
  const text = readFileSync(new URL(`./migrations/${file}.sql`, import.meta.url), "utf8")
  const olderMayRun = /^-- Older processes may keep running: (yes|no)\b/.exec(text)?.[1]
  if (olderMayRun === undefined)
    throw new Error(`Expected the first line of migration ${file} to say whether older processes may keep running.`)
  return {
    id: Number(file.slice(0, 4)),
    name: file.slice(5),
    olderMayRun: olderMayRun === "yes",
    statements: splitStatements(text)
  }
}

/** All migrations that this version knows, by id ascending from 1 without gaps. */
export const migrations: ReadonlyArray<Migration> = files.map(read)

/** The schema number of this version. */
export const latestSchema = migrations.length

/** Quotes a name for SQL text. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Moves SQL that is written for the schema `flyball` to another schema. */
export const inSchema = (sql: string, schema: string): string =>
  sql.replace(/\bflyball\.(?=[a-z])/g, () => `${quoted(schema)}.`)
