/** Opens the data folder, and makes it first when it is not there. Plain promises; the Effect layer is in `data-folder.ts`. */
import { randomBytes } from "node:crypto"
import { mkdir, readFile, readdir, rm, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { isOrigin, localOrigin, OriginInvalid, OriginRefused } from "@flyball/core"
import { fromUtf8, utf8 } from "@flyball/evidence"
import { codeOf, createFile, syncFolder, TEMPORARY_PREFIX } from "./atomic-file.ts"
import { FolderProblem } from "./folder-problem.ts"
import { type GuardFiles, guardFiles } from "./guard-files.ts"
import { formatPrivateKey, parsePrivateKey, type PrivateKey, privateKey } from "./private-key.ts"

/** Where the folder is, and the chain's name where it is already decided. */
export interface DataFolderOptions {
  readonly dir: string
  /** Fixed at the first start; `flyball.local/<26 random characters>` when left out then. */
  readonly origin?: string
}

/** An opened data folder. */
export interface OpenFolder {
  readonly key: PrivateKey
  readonly guard: GuardFiles
}

const FOLDER_MODE = 0o700
const SECRET_MODE = 0o600

/**
 * Opens or makes the data folder. Any number of processes may do so at once: they end with one key, one origin, one guard.
 *
 * - Fails: `OriginInvalid`, `OriginRefused` (the folder has another origin), `FolderProblem` (a file is garbled, or open to everybody), and the system's errors.
 */
export const openFolder = async (options: DataFolderOptions): Promise<OpenFolder> => {
  if (options.origin !== undefined && !isOrigin(options.origin)) throw new OriginInvalid({ origin: options.origin })
  const dir = resolve(options.dir)
  const guardDir = join(dir, "guard")
  await makeFolder(guardDir)
  await tidyTemporary(dir)
  await tidyTemporary(guardDir)
  const keyFile = join(dir, "signing.key")
  const key = (await readKey(keyFile)) ?? (await makeKey(dir, keyFile, options.origin))
  if (options.origin !== undefined && options.origin !== key.origin) {
    throw new OriginRefused({ expected: options.origin, found: key.origin, from: "option" })
  }
  await publish(join(dir, "origin"), key.origin)
  await publish(join(dir, "vkey"), key.vkey)
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

/** What a killed process left half made. A live one whose file goes away here writes it again. */
const tidyTemporary = async (dir: string): Promise<void> => {
  for (const name of await readdir(dir)) if (name.startsWith(TEMPORARY_PREFIX)) await rm(join(dir, name), { force: true })
}

const makeKey = async (dir: string, file: string, origin: string | undefined): Promise<PrivateKey> => {
  if (await hasSigned(dir)) {
    // They are made after the key: another process may have made all of them since we looked for it.
    const made = await readKey(file)
    if (made !== null) return made
    throw new FolderProblem(file, "it is missing, though this folder has had a key. Bring it back from a backup; a new key could not carry on the chain")
  }
  const key = privateKey(origin ?? localOrigin(randomBytes(16)), new Uint8Array(randomBytes(32)))
  if (await createFile(file, formatPrivateKey(key), SECRET_MODE)) return key
  // Another process was first: its key is the key.
  const theirs = await readKey(file)
  if (theirs === null) throw new FolderProblem(file, "the file was there and is gone again. Start once more, and look at what else works in this folder")
  return theirs
}

const hasSigned = async (dir: string): Promise<boolean> =>
  (await readdir(dir)).some((name) => name === "origin" || name === "vkey") || (await readdir(join(dir, "guard"))).length > 0

const readKey = async (file: string): Promise<PrivateKey | null> => {
  const bytes = await readOrNull(file)
  if (bytes === null) return null
  if (process.platform !== "win32" && ((await stat(file)).mode & 0o007) !== 0) {
    throw new FolderProblem(file, `everybody on this host may read or write the signing key. Run chmod 600 on it, and ask who may have copied it`)
  }
  const key = parsePrivateKey(fromUtf8(bytes) ?? "")
  if (typeof key === "string") throw new FolderProblem(file, key)
  return key
}

/** Writes what is public of the key beside it, for people and scripts; refuses when something else is written there. */
const publish = async (file: string, text: string): Promise<void> => {
  const bytes = (await readOrNull(file)) ?? ((await createFile(file, utf8(`${text}\n`), SECRET_MODE)) ? null : await readOrNull(file))
  if (bytes !== null && fromUtf8(bytes) !== `${text}\n`) {
    throw new FolderProblem(file, "it does not say what signing.key says. One of the two comes from another folder: bring the right pair back, or delete this one if signing.key is right")
  }
}

const readOrNull = async (file: string): Promise<Uint8Array | null> => {
  try {
    return await readFile(file)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
}

const diskFolder = (dir: string) => ({
  path: dir,
  list: () => readdir(dir),
  read: (name: string) => readOrNull(join(dir, name)),
  create: (name: string, bytes: Uint8Array) => createFile(join(dir, name), bytes, SECRET_MODE),
  remove: (name: string) => rm(join(dir, name), { force: true }),
  sync: () => syncFolder(dir)
})
