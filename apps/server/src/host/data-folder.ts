/**
 * The data folder as the commands meet it: made before it is used, named when a new one was made, required by those
 * that only read.
 */
import { accessSync, constants, existsSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import type { Settings } from "../settings/read.ts"
import { fileProblem } from "./file-problem.ts"
import { makeFolder } from "./make-folder.ts"

/** Makes the data folder if it does not exist. Fails with a sentence. */
export const makeDataFolder = ({ dataDir }: Pick<Settings, "dataDir">): void => {
  try {
    makeFolder(dataDir)
  } catch (cause) {
    throw new Error(
      `the data folder ${resolve(dataDir)} cannot be created: ${fileProblem(cause)}. FLYBALL_DATA_DIR names it`,
      { cause }
    )
  }
  if (!statSync(dataDir).isDirectory())
    throw new Error(`FLYBALL_DATA_DIR should name a folder, and ${resolve(dataDir)} is a file. Name another folder`)
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw new Error(
      `the data folder ${resolve(dataDir)} cannot be written: ${fileProblem(cause)}. Give it to the account ` +
        "that runs flyball, or name another with FLYBALL_DATA_DIR",
      { cause }
    )
  }
}

/**
 * Fails with a sentence when there is no signing key: a command that only reads must not make one in whatever folder it
 * was started in.
 */
export const requireDataFolder = ({ dataDir }: Pick<Settings, "dataDir">): void => {
  if (!hasSigningKey({ dataDir })) {
    throw new Error(
      `there is no signing key in ${resolve(dataDir)}. Set FLYBALL_DATA_DIR to the server's data folder, or ` +
        "start in the folder where it was started"
    )
  }
  try {
    accessSync(join(dataDir, SIGNING_KEY), constants.R_OK)
  } catch (cause) {
    throw keyUnseen(dataDir, cause)
  }
}

/**
 * True when the data folder holds the signing key. Fails with a sentence where this account cannot know: a key that may
 * not be seen is not one that is missing.
 */
export const hasSigningKey = ({ dataDir }: Pick<Settings, "dataDir">): boolean => {
  try {
    return statSync(join(dataDir, SIGNING_KEY), { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    // A file in the place of the folder, which is said elsewhere.
    if ((cause as NodeJS.ErrnoException).code === "ENOTDIR") return false
    throw keyUnseen(dataDir, cause)
  }
}

const keyUnseen = (dataDir: string, cause: unknown): Error =>
  new Error(
    `the signing key in ${resolve(dataDir)} cannot be read: ${fileProblem(cause)}. Run this command as the ` +
      "account that the server runs as",
    { cause }
  )

/**
 * Runs `open`, which may make a file of the data folder, and says so on standard error when it did.
 *
 * Who runs a command in the wrong folder would otherwise pin or use a key that nothing else knows.
 */
export const tellingOfNew = <A>(
  { dataDir }: Pick<Settings, "dataDir">,
  file: KeyFile,
  open: () => Promise<A>
): Promise<A> => tellingOfNewFile(join(dataDir, file), file, open)

/** The same of a file that may be elsewhere. */
export const tellingOfNewFile = async <A>(path: string, file: KeyFile, open: () => Promise<A>): Promise<A> => {
  const wasThere = existsSync(path)
  try {
    return await open()
  } finally {
    // Also when it fails: a key that does not fit the store is often one that was made a moment ago.
    if (!wasThere && existsSync(path)) console.error(`flyball: ${news[file]} was created in ${dirname(resolve(path))}.`)
  }
}

/** The log's signing key, as `@flyball/node` names it. */
export const SIGNING_KEY = "signing.key"
/** The development issuer's key. */
export const DEV_ISSUER_KEY = "dev-issuer.jwk"
/** The key that seals webhooks' secrets, as `@flyball/node` names it. */
export const SECRETS_KEY = "secrets.key"

/** A key's file that is made where there is none. */
export type KeyFile = typeof SIGNING_KEY | typeof DEV_ISSUER_KEY | typeof SECRETS_KEY

const news: { readonly [F in KeyFile]: string } = {
  [SIGNING_KEY]: "a new chain's signing key",
  [DEV_ISSUER_KEY]: "a new development issuer's key",
  [SECRETS_KEY]: "a new key for webhooks' secrets"
}
