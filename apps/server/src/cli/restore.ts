/** `flyball restore`: a backup's store in a place that holds none. */
import { existsSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { installGuardState, readGuardState } from "@flyball/node"
import { copyFromFile, retiredLocation, type StoreLocation } from "@flyball/storage-sql/operations"
import { Effect } from "effect"
import { makeDataFolder, SIGNING_KEY } from "../host/data-folder.ts"
import { prepareStoreFile } from "../host/store-file.ts"
import { storeLocation, storeName } from "../host/store-location.ts"
import type { Settings } from "../settings/read.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { checkFiles, type Manifest, readManifest, retiredNumber, STORE } from "./backup/manifest.ts"
import { command, counted, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"

/** Writes the store (and the guard when it is asked to), and says what is still to be brought back. */
export const run = command("restore", async (args) => {
  const { values: { from, guard = false } } = readArguments(args, { from: { type: "string" }, guard: { type: "boolean" } })
  if (from === undefined) throw new UsageError("--from DIR is missing")
  if (!existsSync(from)) throw new UsageError(`--from ${from} is not there`)
  const { settings } = settingsOfProcess()
  const store = storeLocation(settings, "with sqlite::memory: nothing would be left when this command ends. Set FLYBALL_DATABASE_URL to a file or to Postgres")
  const manifest = readManifest(from)
  requireSameChain(settings, manifest)
  await checkFiles(from, manifest)
  const held = await readGuardState(settings.dataDir)
  if (guard) requireInstallable(manifest, held, settings)
  if (store.kind === "sqlite") makeStoreFolder(store.file)
  // The guard first: when the store then fails, the command may be given again. The other way round it would find a store.
  if (guard) await installGuard(settings, manifest)
  await writeStores(from, manifest, store)
  console.error(`Restored ${counted(manifest.tree.size, "record")} of ${manifest.origin}, as they were at ${manifest.made_at}, into ${storeName(store)}.`)
  for (const line of stillToDo(settings, manifest, from, guard ? "installed" : held?.size ?? null)) console.error(line)
  return exitStatus.ok
})

const requireSameChain = ({ dataDir, origin }: Settings, manifest: Manifest): void => {
  const file = join(dataDir, "origin")
  const found = origin ?? (existsSync(file) ? readFileSync(file, "utf8").trim() : null)
  if (found !== null && found !== manifest.origin) {
    throw new Error(`the backup holds the chain of ${manifest.origin}, and ${origin === null ? `the data folder ${resolve(dataDir)} belongs to` : "FLYBALL_ORIGIN names"} ${found}. Use the data folder and the settings of ${manifest.origin}`)
  }
}

const requireInstallable = (manifest: Manifest, held: { readonly size: number; readonly rootHex: string } | null, { dataDir }: Settings): void => {
  if (manifest.guard === null) throw new Error("the backup holds no guard: nothing had been signed when it was made. Restore it without --guard")
  if (held !== null && `sha256:${held.rootHex}` !== manifest.guard.root_hash) {
    throw new Error(`the data folder ${resolve(dataDir)} has a guard, which knows what was signed last; it is never replaced by an older one. Restore without --guard`)
  }
}

/** Refuses what is there, and makes the folder above it. */
const makeStoreFolder = (file: string): void => {
  if (existsSync(file)) throw new Error(`there is a store at ${resolve(file)} already. Move it away first, or name another file with FLYBALL_DATABASE_URL`)
  prepareStoreFile(file, false)
}

const installGuard = async (settings: Settings, { guard, origin }: Manifest): Promise<void> => {
  makeDataFolder(settings)
  const installed = await installGuardState(settings.dataDir, { origin, size: guard!.size, rootHex: guard!.root_hash.slice("sha256:".length) })
  if (!installed) throw new Error(`the data folder ${resolve(settings.dataDir)} has a guard now; another process made it. Restore without --guard`)
}

/** The retired stores first: they are of use only beside the one that is in use, which comes last and says that all is there. */
const writeStores = async (from: string, { files }: Manifest, store: StoreLocation): Promise<void> => {
  for (const { name } of files) {
    const number = retiredNumber(name)
    if (number !== null) await Effect.runPromise(copyFromFile(join(from, name), retiredLocation(store, number)))
  }
  await Effect.runPromise(copyFromFile(join(from, STORE), store))
}

/** What stands between the restored store and a start. `held` is how many records the guard that was there has signed for. */
const stillToDo = ({ dataDir }: Settings, { checkpoint, guard, tree }: Manifest, from: string, held: number | "installed" | null): ReadonlyArray<string> => {
  const lines: Array<string> = []
  const folder = resolve(dataDir)
  if (!existsSync(join(dataDir, SIGNING_KEY))) lines.push(`Bring ${SIGNING_KEY} back into ${folder} from your vault. Without it the chain can be read and verified, but not carried on.`)
  if (held === "installed") {
    lines.push(
      `The guard of the backup was installed; it knows of ${counted(guard!.size, "signed record")}. Signatures that were made after the backup are forgotten, and what is signed from now on may contradict them.`,
      "If anything was signed after the backup, do not start the server on it: flyball recover --accept-rollback is the honest way on."
    )
  } else if (held === null && guard !== null) {
    lines.push(`Bring the newest copy of the folder guard back into ${folder}. If it is lost, take ${join(from, "guard")}: then signatures made after the backup are forgotten, and flyball recover --accept-rollback is the honest way on if there were any.`)
  } else if (held !== null && held > tree.size) {
    lines.push(`The guard in ${folder} has signed for ${counted(held, "record")}, and the backup holds ${tree.size}: the server will not start on it. Restore a newer backup, or go on with flyball recover --accept-rollback.`)
  } else if (held !== null && checkpoint !== null && held < checkpoint.size) {
    lines.push(`The guard in ${folder} has signed for ${counted(held, "record")}, and the backup holds a checkpoint of ${checkpoint.size}: it is an older copy, and the server will not start with it. Bring the newest one back.`)
  }
  return lines
}
