/** Facts that the verifier has read from a pack so far, and the complete result of a pass. */
import type { Crypto } from "../crypto.ts"
import type { Note } from "../note/note.ts"
import type { PackHeader } from "../pack/format.ts"
import { Erasures } from "./checks/erasures.ts"
import type { PackCheckpoint } from "./checks/head.ts"
import { KeyHints } from "./checks/key-hints.ts"
import type { PartChecks } from "./checks/parts.ts"
import type { RecordChecks } from "./checks/records.ts"
import type { TreeChecks } from "./checks/tree.ts"
import { Findings } from "./findings.ts"

/** The first line, H and C. */
export interface PackHead {
  readonly origin: string
  readonly header: PackHeader
  readonly checkpoint: PackCheckpoint
}

/** G, X and W. The K lines are in the key hints. */
export interface PackExtras {
  /** The older checkpoint. `holds`: its tree is the beginning of the newer tree. */
  readonly older: (PackCheckpoint & { readonly holds: boolean }) | null
  /** Number of timestamp tokens. */
  readonly tokens: number
}

/** Facts that a pass collects line by line. A report on an unreadable pack needs as much of it as there is. */
export class PackFacts {
  readonly findings = new Findings()
  readonly erasures = new Erasures()
  readonly hints: KeyHints
  origin: string | null = null
  header: PackHeader | null = null
  checkpoint: PackCheckpoint | null = null
  records: RecordChecks | null = null

  constructor(crypto: Crypto) {
    this.hints = new KeyHints(crypto)
  }
}

/** A pack that was read to its end. Its signatures are not judged yet. */
export interface ReadPack extends PackHead, PackExtras {
  readonly findings: Findings
  readonly erasures: Erasures
  readonly hints: KeyHints
  readonly records: RecordChecks
  readonly tree: TreeChecks
  readonly parts: PartChecks
  /** The N line. `note` is null when it is not the note of a pack: no signature on it then counts. */
  readonly closing: { readonly line: number; readonly note: Note | null }
}
