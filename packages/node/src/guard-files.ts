/**
 * The signing guard as numbered files: `guard/0000000000000001`, `…2`, and so on. The highest number counts.
 *
 * Advancing from number n makes number n + 1 by `link()`, which fails when it exists: of two holders that both stand at
 * n one wins, without a lock that a killed process could leave behind. Old files are deleted, never the highest. So
 * when number n + 1 was made after others had gone past it, a higher number still exists, and the read after the link
 * sees it.
 *
 * A guard that came from a backup says so in a file of its own, {@link FROM_BACKUP}: the state that the backup knew of.
 * While that is the guard's state, more may have been signed than it
 * knows of, and it signs nothing more for that chain. A guard that has gone on, or a newer copy in its place, is not
 * meant any more.
 */
import { sameState, type SignedState } from "@flyball/core"
import { fromUtf8 } from "@flyball/evidence"
import { FolderProblem } from "./folder-problem.ts"
import { formatGuardState, parseGuardState } from "./guard-state.ts"

/** Folder operations that the guard needs. A test puts another one in to stop between any two steps. */
export interface GuardFolder {
  /** Names for messages. */
  readonly path: string
  readonly list: () => Promise<ReadonlyArray<string>>
  /** Null when there is no such file (any more). */
  readonly read: (name: string) => Promise<Uint8Array | null>
  /** Makes a whole durable file; false when the name is taken. */
  readonly create: (name: string, bytes: Uint8Array) => Promise<boolean>
  readonly remove: (name: string) => Promise<void>
  /** Makes the names durable. */
  readonly sync: () => Promise<void>
}

/**
 * The guard's operations as promises. They throw {@link FolderProblem} when a file is garbled, and the system's errors.
 */
export interface GuardFiles {
  readonly read: () => Promise<SignedState | null>
  /** True for a backup's guard, so that more may have been signed than it knows of. */
  readonly inDoubt: () => Promise<boolean>
  readonly advance: (from: SignedState | null, to: SignedState) => Promise<boolean>
}

/** Name of the file that a backup's guard carries. Decision 0010 of core. */
export const FROM_BACKUP = "from-backup"

/**
 * Older files that stay behind the highest. Each is a state that was signed; a few help an operator who must
 * investigate.
 */
const KEPT = 8

/** Times the folder is listed again after the file it named was tidied away. */
const ATTEMPTS = 100

/** A guard in this folder. */
export const guardFiles = (folder: GuardFolder): GuardFiles => {
  const current = async (): Promise<{ number: number; state: SignedState | null; inDoubt: boolean }> => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const names = await folder.list()
      const number = highest(folder, names)
      if (number === 0) return { number, state: null, inDoubt: false }
      const bytes = await folder.read(nameOf(number))
      if (bytes === null) continue
      const state = stateOf(folder, number, bytes)
      return { number, state, inDoubt: names.includes(FROM_BACKUP) && (await isMeant(folder, state)) }
    }
    throw new FolderProblem(
      folder.path,
      `the folder changed ${ATTEMPTS} times while it was read. Start fewer processes on it`
    )
  }

  const advance = async (from: SignedState | null, to: SignedState): Promise<boolean> => {
    const before = await current()
    if (sameState(before.state, to)) {
      // Its writer may have been killed before it was durable, and a signature depends on it.
      await folder.sync()
      return true
    }
    if (!sameState(before.state, from)) return false
    // The chain that a recovery begins knows that it forgets.
    if (before.inDoubt && before.state?.origin === to.origin) {
      throw new FolderProblem(
        folder.path,
        "this is a backup's guard, and more may have been signed than it knows of. Start the server once more: " +
          "it says what can be done"
      )
    }
    const number = before.number + 1
    const made = await folder.create(nameOf(number), formatGuardState(to))
    const after = await current()
    // A higher number than ours: others went past. Ours may have been first, but to say no is always safe.
    if (!sameState(after.state, to) || (made && after.number !== number)) return false
    if (made) await tidy(folder, number, to)
    return true
  }

  return { read: async () => (await current()).state, inDoubt: async () => (await current()).inDoubt, advance }
}

const tidy = async (folder: GuardFolder, number: number, state: SignedState): Promise<void> => {
  for (const name of await folder.list()) {
    if (name === FROM_BACKUP ? !(await isMeant(folder, state)) : NUMBERED.test(name) && Number(name) < number - KEPT)
      await folder.remove(name)
  }
}

/** True when the backup's file has this state. One that cannot be read may have it. */
const isMeant = async (folder: GuardFolder, state: SignedState): Promise<boolean> => {
  const bytes = await folder.read(FROM_BACKUP)
  if (bytes === null) return false
  const reported = parseGuardState(fromUtf8(bytes) ?? "")
  return reported === null || sameState(reported, state)
}

const NUMBERED = /^[0-9]{16}$/

const nameOf = (number: number): string => String(number).padStart(16, "0")

const highest = (folder: GuardFolder, names: ReadonlyArray<string>): number => {
  let number = 0
  for (const name of names) {
    if (name.startsWith("tmp-") || name === FROM_BACKUP) continue
    if (!NUMBERED.test(name)) {
      throw new FolderProblem(
        folder.path,
        "a file is here that the guard did not write. Only numbered files belong here: move the other one " +
          "away, after checking where it came from"
      )
    }
    number = Math.max(number, Number(name))
  }
  return number
}

const stateOf = (folder: GuardFolder, number: number, bytes: Uint8Array): SignedState => {
  const state = parseGuardState(fromUtf8(bytes) ?? "")
  if (state === null) {
    throw new FolderProblem(
      `${folder.path}/${nameOf(number)}`,
      "this is not what the guard wrote, so what was signed last is not known. Bring the newest copy of the " +
        "folder back; do not delete the file to go on. " +
        "Only when there is no copy anywhere: move the whole folder away, then flyball recover " +
        "--accept-rollback --guard-forgotten --reason TEXT goes on under another name"
    )
  }
  return state
}
