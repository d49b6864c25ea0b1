/**
 * The signing key and the key that is to follow it, as files.
 *
 * `signing.key` is the current key. The next one waits in `signing.key.next-<key id of the current one>`, made by
 * `link()`: of two processes that make one
 * both end with the same. Its name says whom it follows, so that a process which slept through a whole rotation cannot
 * put its key in a later one's place.
 *
 * Promoting is one `rename()` of that file over `signing.key`. `vkey` is replaced before, and may therefore name either
 * key while both are there.
 */
import { randomBytes } from "node:crypto"
import { type FileHandle, open, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { equalBytes, fromUtf8, utf8 } from "@flyball/evidence"
import { codeOf, createFile, replaceFile, syncFolder } from "./atomic-file.ts"
import { FolderProblem } from "./folder-problem.ts"
import { formatPrivateKey, keyIdHex, parsePrivateKey, type PrivateKey, privateKey } from "./private-key.ts"

/** Files that only their owner reads. */
export const SECRET_MODE = 0o600

/** The keys in a folder. */
export interface FolderKeys {
  readonly current: PrivateKey
  /** The key that is to follow; null until one was made. */
  readonly next: PrivateKey | null
}

/** Times the files are read or written again because another process changed them meanwhile. */
const ATTEMPTS = 8

/** Path of the current key. */
export const keyFile = (dir: string): string => join(dir, "signing.key")
/** Path of the key that follows `current` in a rotation. */
export const nextKeyFile = (dir: string, current: PrivateKey): string =>
  join(dir, `signing.key.next-${keyIdHex(current)}`)
const vkeyFile = (dir: string): string => join(dir, "vkey")

/** Reads both keys. Throws `FolderProblem` when one is garbled, open to everybody, or the current one is missing. */
export const readKeys = async (dir: string): Promise<FolderKeys> => {
  for (let attempt = 1; ; attempt++) {
    const current = await readKey(keyFile(dir))
    if (current === null)
      throw new FolderProblem(
        keyFile(dir),
        "it is missing, though this folder has had a key. Bring it back from a backup; a new key could not " +
          "carry on the chain"
      )
    const next = await readKey(nextKeyFile(dir, current))
    // A next key that is gone may have become the current one since we read that.
    if (next !== null || attempt === ATTEMPTS || (await readKey(keyFile(dir)))?.vkey === current.vkey)
      return { current, next }
  }
}

/** Makes the key that is to follow, unless there is one. Durable when the promise resolves. */
export const makeNextKey = async (dir: string): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { current, next } = await readKeys(dir)
    if (next !== null) return
    const key = privateKey(current.origin, new Uint8Array(randomBytes(32)))
    const made = await createFile(nextKeyFile(dir, current), formatPrivateKey(key), SECRET_MODE)
    if ((await readKeys(dir)).current.vkey === current.vkey) return
    // The key that ours follows was rotated away while we made it. A key is rotated once, so nothing will ever name
    // this one.
    if (made) await rm(nextKeyFile(dir, current), { force: true })
  }
  throw new FolderProblem(
    dir,
    `the signing key was rotated ${ATTEMPTS} times while the next one was made. Start fewer processes on this folder`
  )
}

/**
 * Puts the next key, which must have this public key, in the place of the current one, and destroys the old one's file
 * content. Nothing when it exists already.
 *
 * A crash leaves either both keys, and the next call continues, or the new key alone. Then the old one's bytes may be
 * left in blocks that no file names.
 */
export const promoteNextKey = async (dir: string, publicKey: Uint8Array): Promise<void> => {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { current, next } = await readKeys(dir)
    if (equalBytes(current.publicKey, publicKey)) return
    if (next === null || !equalBytes(next.publicKey, publicKey)) break
    await replaceFile(vkeyFile(dir), utf8(`${next.vkey}\n`), SECRET_MODE)
    if (await takePlace(dir, current)) return
    // Another process was faster, and may be further on: write the current state again.
    await replaceFile(vkeyFile(dir), utf8(`${(await readKeys(dir)).current.vkey}\n`), SECRET_MODE)
  }
  throw new FolderProblem(
    keyFile(dir),
    "the key that is to take its place is not here. Bring the newest copy of the whole folder back"
  )
}

/** Renames the next key over the current one; false when another process has done so. */
const takePlace = async (dir: string, current: PrivateKey): Promise<boolean> => {
  const old = await openToOverwrite(keyFile(dir))
  try {
    // What was opened may be the next key already.
    if (old !== null && fromUtf8(await old.readFile()) !== fromUtf8(formatPrivateKey(current))) return false
    await rename(nextKeyFile(dir, current), keyFile(dir))
    await syncFolder(dir)
    if (old !== null) await overwrite(old)
    return true
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false
    throw error
  } finally {
    await old?.close()
  }
}

/**
 * Null where a file cannot be overwritten: Windows renames over no open file, and an operator may have made the key
 * read-only. It is then only removed.
 */
const openToOverwrite = async (file: string): Promise<FileHandle | null> => {
  if (process.platform === "win32") return null
  try {
    return await open(file, "r+")
  } catch (error) {
    if (codeOf(error) === "EACCES" || codeOf(error) === "EPERM") return null
    throw error
  }
}

/**
 * Overwrites a file that has no name any more. One that has was linked by somebody, a backup perhaps, and is theirs.
 */
const overwrite = async (handle: FileHandle): Promise<void> => {
  const { nlink, size } = await handle.stat()
  if (nlink > 0) return
  await handle.write(new Uint8Array(size), 0, size, 0)
  await handle.sync()
}

/** Reads one key; null when there is no such file. */
export const readKey = async (file: string): Promise<PrivateKey | null> => {
  for (let attempt = 1; ; attempt++) {
    const bytes = await readOrNull(file)
    if (bytes === null) return null
    await refuseOpenToAll(file)
    const key = parsePrivateKey(fromUtf8(bytes) ?? "")
    if (typeof key !== "string") return key
    // Opened just before another process put the next key in its place and overwrote this one: then the name leads to a
    // good one now.
    if (attempt === ATTEMPTS) throw new FolderProblem(file, key)
  }
}

const refuseOpenToAll = async (file: string): Promise<void> => {
  if (process.platform === "win32") return
  try {
    if (((await stat(file)).mode & 0o007) === 0) return
  } catch (error) {
    // It was there a moment ago: a next key that became the current one.
    if (codeOf(error) === "ENOENT") return
    throw error
  }
  throw new FolderProblem(
    file,
    "everybody on this host may read or write the signing key. Run chmod 600 on it, and ask who may have copied it"
  )
}

/** The bytes of a file; null if it does not exist. */
export const readOrNull = async (file: string): Promise<Uint8Array | null> => {
  try {
    return await readFile(file)
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
}
