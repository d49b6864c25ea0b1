/** Converts SQLite's errors into faults of the port. */
import type { Fault } from "./answers.ts"

/** The store holds something that cannot be true. */
export class StoreDamaged extends Error {}

/** The store must not be opened by this process: too new, not ours, or in use. */
export class StoreRefused extends Error {}

/** A draft that breaks the format, or another bug of a planner. Nothing of its ChangeSet may be written. */
export class Unwritable extends Error {}

/** Primary result codes. Spec: SQLite, "Result and Error Codes". */
const codes = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26
}

/** The primary result code of an error of `node:sqlite`, null when it is none. */
const primaryCode = (error: unknown): number | null =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : null

/**
 * Says what an error means. `wrote` is what is true when the statement that failed was not a COMMIT.
 *
 * A constraint cannot fail in a sound file: expectations are checked before anything is written.
 */
export const faultOf = (error: unknown, wrote: "no" | "unknown" = "no"): Fault => {
  const text = error instanceof Error ? error.message : String(error)
  const code = primaryCode(error)
  if (error instanceof StoreDamaged) return { _tag: "Corrupt", reason: text }
  if (error instanceof StoreRefused) return { _tag: "Unavailable", reason: text, wrote: "no" }
  if (code === null) return { _tag: "Defect", reason: text }
  switch (code) {
    // Also at COMMIT: the log's frames are written before anything is durable, and the last of them, which makes them
    // count, was not.
    case codes.full:
      return { _tag: "Unavailable", reason: "the disk is full; free some space", wrote: "no" }
    case codes.busy:
    case codes.locked:
      return { _tag: "Unavailable", reason: "another process holds the database; stop it, or wait", wrote: "no" }
    case codes.readOnly:
    case codes.cannotOpen:
      return {
        _tag: "Unavailable",
        reason: `the file cannot be written or opened (${text}); check its folder and permissions`,
        wrote
      }
    case codes.io:
    case codes.noMemory:
      return { _tag: "Unavailable", reason: `the disk or the memory failed (${text})`, wrote }
    case codes.constraint:
      return { _tag: "Corrupt", reason: `a row is there that must not be (${text})` }
    case codes.corrupt:
    case codes.notADatabase:
      return { _tag: "Corrupt", reason: `SQLite says: ${text}` }
    default:
      return { _tag: "Unavailable", reason: `SQLite failed unexpectedly: ${text}`, wrote }
  }
}
