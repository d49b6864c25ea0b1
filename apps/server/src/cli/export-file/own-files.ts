/** Which paths are Flyball's own: the data folder, the store, the keys. No command writes its output there. */
import { type BigIntStats, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import type { Settings } from "../../settings/read.ts"
import { UsageError } from "../arguments.ts"

/** The settings that name Flyball's own files. */
export type OwnPlaces = Pick<Settings, "dataDir" | "database" | "secretsKeyFile" | "trustStore">

/**
 * Fails with {@link UsageError} when `path` is one of Flyball's own files, or would become one.
 *
 * It follows symbolic links, and finds hard links and other mounts of a file by device and inode. A new file or folder
 * in the data folder is let
 * through unless it has a name that Flyball uses: in the image that folder is the working folder.
 */
export const checkNotOwn = (flag: string, path: string, places: OwnPlaces): void => {
  const owner = ownerOf(canonical(path), places)
  if (owner !== null) throw new UsageError(`${flag} ${path} belongs to ${owner}; name another place`)
}

const ownerOf = (path: string, { database, dataDir, secretsKeyFile, trustStore }: OwnPlaces): string | null => {
  const store = database.kind === "sqlite" ? [...new Set([resolve(database.file), canonical(database.file)])] : []
  if (store.some((file) => isOfStore(file, path))) return "the store"
  const inside = entryOf(dataDir, path)
  if (inside !== null && (inside.name === "guard" || RESERVED.test(inside.name))) return "the data folder"
  if (secretsKeyFile !== null && canonical(secretsKeyFile) === path) return "the keys"
  const found = statOf(path)
  if (found === undefined) return null
  if (inside !== null) return "the data folder"
  const isSame = (file: string): boolean => identity(statOf(file)) === identity(found)
  if (store.some((file) => [file, ...besides(file)].some(isSame))) return "the store"
  if (filesOf(dataDir).some(isSame)) return "the data folder"
  if (secretsKeyFile !== null && isSame(secretsKeyFile)) return "the keys"
  if (trustStore !== null && (entryOf(trustStore, path) !== null || filesOf(trustStore).some(isSame)))
    return "the trust store"
  return null
}

/** Names in the data folder that Flyball makes or reads, besides the store's. */
const RESERVED = /^(?:origin|vkey|dev-issuer\.jwk.*|(?:signing|secrets)\.key.*|tmp-.*)$/i

/** The store, SQLite's files beside it, locks, and retired stores: all begin with its name. */
const isOfStore = (file: string, path: string): boolean => {
  const inside = entryOf(dirname(file), path)
  const [name, own] = [inside?.name.toLowerCase(), basename(file).toLowerCase()]
  return name !== undefined && (name === own || name.startsWith(`${own}-`) || name.startsWith(`${own}.`))
}

const besides = (file: string): ReadonlyArray<string> => {
  const folder = dirname(file)
  return names(folder)
    .filter((name) => isOfStore(file, join(folder, name)))
    .map((name) => join(folder, name))
}

/**
 * The entry of a folder that a path is, or lies in; null where it lies elsewhere. Folders are compared by what they
 * are, not by name.
 */
const entryOf = (folder: string, path: string): { readonly name: string } | null => {
  const wanted = statOf(folder)
  if (wanted === undefined) return null
  for (let child = path, above = dirname(path); ; child = above, above = dirname(above)) {
    if (identity(statOf(above)) === identity(wanted)) return { name: basename(child) }
    if (above === child) return null
  }
}

/** Where a path leads, whether something is there or not. */
const canonical = (path: string, links = 0): string => {
  const whole = resolve(path)
  try {
    return realpathSync.native(whole)
  } catch {
    const target = links < MAX_LINKS ? linkOf(whole) : null
    if (target !== null) return canonical(resolve(dirname(whole), target), links + 1)
    const above = dirname(whole)
    return above === whole ? whole : join(canonical(above, links), basename(whole))
  }
}

/** Links that name each other never end. */
const MAX_LINKS = 40

const linkOf = (path: string): string | null => {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

const filesOf = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  } catch {
    return []
  }
}

const names = (folder: string): ReadonlyArray<string> => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

const statOf = (path: string): BigIntStats | undefined => {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Null where nothing is: it is never equal to that of a file. */
const identity = (found: BigIntStats | undefined): string | null =>
  found === undefined ? null : `${found.dev}:${found.ino}`
