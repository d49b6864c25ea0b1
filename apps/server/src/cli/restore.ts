/** `flyball restore`: a backup's store in a place that holds none. */
import { existsSync, readFileSync, statSync } from "node:fs"
import { join, resolve } from "node:path"
import { type SignedState, sameState } from "@flyball/core"
import { equalBytes, parseVkey } from "@flyball/evidence"
import { readGuardState } from "@flyball/node"
import { makeDataFolder, SIGNING_KEY } from "../host/data-folder.ts"
import { type GuardCopies, guardCopies } from "../host/guard.ts"
import { prepareStoreFile } from "../host/store-file.ts"
import { storeLocation, storeName } from "../host/store-location.ts"
import type { Settings } from "../settings/read.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { checkFiles, type Manifest, readManifest } from "./backup/manifest.ts"
import { command, counted, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { renameFolderKey } from "./restore/rename-key.ts"
import { stillToDo } from "./restore/still-to-do.ts"
import { writeStores } from "./restore/write-stores.ts"

/**
 * Writes the store (and the guard on request), and prints what is still to be done. Without --from: what a
 * person says of guard or key in the data folder.
 */
export const run = command("restore", async (args) => {
  const {
    values: { from, guard = false, "nothing-signed-since": nothingSigned = false, "rename-key": rename = false }
  } = readArguments(args, {
    from: { type: "string" },
    guard: { type: "boolean" },
    "nothing-signed-since": { type: "boolean" },
    "rename-key": { type: "boolean" }
  })
  if (rename && (from !== undefined || guard || nothingSigned))
    throw new UsageError("--rename-key renames the key in the data folder: give it alone, after the store is restored")
  if (rename) return renameFolderKey(settingsOfProcess().settings)
  if (from === undefined && nothingSigned && !guard) return acceptGuard(settingsOfProcess().settings)
  if (from === undefined) throw new UsageError("--from DIR is missing")
  if (nothingSigned && !guard)
    throw new UsageError(
      "--nothing-signed-since applies to a backup's guard: give --guard with it, or neither --guard nor --from"
    )
  if (!existsSync(from)) throw new UsageError(`--from ${from} does not exist`)
  const { settings } = settingsOfProcess()
  const store = storeLocation(
    settings,
    "with sqlite::memory: nothing would be left when this command ends. Set FLYBALL_DATABASE_URL to a file or " +
      "to Postgres"
  )
  const manifest = readManifest(from)
  requireSameChain(settings, manifest)
  await checkFiles(from, manifest)
  const state = await guardOf(from, manifest)
  const copies = guardCopies(settings)
  const held = await copies.read()
  if (guard) requireInstallable(state, held, copies)
  if (store.kind === "sqlite") makeStoreFolder(store.file)
  // The guard first, as a backup's: a crash behind it leaves one that signs nothing until somebody has decided.
  if (guard) await installGuard(settings, copies, state!)
  try {
    await writeStores(from, manifest, store)
  } catch (cause) {
    if (guard && held === null) await copies.takeBack(state!)
    throw cause
  }
  if (nothingSigned) await copies.accept()
  console.error(
    `Restored ${counted(manifest.tree.size, "record")} of ${manifest.origin}, as they were at ` +
      `${manifest.made_at}, into ${storeName(store)}.`
  )
  const now = {
    folder: resolve(settings.dataDir),
    hasKey: existsSync(join(settings.dataDir, SIGNING_KEY)),
    place: copies.place,
    isShared: settings.guard !== null,
    guard: await copies.read(),
    inDoubt: await copies.inDoubt()
  }
  for (const line of stillToDo(now, manifest, join(from, "guard"))) console.error(line)
  return exitStatus.ok
})

/** A person says that nothing was signed after the backup whose guard is in the data folder. */
const acceptGuard = async (settings: Settings): Promise<number> => {
  const { accept, place } = guardCopies(settings)
  const accepted = await accept()
  if (accepted === null)
    throw new Error(
      `the guard in ${place} is not from a backup, or has signed since the restore: --nothing-signed-since does not ` +
        `apply`
    )
  console.error(
    `The guard in ${place} counts as the newest: ${counted(accepted.size, "record")} of ${accepted.origin} were ` +
      `signed. The server can be started.`
  )
  return exitStatus.ok
}

const requireSameChain = ({ dataDir, origin }: Settings, manifest: Manifest): void => {
  const line = (name: string): string | null =>
    existsSync(join(dataDir, name)) ? readFileSync(join(dataDir, name), "utf8").trim() : null
  const found = origin ?? line("origin")
  // The same key under another name is one from before a recovery, which has its own command.
  if (found !== null && found !== manifest.origin && !(origin === null && isSameKey(line("vkey"), manifest.vkey))) {
    throw new Error(
      `the backup holds the chain of ${manifest.origin}, and ` +
        `${origin === null ? `the data folder ${resolve(dataDir)} belongs to` : "FLYBALL_ORIGIN names"} ` +
        `${found}. Use the data folder and the settings of ${manifest.origin}`
    )
  }
}

/** True for two vkeys of one key, whatever its names. */
const isSameKey = (one: string | null, other: string): boolean => {
  const [a, b] = [parseVkey(one ?? ""), parseVkey(other)]
  return a.ok && b.ok && equalBytes(a.vkey.publicKey, b.vkey.publicKey)
}

/**
 * The guard in the backup's folder, whose files were compared with their digests. Fails with a sentence where the list
 * says something else of it.
 */
const guardOf = async (from: string, { guard, origin }: Manifest): Promise<SignedState | null> => {
  const found = await readGuardState(from)
  const listed = guard === null ? null : { origin, size: guard.size, rootHex: guard.root_hash.slice("sha256:".length) }
  if (sameState(found, listed)) return found
  const said = (state: SignedState | null): string =>
    state === null
      ? "no guard"
      : `${counted(state.size, "signed record")} of ${state.origin} with root ${state.rootHex}`
  throw new Error(
    `manifest.json in ${from} lists ${said(listed)}, and the folder guard beside it has ${said(found)}. ` +
      "Use another copy of this backup"
  )
}

const requireInstallable = (state: SignedState | null, held: SignedState | null, { place }: GuardCopies): void => {
  if (state === null)
    throw new Error("the backup has no guard: nothing was signed before it was made. Restore it without --guard")
  if (held !== null && !sameState(held, state)) {
    throw new Error(
      `${place} has a guard, which knows what was signed last; it is never replaced by an older one. ` +
        "Restore without --guard"
    )
  }
}

/** Refuses what is there, and makes the folder above it. */
const makeStoreFolder = (file: string): void => {
  // An empty file holds nothing, so it is not in the way. A log beside one is, and the store says so.
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw new Error(
      `a store exists at ${resolve(file)}. Move it away first, or name another file with FLYBALL_DATABASE_URL`
    )
  prepareStoreFile(file, false)
}

const installGuard = async (settings: Settings, { install, place }: GuardCopies, state: SignedState): Promise<void> => {
  makeDataFolder(settings)
  if (!(await install(state)))
    throw new Error(`${place} has a guard now; another process made it. Restore without --guard`)
}
