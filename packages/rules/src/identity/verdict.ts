/** The verdict on a card or a declaration. Pure. */
import type { CardAlg, Claim, ReadCard } from "./read-card.ts"
import type { ClaimReason, TrustedKey } from "./trusted-key.ts"

/** Reasons of a verdict. Spec: research "agent governance" 6.2. */
export type ReasonCode = "ok" | ClaimReason | "card_malformed" | "name_mismatch"

/** A checked signature: its key, and the reason why it does not count; null if it does. */
export interface CheckedClaim {
  readonly claim: Claim
  readonly key: TrustedKey | null
  readonly reason: ClaimReason | null
}

/** The verdict on a card. Spec: document 1 section 2, "Identity input"; decision 0015. */
export interface CardVerdict {
  readonly verdict: "verified" | "rejected"
  readonly reason: ReasonCode
  readonly alg: CardAlg | null
  /** Of the trust store; null when the card names none of it. */
  readonly keyId: string | null
  /** Key id in the card that the trust store does not hold; null when the card names a key by its bytes. */
  readonly claimedKeyId: string | null
}

/** The step that a signature reached in the check: the reported reason is that of the one that came furthest. */
const reached: ReadonlyArray<ClaimReason> = [
  "alg_not_allowed",
  "key_unknown",
  "key_expired",
  "key_revoked",
  "signature_invalid"
]

/**
 * Decides on a card. One signature of a trusted key is enough, whatever stands beside it: the others are not part of
 * what it signs. What the card says counts only after that, so that only a signed card can be refused for a wrong name.
 *
 * - Shape: `checked` has one entry for each claim of `card`, in order. Both names in NFC.
 * - Spec: document 1 section 2, "Identity input"; decision 0015.
 */
export const cardVerdict = (
  card: ReadCard | null,
  checked: ReadonlyArray<CheckedClaim>,
  agentName: string
): CardVerdict => {
  if (card === null)
    return { verdict: "rejected", reason: "card_malformed", alg: null, keyId: null, claimedKeyId: null }
  const good = checked.find(({ reason }) => reason === null)
  if (good !== undefined)
    return {
      ...about(good),
      ...(isNamed(card.name, agentName) ? verified : { verdict: "rejected", reason: "name_mismatch" })
    }
  const furthest = checked.toSorted((a, b) => reached.indexOf(b.reason!) - reached.indexOf(a.reason!))[0]!
  return { ...about(furthest), verdict: "rejected", reason: furthest.reason! }
}

/**
 * At most four code points of two units join into one: a longer name is another, and is not normalised. Decision 0036.
 */
const isNamed = (name: string, agentName: string): boolean =>
  name.length <= 8 * agentName.length && name.normalize("NFC") === agentName

const verified = { verdict: "verified", reason: "ok" } as const

const about = ({ claim, key }: CheckedClaim) => ({
  alg: claim.alg,
  keyId: key?.keyId ?? null,
  claimedKeyId: key === null && "keyId" in claim.key ? claim.key.keyId : null
})
