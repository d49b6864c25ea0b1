/**
 * Opens the data folder, and makes it first if it does not exist. Plain promises; the Effect layer is in
 * `data-folder.ts`.
 */
import { randomBytes } from "node:crypto"
import { mkdir, readdir, rm } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { type GuardChoice, isOrigin, localOrigin, OriginInvalid, OriginRefused } from "@flyball/core"
import { fromUtf8, utf8 } from "@flyball/evidence"
import { createFile, isAbandoned, syncFolder } from "./atomic-file.ts"
import { FolderProblem } from "./folder-problem.ts"
import { type GuardFiles, type GuardFolder, guardFiles } from "./guard-files.ts"
import { keyFile, readKey, readKeys, readOrNull, SECRET_MODE } from "./key-files.ts"
import { formatPrivateKey, type PrivateKey, privateKey } from "./private-key.ts"
import { dropUnused, noteUnused } from "./unused-keys.ts"

/** Path of the folder, and the chain's name if it is already decided. */
export interface DataFolderOptions {
  readonly dir: string
  /**
   * Fixed at the first start. Left out then: the `origin` of the governor, else `flyball.local/<26 random characters>`.
   */
  readonly origin?: string
  /**
   * The signing guard that folders on several hosts share, such as `postgresGuard(…)` of `@flyball/storage-sql`. Left
   * out: files in this folder, for processes on this host alone.
   */
  readonly guard?: GuardChoice | undefined
}

/** An opened data folder. */
export interface OpenFolder {
  readonly key: PrivateKey
  readonly guard: GuardFiles
}

const FOLDER_MODE = 0o700

/**
 * Opens or makes the data folder. Any number of processes may do so at once: they end with one key, one origin, one
 * guard.
 *
 * - Fails: `OriginInvalid`, `OriginRefused` (the folder has another origin), `FolderProblem` (a file is garbled, or
 *   open to everybody), and the system's errors.
 */
export const openFolder = async (options: Omit<DataFolderOptions, "guard">): Promise<OpenFolder> => {
  if (options.origin !== undefined && !isOrigin(options.origin)) throw new OriginInvalid({ origin: options.origin })
  const dir = resolve(options.dir)
  const guardDir = join(dir, "guard")
  await makeFolder(guardDir)
  await tidyTemporary(dir)
  await tidyTemporary(guardDir)
  if ((await readKey(keyFile(dir))) === null) await makeKey(dir, keyFile(dir), options.origin)
  const key = await publishedKey(dir, options.origin)
  const guard = guardFiles(diskFolder(guardDir))
  // A guard that cannot be read stops the start, not the first signature.
  await guard.read()
  return { key, guard }
}

const makeFolder = async (dir: string): Promise<void> => {
  const made = await mkdir(dir, { recursive: true, mode: FOLDER_MODE })
  if (made === undefined) return
  // The names above what was made must outlive a power cut, or key and guard go with them.
  for (let at = dir; at.length >= made.length; at = dirname(at)) await syncFolder(dirname(at))
}

/** Reads the key, and writes what is public of it beside it. A rotation that continues meanwhile is followed. */
const publishedKey = async (dir: string, origin: string | undefined): Promise<PrivateKey> => {
  for (let attempt = 1; ; attempt++) {
    const keys = await readKeys(dir)
    const { current: key, next } = keys
    if (origin !== undefined && origin !== key.origin)
      throw new OriginRefused({ expected: origin, found: key.origin, from: "option" })
    try {
      await publish(join(dir, "origin"), [key.origin])
      // Replaced before the next key takes its place: it may name either.
      await publish(join(dir, "vkey"), next === null ? [key.vkey] : [key.vkey, next.vkey])
      return key
    } catch (error) {
      const again = await readKeys(dir)
      const changed = again.current.vkey !== key.vkey || again.next?.vkey !== next?.vkey
      if (!(error instanceof FolderProblem) || !changed || attempt === ATTEMPTS) throw error
    }
  }
}

/** Times the folder is read again because a rotation changed it meanwhile. */
const ATTEMPTS = 8

/** Deletes the temporary files that a killed process left. */
const tidyTemporary = async (dir: string): Promise<void> => {
  for (const name of await readdir(dir)) if (isAbandoned(name)) await rm(join(dir, name), { force: true })
}

const makeKey = async (dir: string, file: string, origin: string | undefined): Promise<PrivateKey> => {
  if (await hasSigned(dir)) {
    // They are made after the key: another process may have made all of them since the key was read.
    const made = await readKey(file)
    if (made !== null) return made
    throw new FolderProblem(
      file,
      "it is missing, though this folder has had a key. Bring it back from a backup; a new key could not carry " +
        "on the chain"
    )
  }
  const key = privateKey(origin ?? localOrigin(randomBytes(16)), new Uint8Array(randomBytes(32)))
  // Before the key: killed in between, the folder has a note about a key that nobody has.
  await noteUnused(dir, key)
  if (await createFile(file, formatPrivateKey(key), SECRET_MODE)) return key
  // Another process was first: its key is the key.
  await dropUnused(dir, key)
  const theirs = await readKey(file)
  if (theirs === null)
    throw new FolderProblem(
      file,
      "the file was there and is gone again. Start once more, and check what else uses this folder"
    )
  return theirs
}

const hasSigned = async (dir: string): Promise<boolean> =>
  (await readdir(dir)).some((name) => name === "origin" || name === "vkey") ||
  (await readdir(join(dir, "guard"))).length > 0

/**
 * Writes what is public of the key beside it, for people and scripts: the first of these texts. Refuses when something
 * else than one of them is written there.
 */
const publish = async (file: string, texts: readonly [string, ...ReadonlyArray<string>]): Promise<void> => {
  const bytes =
    (await readOrNull(file)) ??
    ((await createFile(file, utf8(`${texts[0]}\n`), SECRET_MODE)) ? null : await readOrNull(file))
  if (bytes !== null && !texts.some((text) => fromUtf8(bytes) === `${text}\n`)) {
    throw new FolderProblem(
      file,
      "it does not say what signing.key says. One of the two comes from another folder: bring the right pair " +
        "back, or delete this one if signing.key is right"
    )
  }
}

/** The guard's folder on the disk. */
export const diskFolder = (dir: string): GuardFolder => ({
  path: dir,
  list: () => readdir(dir),
  read: (name: string) => readOrNull(join(dir, name)),
  create: (name: string, bytes: Uint8Array) => createFile(join(dir, name), bytes, SECRET_MODE),
  remove: (name: string) => rm(join(dir, name), { force: true }),
  sync: () => syncFolder(dir)
})
