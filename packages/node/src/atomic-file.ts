/**
 * Files that appear whole or not at all, and of which only one can win.
 *
 * The bytes go to a temporary name, are made durable, and get their real name by `link()`, which fails when the name is
 * taken: a
 * compare-and-swap of "not there" to "there" that needs no lock and leaves nothing half written when the process is
 * killed.
 */
import { randomBytes } from "node:crypto"
import { type FileHandle, link, open, rename, rm } from "node:fs/promises"
import { dirname, join } from "node:path"

/** Temporary names start with this; opening the folder may delete those that are {@link isAbandoned}. */
const TEMPORARY_PREFIX = "tmp-"

/** Names that this process is writing now. */
const writing = new Set<string>()

/**
 * True once nobody writes this temporary file any more, as far as this host knows.
 *
 * The name says which process made it. In another container that tells nothing: a live one whose file is deleted writes
 * it again, and a dead one whose number came back leaves a file until a later start.
 */
export const isAbandoned = (name: string): boolean => {
  if (!name.startsWith(TEMPORARY_PREFIX)) return false
  const pid = Number(/^tmp-([0-9]{1,10})-/.exec(name)?.[1] ?? 0)
  return pid === process.pid ? !writing.has(name) : pid === 0 || !isAlive(pid)
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // It may not be ours to ask.
    return codeOf(error) === "EPERM"
  }
}

/** Times a temporary file is written again after another process tidied it away. */
const ATTEMPTS = 4

/**
 * Creates `file` with these bytes, durable when the promise resolves.
 *
 * Answers false when the name is taken already; then nothing has changed.
 */
export const createFile = async (file: string, bytes: Uint8Array, mode: number): Promise<boolean> => {
  try {
    // A crash behind the link leaves the name without a durable folder entry: after a power cut it may be gone, and
    // nothing was promised yet.
    await named(file, bytes, mode, link)
    return true
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
    // The winner may not have synced the folder yet, and what we read from now on must outlive a power cut.
    await syncFolder(dirname(file))
    return false
  }
}

/**
 * Puts these bytes in the place of `file`, whatever it held: a reader sees the old content or the new, whole. Durable
 * when the promise resolves.
 */
export const replaceFile = (file: string, bytes: Uint8Array, mode: number): Promise<void> =>
  named(file, bytes, mode, rename)

/**
 * Writes a temporary file, durably, and has `give` give it its name. Again where another process tidied it away in
 * between.
 */
const named = async (
  file: string,
  bytes: Uint8Array,
  mode: number,
  give: (from: string, to: string) => Promise<void>
): Promise<void> => {
  const folder = dirname(file)
  for (let attempt = 1; ; attempt++) {
    const name = `${TEMPORARY_PREFIX}${process.pid}-${randomBytes(12).toString("hex")}`
    const temporary = join(folder, name)
    writing.add(name)
    try {
      await writeDurably(temporary, bytes, mode)
      await give(temporary, file)
      return await syncFolder(folder)
    } catch (error) {
      if (codeOf(error) !== "ENOENT" || attempt === ATTEMPTS) throw error
    } finally {
      await rm(temporary, { force: true })
      writing.delete(name)
    }
  }
}

const writeDurably = async (file: string, bytes: Uint8Array, mode: number): Promise<void> => {
  const handle = await open(file, "wx", mode)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes the names in a folder durable. */
export const syncFolder = async (folder: string): Promise<void> => {
  // Windows cannot open a folder; its names are journalled.
  if (process.platform === "win32") return
  let handle: FileHandle | undefined
  try {
    handle = await open(folder, "r")
    await handle.sync()
  } finally {
    await handle?.close()
  }
}

/** The system's code of a failed file operation, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined
