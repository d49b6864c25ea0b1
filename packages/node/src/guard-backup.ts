/**
 * The state of a data folder's guard, for a backup: read without making anything, and put into a folder that has none.
 */
import { mkdir, readdir, rm } from "node:fs/promises"
import { join, resolve } from "node:path"
import { sameState, type SignedState } from "@flyball/core"
import { codeOf, replaceFile, syncFolder } from "./atomic-file.ts"
import { FROM_BACKUP, type GuardFiles, guardFiles } from "./guard-files.ts"
import { formatGuardState } from "./guard-state.ts"
import { SECRET_MODE } from "./key-files.ts"
import { diskFolder } from "./open-folder.ts"

const FOLDER_MODE = 0o700

/**
 * Reads the state that was signed last from the folder `guard` in `dir`; null when there is no such folder or it is
 * empty. Creates nothing.
 *
 * - Fails: rejects with a sentence when a file of the guard is garbled, and with the system's error.
 * - Spec: format 1 section 4, "Signing guard"; decision 0012.
 */
export const readGuardState = async (dir: string): Promise<SignedState | null> => {
  try {
    return await guardIn(dir).read()
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
}

/**
 * Puts `state` into the guard in `dir`, if it is empty, as what a backup knew of: more may have been signed, and until
 * {@link acceptGuardState} says that nothing was it signs nothing more. The folder is made if it does not exist; the
 * state is durable when the promise resolves.
 *
 * Answers false when the guard holds another state: then nothing has changed. One that holds this state already is left
 * as it is.
 *
 * - Fails: as {@link readGuardState} does.
 * - Spec: decision 0012.
 */
export const installGuardState = async (dir: string, state: SignedState): Promise<boolean> => {
  await mkdir(guardDir(dir), { recursive: true, mode: FOLDER_MODE })
  const held = await guardIn(dir).read()
  if (held !== null) return sameState(held, state)
  // First: a crash in between leaves a guard that is empty, never one that passes for the newest.
  await replaceFile(join(guardDir(dir), FROM_BACKUP), formatGuardState(state), SECRET_MODE)
  return guardIn(dir).advance(null, state)
}

/**
 * Takes a backup's guard for what was signed last, because a person says so. Answers that state; null when the guard in
 * `dir` is none of a backup's, and then nothing has changed.
 *
 * - Fails: as {@link readGuardState} does.
 * - Spec: decision 0012.
 */
export const acceptGuardState = async (dir: string): Promise<SignedState | null> => {
  const state = await readGuardState(dir)
  if (!(await guardInDoubt(dir))) return null
  await rm(join(guardDir(dir), FROM_BACKUP), { force: true })
  await syncFolder(guardDir(dir))
  return state
}

/**
 * True when the guard in `dir` is a backup's, so that more may have been signed than it knows of. Fails as {@link
 * readGuardState} does. Spec: decision 0012.
 */
export const guardInDoubt = async (dir: string): Promise<boolean> =>
  (await readGuardState(dir)) !== null && guardIn(dir).inDoubt()

/**
 * Removes the state that {@link installGuardState} put into an empty guard, if it is unchanged. Spec: decision 0012.
 */
export const removeGuardState = async (dir: string, state: SignedState): Promise<void> => {
  if (!sameState(await readGuardState(dir), state) || !(await guardInDoubt(dir))) return
  await dropGuardFiles(dir)
}

/** Deletes the files of the guard in `dir`: a guard that is shared has taken their place. */
export const dropGuardFiles = async (dir: string): Promise<void> => {
  // Numbered ones from the lowest, and a backup's mark last: what is left by a crash never passes for a newer state.
  for (const name of (await readdir(guardDir(dir))).sort()) await rm(join(guardDir(dir), name), { force: true })
  await syncFolder(guardDir(dir))
}

const guardIn = (dir: string): GuardFiles => guardFiles(diskFolder(guardDir(dir)))

const guardDir = (dir: string): string => join(resolve(dir), "guard")
