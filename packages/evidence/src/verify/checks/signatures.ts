/** Judges the signatures of the checkpoint and the pack by the keys that the user pinned. Spec: format 1 section 6. */
import type { Crypto } from "../../crypto.ts"
import type { Note } from "../../note/note.ts"
import type { JudgedSignature } from "../../note/verify-note.ts"
import { verifyNote } from "../../note/verify-note.ts"
import type { Vkey } from "../../note/vkey.ts"
import { toHex } from "../../bytes.ts"
import type { Findings } from "../findings.ts"
import type { ReadPack } from "../pack-facts.ts"
import type { Authenticity, FindingCode } from "../report.ts"
import type { Trust } from "../trust.ts"

/** Verdict on the signature lines of one note. */
export interface NoteJudgement {
  readonly authenticity: Exclude<Authenticity, "not_checked">
  /** Keys are pinned, and no line is by one of them. */
  readonly lacksPinned: boolean
  /** Lines that name a key and do not verify. */
  readonly bad: ReadonlyArray<JudgedSignature>
  /** Lines of the log that verified, by pinned keys or else by hints. */
  readonly signed: ReadonlyArray<JudgedSignature>
  /** Lines of pinned witnesses that verified. */
  readonly cosigned: ReadonlyArray<JudgedSignature>
  readonly ignored: number
}

/** The notes of a pack. `closing` is null when the N line is not the note of a pack. */
export interface PackSignatures {
  readonly checkpoint: NoteJudgement
  readonly older: NoteJudgement | null
  readonly closing: NoteJudgement | null
}

/** Judges the checkpoint, the older checkpoint and the closing note of a pack, and adds findings for bad signatures. */
export const judgeSignatures = (crypto: Crypto, pack: ReadPack, trust: Trust): PackSignatures => {
  const { checkpoint, closing, findings, hints, older, origin } = pack
  const cosigners = trust.witnesses.map((one) => one.vkey)
  const judge = (line: number, note: Note, code: FindingCode, witnesses = cosigners): NoteJudgement => {
    const judged = judgeNote(crypto, note, { origin, trust, cosigners: witnesses, hints: hints.vkeys })
    reportBad(findings, judged, line, code)
    return judged
  }
  return {
    checkpoint: judge(checkpoint.line, checkpoint.note, "E_CHECKPOINT_SIG"),
    older: older === null ? null : judge(older.line, older.note, "E_CHECKPOINT_SIG"),
    // A cosigner signs checkpoints only.
    closing: closing.note === null ? null : judge(closing.line, closing.note, "E_PACK_SIG", [])
  }
}

const reportBad = (findings: Findings, judged: NoteJudgement, line: number, code: FindingCode): void => {
  for (const { vkey } of judged.bad) {
    const expected = `a signature by key ${toHex(vkey.keyId)} of ${vkey.name}`
    findings.add(code, { line, expected, found: "one that does not verify" })
  }
  if (!judged.lacksPinned) return
  findings.add("E_KEY_UNKNOWN", { line, expected: "a signature by a pinned key", found: "none by any of them" })
}

/**
 * Judges one note. Only lines with the name of the origin count for the log. `hints` are keys from the pack: they
 * decide only
 * between "signed by an unpinned key" and "unsigned".
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
  const isBadLog = pinned.bad.some((one) => pinnedLogs.includes(one.vkey))
  const lacksPinned = keys.trust.logs.length > 0 && signed.length === 0 && !isBadLog
  const ignored = pinned.ignored.length
  if (pinned.bad.length > 0) {
    return { authenticity: "bad_signature", lacksPinned, bad: pinned.bad, signed, cosigned, ignored }
  }
  if (signed.length > 0)
    return { authenticity: "signed_by_pinned_key", lacksPinned, bad: [], signed, cosigned, ignored }
  const {
    bad,
    ignored: stillIgnored,
    verified
  } = verifyNote(crypto, { ...note, signatures: pinned.ignored }, keys.hints)
  const authenticity = bad.length > 0 ? "bad_signature" : verified.length > 0 ? "signed_by_unpinned_key" : "unsigned"
  return { authenticity, lacksPinned, bad, signed: verified, cosigned, ignored: stillIgnored.length }
}

/** The worse of two: what a whole pack can claim when its parts are signed differently. */
export const worse = (a: Signed, b: Signed): Signed => (RANK.indexOf(a) > RANK.indexOf(b) ? a : b)

type Signed = NoteJudgement["authenticity"]

const RANK: ReadonlyArray<Signed> = ["signed_by_pinned_key", "signed_by_unpinned_key", "unsigned", "bad_signature"]
