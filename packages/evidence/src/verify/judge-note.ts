/** Whose signature a note carries, seen from what the user pinned. Spec: format 1 section 6. */
import type { Crypto } from "../crypto.ts"
import type { Note } from "../note/note.ts"
import type { JudgedSignature } from "../note/verify-note.ts"
import { verifyNote } from "../note/verify-note.ts"
import type { Vkey } from "../note/vkey.ts"
import type { Authenticity } from "./report.ts"
import type { Trust } from "./trust.ts"

/** What the signature lines of one note amount to. */
export interface NoteJudgement {
  readonly authenticity: Exclude<Authenticity, "not_checked">
  /** Keys were pinned, and no line is by one of them. */
  readonly lacksPinned: boolean
  /** Lines that name a key and do not verify. */
  readonly bad: ReadonlyArray<JudgedSignature>
  /** Lines of the log that verified, by pinned keys or else by hints. */
  readonly signed: ReadonlyArray<JudgedSignature>
  /** Lines of pinned witnesses that verified. */
  readonly cosigned: ReadonlyArray<JudgedSignature>
  readonly ignored: number
}

/**
 * Judges a note. Only lines named like the origin count for the log; `hints` are keys out of the pack, and decide
 * nothing but between
 * "signed by somebody unpinned" and "unsigned".
 *
 * A cosigner signs checkpoints only: `cosigners` is empty for the note that closes a pack.
 */
export const judgeNote = (
  crypto: Crypto,
  note: Note,
  keys: {
    readonly origin: string
    readonly trust: Trust
    readonly cosigners: ReadonlyArray<Vkey>
    readonly hints: ReadonlyArray<Vkey>
  }
): NoteJudgement => {
  const pinnedLogs = keys.trust.logs.filter((vkey) => vkey.name === keys.origin)
  const pinned = verifyNote(crypto, note, [...pinnedLogs, ...keys.cosigners])
  const signed = pinned.verified.filter((one) => pinnedLogs.includes(one.vkey))
  const cosigned = pinned.verified.filter((one) => !pinnedLogs.includes(one.vkey))
  const lacksPinned =
    keys.trust.logs.length > 0 && signed.length === 0 && !pinned.bad.some((one) => pinnedLogs.includes(one.vkey))
  if (pinned.bad.length > 0)
    return {
      authenticity: "bad_signature",
      lacksPinned,
      bad: pinned.bad,
      signed,
      cosigned,
      ignored: pinned.ignored.length
    }
  if (signed.length > 0)
    return {
      authenticity: "signed_by_pinned_key",
      lacksPinned,
      bad: [],
      signed,
      cosigned,
      ignored: pinned.ignored.length
    }
  const hinted = verifyNote(crypto, { ...note, signatures: pinned.ignored }, keys.hints)
  const authenticity =
    hinted.bad.length > 0 ? "bad_signature" : hinted.verified.length > 0 ? "signed_by_unpinned_key" : "unsigned"
  return {
    authenticity,
    lacksPinned,
    bad: hinted.bad,
    signed: hinted.verified,
    cosigned,
    ignored: hinted.ignored.length
  }
}

/** The worse of two: what a whole pack can claim when its parts are signed differently. */
export const worse = (
  a: NoteJudgement["authenticity"],
  b: NoteJudgement["authenticity"]
): NoteJudgement["authenticity"] => (RANK.indexOf(a) > RANK.indexOf(b) ? a : b)

const RANK: ReadonlyArray<NoteJudgement["authenticity"]> = [
  "signed_by_pinned_key",
  "signed_by_unpinned_key",
  "unsigned",
  "bad_signature"
]
