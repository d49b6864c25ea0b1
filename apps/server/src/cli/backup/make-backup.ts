/** The folder of a backup: complete and durable under its name, or not there. */
import { randomBytes } from "node:crypto"
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { dirname, join, resolve } from "node:path"
import { dataFolderVkey, installGuardState } from "@flyball/node"
import { copyToFile, fileSchema, retiredLocations, type StoreLocation } from "@flyball/storage-sql/operations"
import { Effect } from "effect"
import { fileProblem } from "../../host/file-problem.ts"
import { guardCopies } from "../../host/guard.ts"
import type { Settings } from "../../settings/read.ts"
import { UsageError } from "../arguments.ts"
import { version } from "../../version.ts"
import { checkCopy } from "./check-copy.ts"
import { describeFile, FORMAT, type Manifest, MANIFEST, retiredName, STORE } from "./manifest.ts"

/** Fails with {@link UsageError} when `out` cannot become a new folder, before anything else is done. */
export const checkOutFolder = (out: string): void => {
  if (existsSync(out)) throw new UsageError(`--out ${out} exists already; a backup is always a new folder`)
  const parent = dirname(resolve(out))
  if (statSync(parent, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`--out ${out}: the folder ${parent} does not exist; create it first`)
}

/**
 * Times the store is copied because the signing key was rotated meanwhile. A rotation takes a moment, so a second one
 * in a row is a script that went astray.
 */
const ATTEMPTS = 3

/**
 * Backs up the store and what is not secret of the data folder into the new folder `out`, beside a running server.
 *
 * A copy from before a rotation does not fit the key of after it: then the store is copied again. `copied` is for
 * tests.
 *
 * - Fails: with a sentence; nothing is left then. A process that is killed leaves a folder `<out>.partial-…` that
 *   nothing reads.
 */
export const makeBackup = async (
  settings: Settings,
  store: StoreLocation,
  out: string,
  madeAt: Date,
  copied: () => Promise<void> = async () => undefined
): Promise<Manifest> => {
  for (let attempt = 1; ; attempt++) {
    const key = await dataFolderVkey({ dir: settings.dataDir })
    try {
      return await backUpOnce(settings, store, out, madeAt, copied)
    } catch (cause) {
      if ((await dataFolderVkey({ dir: settings.dataDir })) === key) throw cause
      if (attempt === ATTEMPTS)
        throw new Error(
          `the signing key was rotated while the store was copied, and again at each of ${ATTEMPTS} attempts. ` +
            "Back up again after the rotations",
          { cause }
        )
    }
  }
}

/** The guard is read before the store is copied, so that the copy holds all that it covers. */
const backUpOnce = async (
  settings: Settings,
  store: StoreLocation,
  out: string,
  madeAt: Date,
  copied: () => Promise<void>
): Promise<Manifest> => {
  const { read } = guardCopies(settings)
  const guard = await read()
  const partial = `${resolve(out)}.partial-${randomBytes(6).toString("hex")}`
  onDisk(partial, () => mkdirSync(partial, { mode: 0o700 }))
  try {
    await Effect.runPromise(copyToFile(store, join(partial, STORE)))
    for (const { location, number } of await Effect.runPromise(retiredLocations(store)))
      await Effect.runPromise(copyToFile(location, join(partial, retiredName(number))))
    await copied()
    const facts = await checkCopy(settings, join(partial, STORE), guard, await read())
    if (facts.guard !== null) await installGuardState(partial, facts.guard)
    onDisk(out, () => {
      writeFileSync(join(partial, "origin"), `${facts.manifest.origin}\n`)
      writeFileSync(join(partial, "vkey"), `${facts.manifest.vkey}\n`)
    })
    const schema = await Effect.runPromise(fileSchema(join(partial, STORE)))
    const manifest: Manifest = {
      format: FORMAT,
      made_at: madeAt.toISOString(),
      made_by: `flyball ${version}`,
      backend: store.kind,
      schema,
      ...facts.manifest,
      files: await describeAll(partial)
    }
    onDisk(out, () => {
      writeFileSync(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
      finish(partial, resolve(out))
    })
    return manifest
  } catch (cause) {
    rmSync(partial, { recursive: true, force: true })
    throw cause
  }
}

const describeAll = async (folder: string): Promise<Manifest["files"]> => {
  const files = []
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile())
      files.push(
        await describeFile(
          folder,
          join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .replaceAll("\\", "/")
        )
      )
  }
  return files.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Makes every byte and every name durable, then gives the folder its name. */
const finish = (partial: string, out: string): void => {
  for (const entry of readdirSync(partial, { recursive: true })) sync(join(partial, String(entry)))
  sync(partial)
  renameSync(partial, out)
  sync(dirname(out))
}

const sync = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const onDisk = (out: string, write: () => void): void => {
  try {
    write()
  } catch (cause) {
    throw new Error(`${out} cannot be written: ${fileProblem(cause)}. Nothing is left of the attempt`, { cause })
  }
}
