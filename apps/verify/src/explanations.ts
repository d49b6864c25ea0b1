/** Explanations of verdicts and findings, for someone who has never seen a hash. */
import type { Anchoring, Authenticity, Completeness, ExitStatus, FindingCode, Integrity } from "@flyball/evidence"

/** The result in two words and a sentence. */
export const resultText: { readonly [status in ExitStatus]: string } = {
  0: "GOOD. Everything that was asked for holds.",
  1: "BAD. The pack was tampered with, or a signature is wrong. Do not rely on it.",
  2:
    "INTACT, BUT NOT ENOUGH. What is here fits together, but some of the trust, completeness or outside " +
    "confirmation that was asked for is missing.",
  3: "NOT READABLE. This file, or something in it, cannot be read as this format asks. Do not rely on it."
}

/** The result where the pack is sound, and an evaluation in it is not. */
export const unfaithfulText =
  "BAD. The pack is as its signer sealed it, but what was sealed breaks its own rules: a verdict, a version or " +
  "a waiver is not what they say. Do not rely on it."

/** One sentence per verdict. */
export const verdictText: {
  readonly integrity: { readonly [value in Integrity]: string }
  readonly authenticity: { readonly [value in Authenticity]: string }
  readonly completeness: { readonly [value in Completeness]: string }
  readonly anchoring: { readonly [value in Anchoring]: string }
} = {
  integrity: {
    ok: "The records are in order, and exactly what the checkpoint commits to.",
    broken: "The records, or what ties them together, are not what the pack claims.",
    not_checked: "The pack could not be read to its end."
  },
  authenticity: {
    signed_by_pinned_key: "Signed by a key that you gave.",
    signed_by_unpinned_key: "Signed, but by a key that you did not give: it says nothing about who signed.",
    unsigned: "No signature in the pack could be checked.",
    bad_signature: "A signature does not fit what it is on.",
    not_checked: "The pack could not be read to its end."
  },
  completeness: {
    full: "Every record from the first to the checkpoint is here.",
    range: "Every record of the stated range is here; what lies before and after it is not.",
    sparse_claimed: "A selection. Each record is proven; that nothing was left out of the selection is only claimed.",
    truncated: "The end is missing: you trust a checkpoint that is larger than this pack's.",
    not_checked: "Not judged, because of what was found."
  },
  anchoring: {
    witnessed: "Independent witnesses have cosigned this checkpoint.",
    timestamped: "A timestamp authority has confirmed when this checkpoint existed.",
    consistent_with_trusted_checkpoint: "It continues the checkpoint that you kept.",
    none: "Nothing outside the operator's reach confirms it.",
    stale: "Witnesses confirmed it, but longer ago than you required."
  }
}

/** One sentence per finding. */
export const findingText: { readonly [code in FindingCode]: string } = {
  E_FORMAT: "A line is not as an evidence pack has it.",
  E_VERSION: "It was written in a version of the format that this verifier does not know.",
  E_LIMIT: "Something is larger than the format allows.",
  E_NONCANONICAL: "A record is not written in the one way it may be written, so its meaning is in doubt.",
  E_SEQ: "A record is missing, doubled, or out of its place.",
  E_PREV: "A record does not follow from the one before it.",
  E_TIME: "A record's time is no real time, or lies before that of an earlier record.",
  E_PROOF: "The proof that belongs to a record does not hold.",
  E_ROOT: "The records are not those that the checkpoint commits to.",
  E_ORIGIN: "Something in the pack belongs to another chain.",
  E_CHECKPOINT_SIG: "The signature on a checkpoint is wrong.",
  E_PACK_SIG: "The signature on the pack as a whole is wrong.",
  E_PACK_DIGEST: "The pack was changed after it was closed.",
  E_ROLLBACK: "The chain was longer than this once.",
  E_SPLIT_VIEW: "Two histories are shown under the name of this log, and they contradict each other.",
  E_CONSISTENCY: "The newer checkpoint does not continue the older one.",
  E_PART_MISMATCH: "Disclosed content is not what the record commits to.",
  E_PART_UNEXPLAINED: "Content is said to be erased, and no record in the pack accounts for it.",
  E_KEY_UNKNOWN: "None of the keys that you gave has signed this, or a witness that you gave has not.",
  E_KEY_REVOKED: "The key that signed had been revoked.",
  E_STALE: "No witness has confirmed it recently enough.",
  E_COUNT: "Numbers in the pack contradict each other."
}
