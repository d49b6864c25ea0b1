/** Keeps a data folder's key under another origin: the last step of a recovery. Decision 0010 of core. */
import { rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { isOrigin, OriginInvalid } from "@flyball/core"
import { replaceFile } from "./atomic-file.ts"
import { keyFile, nextKeyFile, readKeys, SECRET_MODE } from "./key-files.ts"
import { openFolder } from "./open-folder.ts"
import { formatPrivateKey, privateKey } from "./private-key.ts"

/**
 * Gives the signing key the name `origin`, and writes `origin` and `vkey` again. Durable when the promise resolves;
 * does nothing when it has that name.
 *
 * What is public goes first and comes back last, so that a crash anywhere leaves a key that opens, under one name or
 * the other. A key that was waiting to follow this one goes: only the old chain can have named it, and nothing was
 * signed with it alone.
 *
 * - Fails: `OriginInvalid`, `FolderProblem`, and the system's errors.
 */
export const renameOrigin = async (folder: string, origin: string): Promise<void> => {
  if (!isOrigin(origin)) throw new OriginInvalid({ origin })
  const dir = resolve(folder)
  const { current } = await readKeys(dir)
  if (current.origin !== origin) {
    await rm(nextKeyFile(dir, current), { force: true })
    for (const name of ["origin", "vkey"]) await rm(join(dir, name), { force: true })
    await replaceFile(keyFile(dir), formatPrivateKey(privateKey(origin, current.seed)), SECRET_MODE)
  }
  await openFolder({ dir })
}
