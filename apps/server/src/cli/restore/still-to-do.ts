/** Lists the steps left between a restored store and a start, in sentences whose commands work. Pure. */
import type { SignedState } from "@flyball/core"
import { counted } from "../command.ts"
import type { Manifest } from "../backup/manifest.ts"

/** The data folder as the restore leaves it. */
export interface FolderNow {
  /** Absolute. */
  readonly folder: string
  readonly hasKey: boolean
  /** Where the guard is, for a person. */
  readonly place: string
  /** True when that is a database which hosts share. */
  readonly isShared: boolean
  /** State that its guard signed last; null when it has none. */
  readonly guard: SignedState | null
  /** True when that is a backup's guard, and nobody said that nothing was signed after it. */
  readonly inDoubt: boolean
}

/** The way on under another name. It always works: the store is there, and the key comes from the vault. */
const RECOVER = "flyball recover --accept-rollback --reason TEXT"

/** One line each; none when the server can be started. `from` is the backup's folder. */
export const stillToDo = (
  { folder, guard: held, hasKey, inDoubt, isShared, place }: FolderNow,
  { checkpoint, guard, tree }: Manifest,
  from: string
): ReadonlyArray<string> => {
  const lines: Array<string> = []
  const newest = `Bring the newest copy of the ${isShared ? "guard" : "folder guard"} back into ${place}`
  if (!hasKey)
    lines.push(
      `Bring signing.key back into ${folder} from your vault. Without it flyball check and flyball vkey work; ` +
        "packs cannot be made, and the chain cannot continue."
    )
  if (held === null && guard !== null) {
    lines.push(
      `${newest}. If it is lost, ${isShared ? `copy ${from} into ${folder}` : `take ${from}`}: it knows of ` +
        `${counted(guard.size, "signed record")}, and of nothing that was signed after the backup.`,
      ...choice("With that one the server")
    )
  } else if (held !== null && held.size > tree.size) {
    lines.push(
      `The guard in ${place} has signed for ${counted(held.size, "record")}, and the backup holds ` +
        `${tree.size}: the server will not start on it. Restore a newer backup, or continue under another name: ` +
        `${RECOVER}.`
    )
  } else if (held !== null && checkpoint !== null && held.size < checkpoint.size) {
    lines.push(
      `The guard in ${place} has signed for ${counted(held.size, "record")}, and the backup holds a ` +
        `checkpoint of ${checkpoint.size}: it is an older copy, and the server will not start with it. Bring the ` +
        `newest one back. If there is none: ${RECOVER} --guard-forgotten continues under another name.`
    )
  } else if (held !== null && inDoubt) {
    lines.push(
      `The guard in ${place} is a backup's; it knows of ${counted(held.size, "signed record")}, and of ` +
        "nothing that was signed after the backup.",
      ...choice("The server")
    )
  }
  return lines
}

const choice = (subject: string): ReadonlyArray<string> => [
  `${subject} does not start until you choose one of:`,
  "  nothing was signed after the backup: flyball restore --nothing-signed-since",
  `  something was, or it is not known: ${RECOVER}`
]
