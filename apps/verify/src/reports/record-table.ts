/** The records of a pack as a table (RFC 4180), from which an auditor draws a sample. */
import { closeSync, openSync, unlinkSync, writeFileSync } from "node:fs"
import { UsageError } from "../arguments.ts"
import { printable } from "./printable.ts"
import type { RecordEntry } from "../summary/summarize.ts"

/** Columns, in their order. Times are UTC; `after_ms` is empty where the record answers none. */
export const columns = [
  "seq",
  "at",
  "section",
  "kind",
  "agent_id",
  "about",
  "action",
  "status",
  "rule",
  "by",
  "approved_by",
  "minted_key",
  "after_ms",
  "note"
] as const satisfies ReadonlyArray<keyof RecordEntry>

/** A line of the table. A cell that a spreadsheet would run as a formula begins with an apostrophe. */
export const tableLine = (cells: ReadonlyArray<string | number | boolean | null>): string =>
  `${cells.map((cell) => cellText(cell === null ? "" : printable(String(cell)))).join(",")}\r\n`

const cellText = (text: string): string => {
  const inert = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert
}

/** A table that is being written. */
export interface TableFile {
  readonly add: (entry: RecordEntry) => void
  /** Writes the rest. */
  readonly end: () => void
  /** Removes the file: not every record is in it. */
  readonly discard: () => void
}

/**
 * Opens a new file for a table; no file is replaced.
 *
 * - Fails: every function, with `UsageError`.
 */
export const tableFile = (path: string): TableFile => {
  const attempt = <A>(act: () => A): A => {
    try {
      return act()
    } catch (cause) {
      const { code = "unknown" } = cause as NodeJS.ErrnoException
      throw new UsageError(
        code === "EEXIST"
          ? `--csv ${path} exists already. Name a new file.`
          : `--csv ${path} cannot be written (${code}). Name a file in a folder that you can write.`
      )
    }
  }
  const file = attempt(() => openSync(path, "wx", 0o600))
  let lines = tableLine(columns)
  const write = (): void => {
    // To its end: `writeSync` stops without an error where a disk is full.
    attempt(() => writeFileSync(file, lines))
    lines = ""
  }
  const discard = (): void => {
    closeSync(file)
    unlinkSync(path)
  }
  return {
    add: (entry) => {
      lines += tableLine(columns.map((column) => entry[column]))
      if (lines.length >= CHUNK) write()
    },
    end: () => {
      try {
        write()
      } catch (cause) {
        discard()
        throw cause
      }
      closeSync(file)
    },
    discard
  }
}

/** Characters that are written at once. */
const CHUNK = 65_536
