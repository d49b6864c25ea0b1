/** Types of a verifier's report on a pack. Spec: format 1 section 6. */
import type { PackHeader } from "../pack/format.ts"

/** Codes of findings. They are stable: programs branch on them. Spec: format 1 section 6. */
export const findingCodes = [
  "E_FORMAT",
  "E_VERSION",
  "E_LIMIT",
  "E_NONCANONICAL",
  "E_SEQ",
  "E_PREV",
  "E_TIME",
  "E_PROOF",
  "E_ROOT",
  "E_ORIGIN",
  "E_CHECKPOINT_SIG",
  "E_PACK_SIG",
  "E_PACK_DIGEST",
  "E_ROLLBACK",
  "E_SPLIT_VIEW",
  "E_CONSISTENCY",
  "E_PART_MISMATCH",
  "E_PART_UNEXPLAINED",
  "E_KEY_UNKNOWN",
  "E_KEY_REVOKED",
  "E_STALE",
  "E_COUNT"
] as const

/** One of {@link findingCodes}. */
export type FindingCode = (typeof findingCodes)[number]

/** A disagreement between the pack and its claims: a value, never thrown. Spec: format 1 section 6. */
export interface Finding {
  readonly code: FindingCode
  /** Line of the pack, from 1; null when it is about no line of this file. */
  readonly line: number | null
  /** Record that it is about, or null. */
  readonly seq: number | null
  readonly expected: string
  readonly found: string
}

/** The agreement of the records and the tree. Spec: format 1 section 6. */
export type Integrity = "ok" | "broken" | "not_checked"
/** The signer of the pack. `not_checked` only for a file that could not be read. Spec: format 1 section 6. */
export type Authenticity =
  | "signed_by_pinned_key"
  | "signed_by_unpinned_key"
  | "unsigned"
  | "bad_signature"
  | "not_checked"
/** How much of the chain the pack has. Spec: format 1 section 6. */
export type Completeness = "full" | "range" | "sparse_claimed" | "truncated" | "not_checked"
/** Which evidence outside the operator's reach confirms the pack. Spec: format 1 section 6. */
export type Anchoring = "witnessed" | "timestamped" | "consistent_with_trusted_checkpoint" | "none" | "stale"

/** The four verdicts, which are never reduced to one boolean. Spec: format 1 section 6. */
export interface Verdicts {
  readonly integrity: Integrity
  readonly authenticity: Authenticity
  readonly completeness: Completeness
  readonly anchoring: Anchoring
}

/** A key that signed something in the pack, or that the user pinned. */
export interface ReportedKey {
  readonly key_id: string
  readonly name: string
  readonly role: "log" | "witness"
  readonly pinned: boolean
}

/** A key of the log that signed a pack's checkpoint. */
export interface CheckpointSigner {
  readonly keyId: string
  readonly publicKeyHex: string
  readonly pinned: boolean
}

/** How much was read. */
export interface Counts {
  readonly records: number
  /** Disclosed, and fitting their commitment. */
  readonly parts_disclosed: number
  readonly parts_withheld: number
  readonly parts_erased: number
  /** Signature lines by keys that nobody pinned or that we cannot check. */
  readonly ignored_signatures: number
}

/** A cosignature by a pinned witness that verified. */
export interface ReportedCosignature {
  readonly name: string
  readonly timeS: number
}

/** Exit status of the command for this report. 4 never comes from a report. Spec: format 1 section 6. */
export type ExitStatus = 0 | 1 | 2 | 3

/**
 * The report on one pack. Members in snake_case up to `statement` are the JSON that `flyball-verify --json` prints; the
 * rest serves callers in process. Spec: format 1 section 6.
 */
export interface Report {
  readonly file: string | null
  readonly format: string | null
  readonly origin: string | null
  readonly tree_size: number | null
  readonly verdicts: Verdicts
  /** At most {@link MAX_LISTED_FINDINGS}, in the order of the file. */
  readonly findings: ReadonlyArray<Finding>
  readonly counts: Counts
  readonly keys: ReadonlyArray<ReportedKey>
  readonly not_checked: ReadonlyArray<string>
  readonly statement: string
  readonly exit: ExitStatus
  /** All findings, listed or not. */
  readonly findingCount: number
  readonly header: PackHeader | null
  /**
   * The checkpoint that every proof refers to; its note as text, and the keys of the log whose signatures on it verify.
   */
  readonly checkpoint: {
    readonly size: number
    readonly rootHex: string
    readonly note: string
    readonly signers: ReadonlyArray<CheckpointSigner>
  } | null
  readonly cosignatures: ReadonlyArray<ReportedCosignature>
  /**
   * Roots by size (64 hex digits) that belong to the history this pack shows: of its checkpoints, and at the sizes in
   * `rootsAt`.
   */
  readonly roots: ReadonlyMap<number, string>
}

/**
 * Findings that a report lists; the rest are counted. A hostile pack could otherwise make a report of any size. Spec:
 * format 1 section 6.
 */
export const MAX_LISTED_FINDINGS = 100
