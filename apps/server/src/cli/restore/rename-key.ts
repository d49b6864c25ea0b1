/**
 * `flyball restore --rename-key`: a key out of the vault, from before a recovery, under the name that its chain has
 * since.
 */
import { resolve } from "node:path"
import { renameKey } from "@flyball/core"
import { requireDataFolder } from "../../host/data-folder.ts"
import { folderKeys } from "../../host/guard.ts"
import { storageOf } from "../../host/open-host.ts"
import { prepareStoreFile } from "../../host/store-file.ts"
import type { Settings } from "../../settings/read.ts"
import { exitStatus } from "../command.ts"

/** Renames the key of the data folder, and says so. The store is only read. */
export const renameFolderKey = async (settings: Settings): Promise<number> => {
  if (settings.database.kind === "memory")
    throw new Error("with sqlite::memory: each start is a new chain, and its key has the right name")
  requireDataFolder(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, true)
  // Without FLYBALL_ORIGIN: it is the new name, and the key still has the old one.
  const { from, to, vkey } = await renameKey({
    storage: storageOf(settings, true),
    keys: folderKeys(settings, { readOnly: true })
  })
  console.error(
    `flyball: the signing key in ${resolve(settings.dataDir)} was named ${from}, and is named ${to} now: ` +
      `${vkey}. Put this signing.key into the vault in place of the other, and start the server.`
  )
  return exitStatus.ok
}
