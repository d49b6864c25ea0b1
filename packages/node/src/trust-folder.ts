/** The trust store as a folder of public keys. */
import { constants } from "node:fs"
import { open, readdir, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import {
  TrustStore,
  type TrustStoreChoice,
  trustStoreChoice,
  type TrustedKey,
  TrustStoreUnavailable,
  TrustStoreUnreadable
} from "@flyball/core"
import { pathProblem } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { codeOf } from "./atomic-file.ts"
import { FolderProblem } from "./folder-problem.ts"
import { trustedKey } from "./trusted-key-file.ts"

/** Path of the folder. */
export interface TrustFolderOptions {
  readonly dir: string
}

/** The keys of a folder, and what in it was refused, as sentences. */
export interface TrustFolder {
  readonly keys: ReadonlyArray<TrustedKey>
  readonly refused: ReadonlyArray<string>
}

/** Files that the folder may hold: all are read for each card. */
const MAX_FILES = 1_000
/** Unit: bytes. A public key has a few hundred. */
const MAX_FILE_BYTES = 16_384
const GROUP_OR_WORLD_WRITES = 0o022

/**
 * The public keys in a folder as a choice of trust store. It is read again for each card: a file that is there, changed
 * or gone counts from the next one on.
 *
 * A file that is refused is not trusted, and one warning in the log says why. The README of this package says what the
 * files may be.
 *
 * - Fails, when a governor opens: `TrustStoreUnreadable`. While it runs, a folder that cannot be read any more is
 *   `TrustStoreUnavailable`.
 * - Spec: decision 0015.
 */
export const trustFolder = (options: TrustFolderOptions): TrustStoreChoice => {
  const problem = pathProblem("dir", options?.dir)
  if (problem !== null)
    return trustStoreChoice(
      "folder",
      Layer.effect(TrustStore, new TrustStoreUnreadable({ place: "trustFolder", reason: problem }))
    )
  const dir = resolve(options.dir)
  return trustStoreChoice(
    "folder",
    Layer.effect(
      TrustStore,
      Effect.gen(function* () {
        const said = new Set<string>()
        const read = Effect.gen(function* () {
          const { keys, refused } = yield* Effect.tryPromise({ try: () => readTrustFolder(dir), catch: asProblem(dir) })
          for (const sentence of refused)
            if (!said.has(sentence)) yield* Effect.logWarning(`A file of the trust store is not trusted: ${sentence}.`)
          said.clear()
          for (const sentence of refused) said.add(sentence)
          return keys
        })
        yield* read
        return {
          keys: read.pipe(
            Effect.mapError(
              (problem) => new TrustStoreUnavailable({ reason: `${problem.place}: ${problem.reason}`, cause: problem })
            )
          )
        }
      })
    )
  )
}

const asProblem =
  (dir: string) =>
  (error: unknown): TrustStoreUnreadable => {
    if (error instanceof FolderProblem) return new TrustStoreUnreadable({ place: error.file, reason: error.reason })
    const code = codeOf(error) ?? "unknown cause"
    const why =
      code === "ENOENT"
        ? "there is no such folder. Make it, or leave the trust store out"
        : code === "ENOTDIR"
          ? "a folder is expected, and a file is there"
          : `it cannot be read (${code}). Give it to the account that runs the process`
    return new TrustStoreUnreadable({ place: dir, reason: why })
  }

/**
 * Reads the folder as it is now.
 *
 * - Fails: rejects with `FolderProblem` or the system's error when the folder itself cannot be trusted or read.
 */
export const readTrustFolder = async (dir: string): Promise<TrustFolder> => {
  const { mode } = await stat(dir)
  if ((mode & GROUP_OR_WORLD_WRITES) !== 0) throw new FolderProblem(dir, writable)
  // Dotted names are how editors and mounts keep house.
  const names = (await readdir(dir)).filter((name) => !name.startsWith(".")).sort()
  if (names.length > MAX_FILES)
    throw new FolderProblem(
      dir,
      `it holds ${names.length} files, and at most ${MAX_FILES} are read. Take out what is not a key`
    )
  const revoked = new Set(
    names.filter((name) => name.endsWith(".revoked")).map((name) => name.slice(0, -".revoked".length))
  )
  const found: Array<{ readonly name: string; readonly key: TrustedKey }> = []
  const refused: Array<string> = []
  for (const name of names) {
    if (name.endsWith(".revoked")) continue
    try {
      found.push({ name, key: await readKeyFile(dir, name) })
    } catch (error) {
      // Gone since the folder was listed: its key is not trusted, as if it had never been there.
      if (codeOf(error) === "ENOENT") continue
      refused.push(
        error instanceof FolderProblem
          ? error.message
          : `${join(dir, name)}: it cannot be read (${codeOf(error) ?? "unknown cause"}). Give it to the ` +
              "account that runs the process"
      )
    }
  }
  const isRevoked = (name: string, key: TrustedKey): boolean =>
    key.revoked || [key.keyId, key.thumbprint, name.replace(/\.(pem|jwk)$/, "")].some((id) => revoked.has(id))
  const keys = found.map(({ key, name }) => ({ ...key, revoked: isRevoked(name, key) }))
  // Of two keys with one id nobody could say which a card means.
  const twice = keys.filter((key) => keys.some((other) => other !== key && sameName(key, other)))
  refused.push(
    ...new Set(
      twice.map(({ keyId }) => `${dir}: two files hold a key called ${keyId}, and neither is trusted. Keep one`)
    )
  )
  return { keys: keys.filter((key) => !twice.includes(key)), refused }
}

const sameName = (a: TrustedKey, b: TrustedKey): boolean =>
  [a.keyId, a.thumbprint].some((id) => id === b.keyId || id === b.thumbprint)

const readKeyFile = async (dir: string, name: string): Promise<TrustedKey> => {
  const file = join(dir, name)
  if (!/\.(pem|jwk)$/.test(name))
    throw new FolderProblem(file, "names here end in .pem, .jwk or .revoked. Move other files elsewhere")
  // Without waiting: a pipe of this name would hold up every card.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { mode, size } = await handle
      .stat()
      .then((seen) => ({ mode: seen.isFile() ? seen.mode : null, size: seen.size }))
    if (mode === null) throw new FolderProblem(file, "a file is expected, and something else is there")
    if ((mode & GROUP_OR_WORLD_WRITES) !== 0) throw new FolderProblem(file, writable)
    if (size > MAX_FILE_BYTES)
      throw new FolderProblem(file, `a public key has at most ${MAX_FILE_BYTES} bytes here, and this file has ${size}`)
    return trustedKey(file, name, await handle.readFile())
  } finally {
    await handle.close()
  }
}

const writable = "its group or everybody may write it, and so decide whom to trust. Take that right away (chmod go-w)"
