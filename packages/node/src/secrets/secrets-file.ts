/**
 * The keys of the secret box as a file: one key a line, base64 of 32 bytes. The first seals; the others open what they
 * sealed once.
 *
 * Making it needs no lock: of two processes that start at once one makes the file by `link()`, and the other reads it.
 */
import { constants } from "node:fs"
import { type FileHandle, mkdir, open } from "node:fs/promises"
import { dirname } from "node:path"
import { fromBase64, fromUtf8, toBase64, utf8 } from "@flyball/evidence"
import { codeOf, createFile, replaceFile } from "../atomic-file.ts"
import { FolderProblem } from "../folder-problem.ts"
import { SECRET_MODE } from "../key-files.ts"
import { newSecretsKey, SECRETS_KEY_BYTES, type SecretsKey, secretsKey } from "./sealed.ts"

/** One key at least; the first seals. */
export type SecretsKeys = readonly [SecretsKey, ...ReadonlyArray<SecretsKey>]

/** More keys than anybody rotates through; a file that has more is another file. */
const MAX_KEYS = 16
/** Unit: bytes. {@link MAX_KEYS} lines of 44 characters, each ended in at most two bytes. */
const MAX_FILE_BYTES = MAX_KEYS * 46
const FOLDER_MODE = 0o700
const ANYBODY = 0o007
const GROUP_WRITES = 0o020
const GROUP = 0o070

/** Path of the file, and whether it may be created. */
export interface SecretsFile {
  readonly path: string
  /**
   * It is ours, in the data folder: the folder is made if it does not exist, and nobody but its owner may read the
   * file. Others' may be read by a group, as mounted secrets are.
   */
  readonly isOurs: boolean
}

/**
 * Reads the keys, and makes the file with one new key if it does not exist. Throws `FolderProblem`, or the system's
 * error.
 */
export const openSecretsFile = async (file: SecretsFile): Promise<SecretsKeys> => {
  const found = await readSecretsFile(file)
  if (found !== null) return found
  if (file.isOurs) await mkdir(dirname(file.path), { recursive: true, mode: FOLDER_MODE })
  await createFile(file.path, format([newSecretsKey()]), SECRET_MODE)
  const made = await readSecretsFile(file)
  if (made === null)
    throw new FolderProblem(file.path, "it was made, and is gone again. Find out who removes files there")
  return made
}

/** Puts a new key before the others. Run it in one place at a time. */
export const addSecretsKey = async (file: SecretsFile): Promise<SecretsKeys> => {
  const keys = await openSecretsFile(file)
  if (keys.length === MAX_KEYS)
    throw new FolderProblem(
      file.path,
      `it holds ${MAX_KEYS} keys, which is the most. Take out the last ones, which nothing is sealed with any more`
    )
  const next: SecretsKeys = [newSecretsKey(), ...keys]
  await replaceFile(file.path, format(next), SECRET_MODE)
  return next
}

/** Null if it does not exist. */
export const readSecretsFile = async (file: SecretsFile): Promise<SecretsKeys | null> => {
  let handle: FileHandle
  try {
    // Without waiting: a pipe of this name would hold up the start.
    handle = await open(file.path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
  try {
    // Of what was opened, not of what the name may lead to by now.
    const seen = await handle.stat()
    if (!seen.isFile())
      throw new FolderProblem(file.path, "a file with the keys of the secrets is expected, and something else is there")
    if (process.platform !== "win32") refuseMode(file, seen.mode)
    if (seen.size > MAX_FILE_BYTES)
      throw new FolderProblem(
        file.path,
        `it has ${seen.size} bytes, and ${MAX_KEYS} keys have at most ${MAX_FILE_BYTES}. Name the file with ` +
          "the keys of the secrets"
      )
    const keys = parse(fromUtf8(await handle.readFile()) ?? "")
    if (typeof keys === "string") throw new FolderProblem(file.path, keys)
    return keys
  } finally {
    await handle.close()
  }
}

const refuseMode = ({ isOurs, path }: SecretsFile, mode: number): void => {
  if ((mode & ANYBODY) !== 0)
    throw new FolderProblem(
      path,
      "everybody on this host may read or write the key of the secrets. Run chmod 600 on it, and ask who may " +
        "have copied it"
    )
  if ((mode & GROUP_WRITES) !== 0)
    throw new FolderProblem(path, "its group may write the key of the secrets. Run chmod 600 on it")
  if (isOurs && (mode & GROUP) !== 0)
    throw new FolderProblem(
      path,
      "its group may read the key of the secrets. Run chmod 600 on it, and ask who may have copied it"
    )
}

const format = (keys: ReadonlyArray<SecretsKey>): Uint8Array =>
  utf8(keys.map(({ bytes }) => `${toBase64(bytes)}\n`).join(""))

/** Answers a sentence that never shows what was read. */
const parse = (text: string): SecretsKeys | string => {
  const lines = text.replace(/\r?\n$/, "").split(/\r?\n/)
  const keys: Array<SecretsKey> = []
  for (const line of lines) {
    const bytes = /^[A-Za-z0-9+/]{43}=$/.test(line) ? fromBase64(line) : null
    if (bytes === null || bytes.length !== SECRETS_KEY_BYTES)
      return (
        "each line is expected to be the base64 of 32 random bytes (openssl rand -base64 32), and one is " +
        "something else. Bring the file back from a backup"
      )
    keys.push(secretsKey(bytes))
  }
  const [first, ...others] = keys
  if (first === undefined || keys.length > MAX_KEYS)
    return `1 to ${MAX_KEYS} keys are expected, and there are ${keys.length}`
  if (new Set(keys.map(({ id }) => id)).size < keys.length) return "a key is there twice. Take one of the two lines out"
  return [first, ...others]
}
