/** The secret box: seals secrets of webhooks for the store. */
import { join, resolve } from "node:path"
import { KeysUnreadable, SecretBox, type SecretBoxApi, SecretUnreadable } from "@flyball/core"
import { isOptions, pathProblem, describeValue, StorageUnavailable } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { codeOf } from "../atomic-file.ts"
import { FolderProblem } from "../folder-problem.ts"
import { newSecretsKey, seal, sealedBy, type SecretsKey, unseal } from "./sealed.ts"
import { addSecretsKey, openSecretsFile, readSecretsFile, type SecretsFile } from "./secrets-file.ts"

/** Place of the keys: `secrets.key` in a data folder, or a file of any name. */
export type SecretBoxOptions = { readonly dir: string } | { readonly file: string }

/** A secret box without Effect. */
export interface PlainSecretBox {
  readonly keyId: string
  readonly seal: (secret: Uint8Array, boundTo: string) => Promise<Uint8Array>
  /** Rejects with `SecretUnreadable`. */
  readonly open: (sealed: Uint8Array, boundTo: string) => Promise<Uint8Array>
}

type OpenFault = KeysUnreadable | StorageUnavailable

/**
 * A box whose keys are in a file, made with mode 0600 at the first start. With `file`, its folder must be there
 * already.
 *
 * - Fails: `KeysUnreadable` when the options name no path, the file is garbled or others may read it,
 *   `StorageUnavailable` when it cannot be read.
 * - Spec: decisions 0020 and 0033.
 */
export const secretBox = (options: SecretBoxOptions): Layer.Layer<SecretBox, OpenFault> =>
  Layer.effect(SecretBox, opened(options))

/** A box whose key is gone with the process: for tests and for stores in memory. Spec: decision 0020. */
export const memorySecretBox: Layer.Layer<SecretBox> = Layer.sync(SecretBox, () => {
  const key = newSecretsKey()
  return boxOver(key, [key], () => Promise.resolve(null))
})

/** The box as a plain object. Rejects as {@link secretBox} fails. Spec: decisions 0020 and 0033. */
export const openSecretBox = async (options: SecretBoxOptions): Promise<PlainSecretBox> => {
  const box = await Effect.runPromise(opened(options))
  return {
    keyId: box.keyId,
    seal: (secret, boundTo) => Effect.runPromise(box.seal(secret, boundTo)),
    open: (sealed, boundTo) => Effect.runPromise(box.open(sealed, boundTo))
  }
}

/**
 * Puts a new key before the others, and answers its id. What is sealed from now on by a process that starts, is sealed
 * with it; what was sealed before still opens.
 *
 * A process that runs continues sealing with the key it started with, and opens what the new one sealed. An old key's
 * line may be taken out once nothing is sealed with it any more. Spec: decision 0033.
 */
export const rotateSecretsKey = async (options: SecretBoxOptions): Promise<string> => {
  const problem = optionsProblem(options)
  if (problem !== null) throw problem
  const file = fileOf(options)
  try {
    return (await addSecretsKey(file))[0].id
  } catch (error) {
    throw openFault(file.path, error)
  }
}

const optionsProblem = (options: SecretBoxOptions): KeysUnreadable | null => {
  const reason = !isOptions(options)
    ? `it takes an object such as { dir: ".flyball" }, not ${describeValue(options)}`
    : "file" in options
      ? pathProblem("file", options.file)
      : pathProblem("dir", options.dir)
  return reason === null ? null : new KeysUnreadable({ file: "secretBox", reason })
}

// Where it is now: the process may move to another folder.
const fileOf = (options: SecretBoxOptions): SecretsFile =>
  "file" in options
    ? { path: resolve(options.file), isOurs: false }
    : { path: resolve(join(options.dir, "secrets.key")), isOurs: true }

const opened = (options: SecretBoxOptions): Effect.Effect<SecretBoxApi, OpenFault> => {
  const problem = optionsProblem(options)
  if (problem !== null) return Effect.fail(problem)
  const file = fileOf(options)
  return Effect.tryPromise({ try: () => openSecretsFile(file), catch: (error) => openFault(file.path, error) }).pipe(
    Effect.map((keys) => boxOver(keys[0], keys, () => readSecretsFile(file).catch(() => null)))
  )
}

const openFault = (path: string, error: unknown): OpenFault => {
  if (error instanceof FolderProblem) return new KeysUnreadable({ file: error.file, reason: error.reason })
  const code = codeOf(error) ?? "unknown cause"
  if (code === "ENOENT" || code === "ENOTDIR")
    return new KeysUnreadable({
      file: path,
      reason: "the folder that is to hold the key of the secrets is not there. Make it, or name another place"
    })
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return new KeysUnreadable({
      file: path,
      reason: `this process may not read it, or not make it (${code}). Give it to the account that runs the process`
    })
  return new StorageUnavailable({
    reason: `the key of the secrets cannot be read (${code})`,
    wrote: "unknown",
    cause: error
  })
}

/** `reread` answers the keys of the file as it is now: another process may have added one. */
const boxOver = (
  sealing: SecretsKey,
  known: ReadonlyArray<SecretsKey>,
  reread: () => Promise<ReadonlyArray<SecretsKey> | null>
): SecretBoxApi => {
  let keys = known
  return {
    keyId: sealing.id,
    seal: (secret, boundTo) => Effect.sync(() => seal(sealing, secret, boundTo)),
    open: (sealed, boundTo) =>
      Effect.gen(function* () {
        const id = sealedBy(sealed)
        if (id === null)
          return yield* new SecretUnreadable({
            reason: "these bytes are not a secret that was sealed here, or the form is newer than this program"
          })
        let key = keys.find((candidate) => candidate.id === id)
        if (key === undefined) {
          const now = yield* Effect.promise(reread)
          // A key that was taken out of the file continues opening here until the process ends.
          if (now !== null) keys = [...now, ...keys.filter((old) => now.every((candidate) => candidate.id !== old.id))]
          key = keys.find((candidate) => candidate.id === id)
        }
        if (key === undefined)
          return yield* new SecretUnreadable({
            reason:
              `it was sealed with the key ${id}, and the key file has no such key. Bring the file back ` +
              "from a backup, or give the webhook a new secret"
          })
        return (
          unseal(key, sealed, boundTo) ??
          (yield* new SecretUnreadable({ reason: "it was sealed for another owner, or its bytes were changed" }))
        )
      })
  }
}
