/**
 * Checks the path of a SQLite store before it is opened, with more precise errors than SQLite's own.
 */
import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { fileProblem } from "./file-problem.ts"
import { makeFolder } from "./make-folder.ts"

/** First bytes of every SQLite database. Spec: SQLite, "Database File Format" 1.3.1. */
const HEADER = Buffer.from("SQLite format 3\0")

/** Fails with a sentence when no store can be at `file`. Makes the folder above it when the store is to be written. */
export const prepareStoreFile = (file: string, readOnly: boolean): void => {
  const shown = resolve(file)
  if (hasStoreFile(file)) return
  if (readOnly)
    throw new Error(
      `there is no store at ${shown}. flyball serve creates it at its first start; FLYBALL_DATABASE_URL and ` +
        `FLYBALL_DATA_DIR name its place`
    )
  makeParent(shown)
}

/**
 * True when there is a file that can be a store; false when there is none. Makes nothing. Fails with a sentence when
 * something else is there.
 */
export const hasStoreFile = (file: string): boolean => {
  const shown = resolve(file)
  const found = stat(shown)
  if (found === undefined) return false
  if (found.isDirectory())
    throw new Error(`the store should be a file, and ${shown} is a folder. FLYBALL_DATABASE_URL names it`)
  if (!found.isFile())
    throw new Error(`the store should be an ordinary file, and ${shown} is not. FLYBALL_DATABASE_URL names it`)
  if (found.size > 0 && !startsAsSqlite(shown)) {
    throw new Error(
      `${shown} is not a SQLite database. If it was the store, restore it from a backup; otherwise name another ` +
        `file with FLYBALL_DATABASE_URL`
    )
  }
  return true
}

const stat = (file: string): Stats | undefined => {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (cause) {
    throw new Error(`the store ${file} cannot be read: ${fileProblem(cause)}`, { cause })
  }
}

const makeParent = (file: string): void => {
  try {
    makeFolder(dirname(file))
  } catch (cause) {
    throw new Error(
      `the folder of the store ${file} cannot be created: ${fileProblem(cause)}. FLYBALL_DATABASE_URL names it`,
      { cause }
    )
  }
  if (!statSync(dirname(file)).isDirectory())
    throw new Error(
      `the store ${file} should be in a folder, and ${dirname(file)} is a file. FLYBALL_DATABASE_URL names it`
    )
}

const startsAsSqlite = (file: string): boolean => {
  let descriptor: number
  try {
    descriptor = openSync(file, "r")
  } catch (cause) {
    throw new Error(`the store ${file} cannot be read: ${fileProblem(cause)}`, { cause })
  }
  try {
    const bytes = Buffer.alloc(HEADER.length)
    return readSync(descriptor, bytes, 0, bytes.length, 0) === bytes.length && bytes.equals(HEADER)
  } finally {
    closeSync(descriptor)
  }
}
