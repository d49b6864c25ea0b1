/** `flyball backup`: the store and its guard as they are at one moment, beside a running server. */
import { requireDataFolder } from "../host/data-folder.ts"
import { storeLocation } from "../host/store-location.ts"
import { prepareStoreFile } from "../host/store-file.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { checkOutFolder, makeBackup } from "./backup/make-backup.ts"
import { command, counted, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { checkNotOwn } from "./export-file/own-files.ts"

/** Makes the folder, and says what is in it and what is not. */
export const run = command("backup", async (args) => {
  const {
    values: { out }
  } = readArguments(args, { out: { type: "string" } })
  if (out === undefined) throw new UsageError("--out DIR is missing")
  checkOutFolder(out)
  const { settings } = settingsOfProcess()
  checkNotOwn("--out", out, settings)
  const store = storeLocation(
    settings,
    "sqlite::memory: lives inside the server's process, so there is nothing to copy from here"
  )
  requireDataFolder(settings)
  if (store.kind === "sqlite") prepareStoreFile(store.file, true)
  const { checkpoint, tree } = await makeBackup(settings, store, out, new Date())
  const signed =
    checkpoint === null ? "no checkpoint is signed yet" : `the last checkpoint in it covers ${checkpoint.size}`
  console.error(
    `Backed up ${counted(tree.size, "record")} to ${out}; ${signed}. The copy was opened and checked. Keys are ` +
      "not in it: keep signing.key and secrets.key in a vault."
  )
  return exitStatus.ok
})
