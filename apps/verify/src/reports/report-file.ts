/** A file that a report is written to. It never replaces another one. */
import { lstat, open, unlink } from "node:fs/promises"
import { UsageError } from "../arguments.ts"

/**
 * Refuses a file that exists, before a long check begins.
 *
 * - Fails: `UsageError`.
 */
export const checkIsNew = async (path: string): Promise<void> => {
  const isThere = await lstat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== "ENOENT"
  )
  if (isThere) throw exists(path)
}

/**
 * Writes a file that does not exist yet; one that cannot be written to its end is removed again.
 *
 * - Fails: `UsageError`.
 */
export const writeNew = async (path: string, text: string): Promise<void> => {
  const file = await open(path, "wx").catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === "EEXIST" ? exists(path) : unwritable(path, cause)
  })
  try {
    await file.writeFile(text)
  } catch (cause) {
    await unlink(path).catch(() => undefined)
    throw unwritable(path, cause as NodeJS.ErrnoException)
  } finally {
    await file.close()
  }
}

const exists = (path: string): UsageError =>
  new UsageError(`--html ${path} exists already, or cannot be read. Name a new file.`)

const unwritable = (path: string, { code }: NodeJS.ErrnoException): UsageError =>
  new UsageError(`--html ${path} cannot be written (${code ?? "unknown"}). Name a file in a folder that you can write.`)
