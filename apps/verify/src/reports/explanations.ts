/** Explanations of verdicts and findings, for someone who has never seen a hash. */
import type { Anchoring, Authenticity, Completeness, ExitStatus, FindingCode, Integrity } from "@flyball/evidence"

/** The result in two words and a sentence. */
export const resultText: { readonly [status in ExitStatus]: string } = {
  0: "GOOD. Every required check passed.",
  1: "BAD. The pack was tampered with, or a signature is wrong. Do not rely on it.",
  2:
    "INTACT, BUT NOT ENOUGH. The pack is consistent, but some of the required trust, completeness or outside " +
    "confirmation is missing.",
  3: "NOT READABLE. This file, or a part of it, is not in the format. Do not rely on it."
}

/** The result where the pack is sound, and an evaluation in it is not. */
export const unfaithfulText =
  "BAD. The pack is as its signer sealed it, but a sealed verdict, version or waiver does not follow from the " +
  "rules. Do not rely on it."

/** One sentence per verdict. */
export const verdictText: {
  readonly integrity: { readonly [value in Integrity]: string }
  readonly authenticity: { readonly [value in Authenticity]: string }
  readonly completeness: { readonly [value in Completeness]: string }
  readonly anchoring: { readonly [value in Anchoring]: string }
} = {
  integrity: {
    ok: "The records are in order, and exactly what the checkpoint commits to.",
    broken: "The records, or the hashes that link them, are not what the pack claims.",
    not_checked: "The pack could not be read to its end."
  },
  authenticity: {
    signed_by_pinned_key: "Signed by a key that you gave.",
    signed_by_unpinned_key: "Signed, but by a key that you did not give, so the signer is unknown.",
    unsigned: "No signature in the pack could be checked.",
    bad_signature: "A signature does not match what it signs.",
    not_checked: "The pack could not be read to its end."
  },
  completeness: {
    full: "Every record from the first to the checkpoint is here.",
    range: "Every record of the stated range is here; records before and after it are not.",
    sparse_claimed: "A selection. Each record is proven; that the selection is complete is only claimed.",
    truncated: "The end is missing: you trust a checkpoint that is larger than this pack's.",
    not_checked: "Not judged, because of the findings."
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
  E_FORMAT: "A line is not in the format of evidence packs.",
  E_VERSION: "It is in a version of the format that this verifier does not know.",
  E_LIMIT: "Something is larger than the format allows.",
  E_NONCANONICAL: "A record is not in canonical form, so its meaning is in doubt.",
  E_SEQ: "A record is missing, duplicated, or out of order.",
  E_PREV: "A record does not follow from the one before it.",
  E_TIME: "A record's time is not valid, or is before that of an earlier record.",
  E_PROOF: "The inclusion proof of a record is wrong.",
  E_ROOT: "The records are not those that the checkpoint commits to.",
  E_ORIGIN: "Something in the pack belongs to another chain.",
  E_CHECKPOINT_SIG: "The signature on a checkpoint is wrong.",
  E_PACK_SIG: "The signature on the pack as a whole is wrong.",
  E_PACK_DIGEST: "The pack was changed after it was closed.",
  E_ROLLBACK: "The chain was once longer than this.",
  E_SPLIT_VIEW: "Two histories exist under the name of this log, and they contradict each other.",
  E_CONSISTENCY: "The newer checkpoint does not continue the older one.",
  E_PART_MISMATCH: "Disclosed content is not what the record commits to.",
  E_PART_UNEXPLAINED: "Content is marked as erased, and no record in the pack erases it.",
  E_KEY_UNKNOWN: "None of the keys that you gave has signed this, or a witness that you gave has not.",
  E_KEY_REVOKED: "The key that signed had been revoked.",
  E_STALE: "No witness has confirmed it recently enough.",
  E_COUNT: "Numbers in the pack contradict each other."
}
