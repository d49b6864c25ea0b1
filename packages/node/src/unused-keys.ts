/**
 * Which keys were made in this folder and have signed nothing yet: a file for each, which goes before the first
 * signature.
 *
 * A key without it, beside an empty store and no guard, comes from a vault: it may have signed for a chain that the
 * store has lost, and a new chain of the same name would contradict that.
 */
import { createHash } from "node:crypto"
import { access, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { utf8 } from "@flyball/evidence"
import { createFile, syncFolder } from "./atomic-file.ts"
import { SECRET_MODE } from "./key-files.ts"
import type { PrivateKey } from "./private-key.ts"

const UNUSED = /^unused-[0-9a-f]{16}$/

/** By the key alone: its name may change. */
const nameOf = ({ publicKey }: Pick<PrivateKey, "publicKey">): string =>
  `unused-${createHash("sha256").update(publicKey).digest("hex").slice(0, 16)}`

/** Says so of a key that is about to be written. Doing it again does nothing. */
export const noteUnused = async (dir: string, key: Pick<PrivateKey, "publicKey">): Promise<void> => {
  await createFile(join(dir, nameOf(key)), utf8("This key was made here and has signed nothing.\n"), SECRET_MODE)
}

/** Removes the mark of a key that did not become the folder's. */
export const dropUnused = (dir: string, key: Pick<PrivateKey, "publicKey">): Promise<void> =>
  rm(join(dir, nameOf(key)), { force: true })

/** True for a key that was made here and has signed nothing. */
export const isUnused = (dir: string, key: Pick<PrivateKey, "publicKey">): Promise<boolean> =>
  access(join(dir, nameOf(key))).then(
    () => true,
    () => false
  )

/** From here on keys of this folder sign. Durable when the promise resolves. */
export const beginUse = async (dir: string): Promise<void> => {
  const unused = (await readdir(dir)).filter((name) => UNUSED.test(name))
  for (const name of unused) await rm(join(dir, name), { force: true })
  if (unused.length > 0) await syncFolder(dir)
}
