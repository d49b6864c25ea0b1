/** The state of a data folder's guard, for a backup: read without making anything, and put into a folder that has none. */
import { mkdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import type { SignedState } from "@flyball/core"
import { codeOf } from "./atomic-file.ts"
import { guardFiles } from "./guard-files.ts"
import { diskFolder } from "./open-folder.ts"

const FOLDER_MODE = 0o700

/**
 * What was signed last, as the folder `guard` in `dir` says; null when there is no such folder or nothing in it. Makes nothing.
 *
 * - Fails: rejects with a sentence when a file of the guard is garbled, and with the system's error.
 */
export const readGuardState = async (dir: string): Promise<SignedState | null> => {
  try {
    return await guardFiles(diskFolder(guardDir(dir))).read()
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
}

/**
 * Puts `state` into the guard in `dir`, if it is empty. The folder is made when it is not there; the state is durable when the promise resolves.
 *
 * Answers false when the guard holds another state: then nothing has changed. One that holds this state already is left as it is.
 *
 * - Fails: as {@link readGuardState} does.
 */
export const installGuardState = async (dir: string, state: SignedState): Promise<boolean> => {
  await mkdir(guardDir(dir), { recursive: true, mode: FOLDER_MODE })
  return guardFiles(diskFolder(guardDir(dir))).advance(null, state)
}

const guardDir = (dir: string): string => join(resolve(dir), "guard")
