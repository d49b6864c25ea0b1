/** The list that a backup carries: what it holds, and the digest of each file. */
import { createHash } from "node:crypto"
import { createReadStream, readFileSync } from "node:fs"
import { join } from "node:path"
import { pipeline } from "node:stream/promises"
import { fileProblem } from "../../host/file-problem.ts"

/** A tree head: how many records, and their root as `sha256:<hex>`. */
export interface TreeHead {
  readonly size: number
  readonly root_hash: string
}

/** One file of a backup. */
export interface BackedUpFile {
  /** Relative, with `/`. */
  readonly name: string
  readonly bytes: number
  /** 64 lower-case hex digits. */
  readonly sha256: string
}

/** Content of `manifest.json`. */
export interface Manifest {
  readonly format: typeof FORMAT
  readonly made_at: string
  readonly made_by: string
  /** Where the store was; `store.db` has one form whatever it was. */
  readonly backend: string
  /** The schema number of `store.db`. */
  readonly schema: number
  readonly origin: string
  readonly vkey: string
  readonly head: { readonly seq: number; readonly record_hash: string }
  readonly tree: TreeHead
  readonly checkpoint: TreeHead | null
  readonly guard: TreeHead | null
  readonly files: ReadonlyArray<BackedUpFile>
}

/** The format's name; another one is refused. */
export const FORMAT = "flyball-backup/v1"

/** Name of the file that lists the contents of a backup. */
export const MANIFEST = "manifest.json"
/** The store, as one SQLite file. */
export const STORE = "store.db"

/** The name of a retired store. */
export const retiredName = (number: number): string => `${STORE}.retired-${number}`

/** The number in a name that {@link retiredName} gave; null for another one. */
export const retiredNumber = (name: string): number | null =>
  name.startsWith(`${STORE}.retired-`) ? Number(name.slice(`${STORE}.retired-`.length)) : null

/** Files that a backup may hold. A manifest is read as what it is: a text that somebody may have changed. */
const FILE_NAME = /^(?:store\.db(?:\.retired-[1-9][0-9]{0,8})?|origin|vkey|guard\/(?:[0-9]{16}|from-backup))$/

/** Size and digest of a file. */
export const describeFile = async (folder: string, name: string): Promise<BackedUpFile> => {
  const hash = createHash("sha256")
  let bytes = 0
  await pipeline(createReadStream(join(folder, name)), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      bytes += chunk.length
      hash.update(chunk)
    }
  })
  return { name, bytes, sha256: hash.digest("hex") }
}

/** Reads the manifest of a backup. Fails with a sentence. */
export const readManifest = (folder: string): Manifest => {
  const file = join(folder, MANIFEST)
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (cause) {
    throw new Error(`${folder} is not a backup: ${MANIFEST} cannot be read: ${fileProblem(cause)}`, { cause })
  }
  const manifest = parsed(text)
  if (manifest === null)
    throw new Error(
      `${file} is not the list of a backup in the format ${FORMAT}. If a newer version of flyball made it, ` +
        "restore it with that version; otherwise use another backup"
    )
  return manifest
}

/** Fails with a sentence when a file is missing or is not the one that was backed up. */
export const checkFiles = async (folder: string, { files }: Manifest): Promise<void> => {
  for (const expected of files) {
    const found = await describeFile(folder, expected.name).catch((cause: unknown) => {
      throw new Error(
        `${join(folder, expected.name)} cannot be read: ${fileProblem(cause)}. Use another copy of this backup`,
        { cause }
      )
    })
    if (found.bytes !== expected.bytes || found.sha256 !== expected.sha256) {
      throw new Error(
        `${join(folder, expected.name)} is not the file that was backed up: expected ${expected.bytes} bytes ` +
          `with SHA-256 ${expected.sha256}, saw ${found.bytes} with ${found.sha256}. Use another copy of this ` +
          "backup"
      )
    }
  }
}

const parsed = (text: string): Manifest | null => {
  try {
    const value: unknown = JSON.parse(text)
    return isManifest(value) ? value : null
  } catch {
    return null
  }
}

const isManifest = (value: unknown): value is Manifest => {
  if (!isObject(value) || value["format"] !== FORMAT || !isObject(value["head"])) return false
  const { checkpoint, files, guard, head, tree } = value
  return (
    ["made_at", "made_by", "backend", "origin", "vkey"].every((name) => typeof value[name] === "string") &&
    Number.isSafeInteger(value["schema"]) &&
    Number.isSafeInteger(head["seq"]) &&
    typeof head["record_hash"] === "string" &&
    isTreeHead(tree) &&
    (checkpoint === null || isTreeHead(checkpoint)) &&
    (guard === null || isTreeHead(guard)) &&
    Array.isArray(files) &&
    files.every(isFile) &&
    files.some(({ name }) => name === STORE)
  )
}

const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isTreeHead = (value: unknown): value is TreeHead =>
  isObject(value) && Number.isSafeInteger(value["size"]) && /^sha256:[0-9a-f]{64}$/.test(String(value["root_hash"]))

const isFile = (value: unknown): value is BackedUpFile =>
  isObject(value) &&
  FILE_NAME.test(String(value["name"])) &&
  Number.isSafeInteger(value["bytes"]) &&
  /^[0-9a-f]{64}$/.test(String(value["sha256"]))
