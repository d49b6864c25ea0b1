/** A key that may vouch for agents, and which of them a signature means. Pure. */
import { equalBytes } from "@flyball/evidence"
import type { CardAlg, Claim, KeyChoice } from "./read-card.ts"

/** A public key that the operator trusts. Spec: decision 0015. */
export interface TrustedKey {
  /** The key's name in cards (`kid`). Matches `[A-Za-z0-9._:/@+-]{1,200}`: it stands in records. */
  readonly keyId: string
  /** Its RFC 7638 thumbprint, by which a card may call it too. */
  readonly thumbprint: string
  readonly alg: CardAlg
  /** EdDSA: 32 bytes. ES256: 65 bytes, 0x04 and both coordinates. */
  readonly publicKey: Uint8Array
  /** Unit of all times: milliseconds since 1970 UTC. It counts from here on; null for ever since. */
  readonly notBeforeMs: number | null
  /** End of validity, exclusive; null for no end. */
  readonly expiresAtMs: number | null
  /** A revoked key vouches for nothing, whatever time a signature states. */
  readonly revoked: boolean
  /** Names of the only agents that it vouches for; null for every agent. */
  readonly agents: ReadonlyArray<string> | null
}

/** Why a signature does not count. Spec: research "agent governance" 6.2. */
export type ClaimReason = "alg_not_allowed" | "key_unknown" | "key_revoked" | "key_expired" | "signature_invalid"

/** Result of screening a signature: the key to check it by, or the reason why it is not checked. */
export type Screened =
  | { readonly key: TrustedKey; readonly reason: null }
  | { readonly key: TrustedKey | null; readonly reason: ClaimReason }

/**
 * Finds the key of a signature, and whether it may vouch for an agent with this name now.
 *
 * A key that is bound to other agents is unknown here. One whose time has not come yet is `key_expired`: the moment is
 * outside its time. Spec: decision 0015.
 */
export const screen = (claim: Claim, keys: ReadonlyArray<TrustedKey>, agentName: string, nowMs: number): Screened => {
  if (claim.alg === null) return { key: null, reason: "alg_not_allowed" }
  const key = keys.find((candidate) => isNamed(candidate, claim.key)) ?? null
  if (key === null || (key.agents !== null && !key.agents.includes(agentName)))
    return { key: null, reason: "key_unknown" }
  if (key.alg !== claim.alg) return { key, reason: "alg_not_allowed" }
  if (key.revoked) return { key, reason: "key_revoked" }
  if ((key.notBeforeMs !== null && nowMs < key.notBeforeMs) || (key.expiresAtMs !== null && nowMs >= key.expiresAtMs))
    return { key, reason: "key_expired" }
  return { key, reason: null }
}

const isNamed = (key: TrustedKey, choice: KeyChoice): boolean =>
  "keyId" in choice
    ? choice.keyId === key.keyId || choice.keyId === key.thumbprint
    : equalBytes(choice.publicKey, key.publicKey)
