/** The limit of writing: the same rows, made beforehand, by node:sqlite and nothing else. */
import { DatabaseSync, type SQLInputValue } from "node:sqlite"

/** Tables whose rows a capture writes, and the order in which one decision's rows go in. */
const captureTables = ["record", "part", "once", "tile"] as const

/** All rows of a store that a benchmark filled, grouped by the thousand records they belong to. */
export interface CaptureRows {
  readonly schema: ReadonlyArray<string>
  readonly columns: { readonly [table: string]: number }
  readonly groups: ReadonlyArray<
    ReadonlyArray<{ readonly table: string; readonly values: ReadonlyArray<SQLInputValue> }>
  >
}

/** Reads a store's capture rows, `groupSize` records a group. */
export const readCaptureRows = (file: string, groupSize: number): CaptureRows => {
  const db = new DatabaseSync(file, { readOnly: true })
  const schema = db
    .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND tbl_name IN ('record', 'part', 'once', 'tile')")
    .all()
    .map((row) => String(row["sql"]))
  const columns: Record<string, number> = {}
  const groups: Array<Array<{ table: string; values: ReadonlyArray<SQLInputValue> }>> = []
  /**
   * Records come first and make the groups; a row of another table that comes later than all of them goes with the
   * last.
   */
  const groupOf = (table: string, seq: number) =>
    table === "record"
      ? (groups[Math.floor(seq / groupSize)] ??= [])
      : groups[Math.min(Math.floor(seq / groupSize), groups.length - 1)]!
  for (const table of captureTables) {
    const statement = db.prepare(`SELECT * FROM ${table}`)
    columns[table] = statement.columns().length
    for (const row of statement.iterate()) {
      const seq =
        table === "part"
          ? Math.floor(Number(row["id"]) / 32)
          : table === "tile"
            ? Math.max(0, (Number(row["idx"]) + 1) * 256 ** (Number(row["level"]) + 1) - 1)
            : Number(row["seq"])
      groupOf(table, seq).push({ table, values: Object.values(row) as ReadonlyArray<SQLInputValue> })
    }
  }
  db.close()
  return { schema, columns, groups }
}

/**
 * Inserts the rows into a fresh file, one transaction a group, as durably as the store does. Answers the milliseconds
 * from the first transaction behind `warmUp` groups until the file is closed.
 */
export const insertCaptureRows = (file: string, rows: CaptureRows, warmUp: number): number => {
  const db = new DatabaseSync(file)
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA secure_delete = " +
      "ON; PRAGMA temp_store = MEMORY"
  )
  for (const sql of rows.schema) db.exec(sql)
  const inserts = new Map(
    captureTables.map((table) => [
      table as string,
      db.prepare(`INSERT INTO ${table} VALUES (${Array.from({ length: rows.columns[table]! }, () => "?").join(",")})`)
    ])
  )
  const insert = (groups: CaptureRows["groups"]): void => {
    for (const group of groups) {
      db.exec("BEGIN IMMEDIATE")
      for (const { table, values } of group) inserts.get(table)!.run(...values)
      db.exec("COMMIT")
    }
  }
  insert(rows.groups.slice(0, warmUp))
  const startedAt = performance.now()
  insert(rows.groups.slice(warmUp))
  db.close()
  return performance.now() - startedAt
}
