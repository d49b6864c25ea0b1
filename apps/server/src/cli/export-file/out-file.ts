/** The file that a command writes: whole or not at all. */
import { randomBytes } from "node:crypto"
import { createWriteStream, lstatSync, type Stats, statSync } from "node:fs"
import { link, rename, rm } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { pipeline } from "node:stream/promises"
import { fileProblem } from "../../host/file-problem.ts"
import { UsageError } from "../arguments.ts"

/** Fails with {@link UsageError} when nothing can be written to `file`, before anything else is done. */
export const checkOutFile = (flag: string, file: string): void => {
  const found = stat(file)
  if (found?.isDirectory() === true) throw new UsageError(`${flag} ${file} is a folder; name a file in it`)
  if (found !== undefined && !found.isFile()) throw new UsageError(`${flag} ${file} is not an ordinary file`)
  const folder = dirname(resolve(file))
  if (stat(folder)?.isDirectory() !== true)
    throw new UsageError(`${flag} ${file}: the folder ${folder} does not exist; create it first`)
}

/**
 * Fails with {@link UsageError} when something has the name `file`, a link to nothing included. `advice`: for a command
 * without `--force`.
 */
export const checkIsNew = (flag: string, file: string, advice = "--force replaces it"): void => {
  if (isThere(file)) throw new UsageError(`${flag} ${file} exists already; ${advice}`)
}

const isThere = (file: string): boolean => {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined
  } catch {
    // A file in the place of a folder, a folder that we may not enter: writing will say it.
    return false
  }
}

const stat = (file: string): Stats | undefined => {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    // A file in the place of a folder, or a folder that we may not enter: the next check reports it.
    return undefined
  }
}

/**
 * Writes `content` beside `file` and moves it there when it is complete and durable, so that half a pack never has the
 * name. What has the name
 * already stays, unless `replace` says otherwise; a link is then replaced itself, and what it leads to stays.
 *
 * - Fails: with a sentence when the disk does, or the name is taken; with the content's own error, or the signal's
 *   reason, otherwise. `file` is
 *   then as it was before.
 */
export const writeOutFile = async (
  file: string,
  content: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  replace = false
): Promise<void> => {
  const partial = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString("hex")}.partial`)
  const sink = createWriteStream(partial, { flags: "wx", mode: 0o600, flush: true })
  let sinkFailure: unknown = null
  sink.once("error", (cause) => {
    sinkFailure = cause
  })
  try {
    await pipeline(content, sink, { signal }).catch((cause: unknown) => {
      if (signal.aborted) throw signal.reason
      // The pipeline destroys the sink with the content's error, so only the system's own is the disk's.
      throw cause === sinkFailure && isSystemError(cause) ? unwritable(file, cause) : cause
    })
    await (replace ? rename(partial, file) : nameNew(partial, file)).catch((cause: unknown) =>
      Promise.reject(isSystemError(cause) ? unwritable(file, cause) : cause)
    )
  } catch (cause) {
    // Where the content fails at once the file is still being opened, and would be there after it was removed.
    if (!sink.destroy().closed) await new Promise<void>((done) => sink.once("close", () => done()))
    await rm(partial, { force: true })
    throw cause
  }
}

/** Gives a file a name that nobody has: `rename` would take it from a file that came meanwhile. */
const nameNew = async (partial: string, file: string): Promise<void> => {
  try {
    await link(partial, file)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === "EEXIST" || isThere(file))
      throw new Error(`${file} was created by another process while the command ran. Nothing is left of the attempt`, {
        cause
      })
    if (code === undefined || !NO_LINKS.has(code)) throw cause
    return rename(partial, file)
  }
  await rm(partial, { force: true })
}

/** Error codes of file systems without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])

const isSystemError = (cause: unknown): boolean => (cause as NodeJS.ErrnoException).syscall !== undefined

const unwritable = (file: string, cause: unknown): Error =>
  new Error(`${file} cannot be written: ${fileProblem(cause)}. Nothing is left of the attempt`, { cause })
