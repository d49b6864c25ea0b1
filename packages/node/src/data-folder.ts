/** The data folder as a choice of keys: signing key and guard in files. */
import {
  EvidenceCrypto,
  Guard,
  type GuardApi,
  type GuardChoice,
  guardLayerOf,
  type KeysChoice,
  keysChoice,
  KeysUnreadable,
  OriginInvalid,
  OriginRefused,
  type SignedState,
  Signer,
  type SigningKey
} from "@flyball/core"
import { isOptions, pathProblem, describeValue, StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { Context, Effect, Layer } from "effect"
import type { Scope } from "effect"
import { resolve } from "node:path"
import { codeOf } from "./atomic-file.ts"
import { examinerThread } from "./examiner/examiner-layer.ts"
import { FolderProblem } from "./folder-problem.ts"
import { dropGuardFiles } from "./guard-backup.ts"
import type { GuardFiles } from "./guard-files.ts"
import { makeNextKey, promoteNextKey, readKeys } from "./key-files.ts"
import { type DataFolderOptions, openFolder } from "./open-folder.ts"
import type { PrivateKey } from "./private-key.ts"
import { renameOrigin } from "./rename-origin.ts"
import { sharedGuard } from "./shared-guard.ts"
import { beginUse, isUnused } from "./unused-keys.ts"

/**
 * Keys and guard in a folder of this host, made at the first start; and a thread for questions about envelopes.
 *
 * - Files: `signing.key` (mode 0600), `origin`, `vkey`, and the folder `guard`; while a rotation continues,
 *   `signing.key.next-<key id>`. The README says what each is and what losing it costs.
 * - Fails, when a governor opens: `OriginInvalid`, `OriginRefused`, `KeysUnreadable`, `StorageUnavailable`.
 * - Spec: decision 0007.
 */
export const dataFolder = (options: DataFolderOptions): KeysChoice => {
  const problem = optionsProblem(options)
  if (problem !== null) return keysChoice("files", Layer.effectContext(Effect.fail(problem)))
  // Where it is now: the process may move to another folder.
  const dir = resolve(options.dir)
  return keysChoice("files", (origin) =>
    Layer.merge(
      examinerThread,
      Layer.effectContext(
        Effect.gen(function* () {
          const { guard, key } = yield* opened({ ...named(origin), ...options, dir })
          return Context.make(Signer, {
            ...signingKey(key),
            origin: key.origin,
            rotation: {
              keys: running(options.dir, "signing key", async () => {
                const { current, next } = await readKeys(dir)
                return { current: signingKey(current), next: next === null ? null : signingKey(next) }
              }),
              prepare: running(options.dir, "signing key", () => makeNextKey(dir)),
              promote: (publicKey) => running(options.dir, "signing key", () => promoteNextKey(dir, publicKey))
            },
            rename: (origin) => running(options.dir, "signing key", () => renameOrigin(dir, origin))
          }).pipe(Context.add(Guard, yield* guardOf(options, dir, key, guard)), Context.add(EvidenceCrypto, nodeCrypto))
        })
      )
    )
  )
}

/** The guard in the folder's files, or the one that is shared. */
const guardOf = Effect.fnUntraced(function* (
  options: DataFolderOptions,
  dir: string,
  key: PrivateKey,
  files: GuardFiles
): Effect.fn.Return<GuardApi, StorageCorrupt | StorageUnavailable, Scope.Scope> {
  const inFolder = <A>(what: "signing key" | "signing guard", action: () => Promise<A>) =>
    running(options.dir, what, action)
  const own = {
    read: inFolder("signing guard", files.read),
    inDoubt: inFolder("signing guard", files.inDoubt),
    mayBegin: inFolder("signing key", () => isUnused(dir, key)),
    advance: (from: SignedState | null, to: SignedState) =>
      inFolder("signing guard", async () => {
        if (from === null) await beginUse(dir)
        return files.advance(from, to)
      })
  }
  if (options.guard === undefined) return own
  const shared = Context.get(yield* Layer.build(guardLayerOf(options.guard)), Guard)
  return sharedGuard(shared, {
    origin: key.origin,
    own,
    dropOwn: inFolder("signing guard", () => dropGuardFiles(dir)),
    isUnused: own.mayBegin,
    beginUse: inFolder("signing key", () => beginUse(dir))
  })
})

const named = (origin: string | undefined): { readonly origin?: string } => (origin === undefined ? {} : { origin })

/**
 * The vkey of a data folder: what an auditor pins. Makes the folder if it does not exist, and touches nothing else.
 *
 * - Fails: rejects with `OriginInvalid`, `OriginRefused`, `KeysUnreadable`, `StorageUnavailable`.
 * - Spec: format 1 section 4; decision 0007.
 */
export const dataFolderVkey = async (options: DataFolderOptions): Promise<string> => {
  const problem = optionsProblem(options)
  if (problem !== null) throw problem
  return openFolder(options).then(
    (folder) => folder.key.vkey,
    (error: unknown) => Promise.reject(startError(options.dir, error))
  )
}

/**
 * Checks the options themselves, before anything is created; null when they are valid. An invalid origin is found when
 * the folder opens.
 */
const optionsProblem = (options: DataFolderOptions): KeysUnreadable | OriginInvalid | null => {
  if (!isOptions(options))
    return new KeysUnreadable({
      file: "dataFolder",
      reason: `it takes an object such as { dir: ".flyball" }, not ${describeValue(options)}`
    })
  const reason = pathProblem("dir", options.dir)
  if (reason !== null) return new KeysUnreadable({ file: "dataFolder", reason })
  const guard: unknown = options.guard
  if (guard !== undefined && !isGuardChoice(guard))
    return new KeysUnreadable({
      file: "dataFolder",
      reason: `guard takes what postgresGuard({ url }) answers, not ${describeValue(guard)}`
    })
  const origin: unknown = options.origin
  return origin === undefined || typeof origin === "string"
    ? null
    : new OriginInvalid({ origin: `<${describeValue(origin)}, which is no string>` })
}

const isGuardChoice = (guard: unknown): guard is GuardChoice =>
  typeof guard === "object" && guard !== null && "guardKind" in guard && "layer" in guard

const opened = (options: DataFolderOptions) =>
  Effect.tryPromise({ try: () => openFolder(options), catch: (error) => startError(options.dir, error) })

const startError = (dir: string, error: unknown) => {
  if (error instanceof OriginInvalid || error instanceof OriginRefused) return error
  if (error instanceof FolderProblem) return new KeysUnreadable({ file: error.file, reason: error.reason })
  const code = codeOf(error)
  if (code === "EACCES" || code === "EPERM") {
    return new KeysUnreadable({
      file: dir,
      reason: "this process may not read or write it. Give the folder to the account that runs the process"
    })
  }
  if (code === "ENOTDIR" || code === "EEXIST") {
    return new KeysUnreadable({ file: dir, reason: "a folder is expected, and a file is there. Name another folder" })
  }
  if (code === "ENOTSUP" || code === "ENOSYS" || code === "EXDEV" || code === "EMLINK") {
    return new KeysUnreadable({
      file: dir,
      reason: "its file system has no hard links, and the guard needs them. Use a folder on a local disk"
    })
  }
  return new StorageUnavailable({
    reason: `the data folder cannot be used (${code ?? "unknown cause"})`,
    wrote: "unknown",
    cause: error
  })
}

const signingKey = (key: PrivateKey): SigningKey => ({
  publicKey: key.publicKey,
  sign: (message) => Effect.sync(() => nodeCrypto.ed25519Sign(key.seed, message))
})

const running = <A>(
  dir: string,
  what: "signing key" | "signing guard",
  action: () => Promise<A>
): Effect.Effect<A, StorageCorrupt | StorageUnavailable> =>
  Effect.tryPromise({
    try: action,
    catch: (error) =>
      error instanceof FolderProblem
        ? new StorageCorrupt({ reason: `the ${what}: ${error.message}`, cause: error })
        : new StorageUnavailable({
            reason: `the ${what} in ${dir} cannot be used (${codeOf(error) ?? "unknown cause"})`,
            wrote: "unknown",
            cause: error
          })
  }).pipe(Effect.uninterruptible)
