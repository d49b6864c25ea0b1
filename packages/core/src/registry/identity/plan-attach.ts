/** Plans that an identity is attached: verified, declared or rejected. Pure. */
import { canonicalBytes, formatInstant } from "@flyball/evidence"
import { changeAgent } from "../agents/change-agent.ts"
import { AGENTS, type StoredAgent } from "../agents/document.ts"
import type { AgentDocument, CardAlg, CardVerdict, ReasonCode } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { ChangeSet, PartDraft } from "../../storage/port.ts"
import { event } from "../../storage/event.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { identitySources } from "@flyball/contract"
import { sourceWord } from "@flyball/rules"

/** A word of the contract for a source. `one-source.test.ts` holds it equal to the words of the catalogue. */
type IdentitySource = (typeof identitySources)[number]

/** Result of verifying a card, or of taking a declaration. */
export interface Attested {
  readonly verdict: "verified" | "declared" | "rejected"
  readonly reason: ReasonCode
  readonly source: IdentitySource
  readonly alg: CardAlg | null
  readonly keyId: string | null
  /** SHA-256 of the card's bytes, in hex. */
  readonly cardDigest: string | null
  /** The identity from here on; null when it stays as it was. */
  readonly identity: { readonly source: string; readonly ref: string } | null
  /** Key id that a rejected card names and the trust store does not hold. */
  readonly claimedKeyId: string | null
}

/** The agent after it, and the change. */
export interface AttachPlan {
  readonly agent: AgentDocument
  readonly change: ChangeSet
}

/** Characters of a claimed key id that are kept. Unit: code points. */
const CLAIM_LIMIT = 200

/** The attestation of a card with this verdict. `source`: how the card was signed. */
export const attestedCard = (
  { alg, claimedKeyId, keyId, reason, verdict }: CardVerdict,
  source: IdentitySource,
  cardDigest: string
): Attested => ({
  verdict,
  reason,
  source,
  alg,
  keyId,
  cardDigest,
  identity: verdict === "verified" ? { source, ref: `${keyId}#sha256:${cardDigest}` } : null,
  claimedKeyId: claimedKeyId === null ? null : [...claimedKeyId].slice(0, CLAIM_LIMIT).join("")
})

/** The attestation of a declared identity: that it was claimed, not that it is true. */
export const attestedDeclaration = (source: string, ref: string): Attested => ({
  verdict: "declared",
  reason: "ok",
  source: sourceWord(source) as IdentitySource,
  alg: null,
  keyId: null,
  cardDigest: null,
  identity: { source, ref },
  claimedKeyId: null
})

/**
 * Decides what an attestation changes: a record always, and the agent's identity unless it was rejected.
 *
 * - Unit: `nowMs` in milliseconds since 1970 UTC: when the keys were read.
 * - Spec: document 1 section 2, `IdentityIn`: the verdict is attested. Decision 0015.
 */
export const planAttach = (stored: StoredAgent, attested: Attested, writer: Writer, nowMs: number): AttachPlan => {
  const { identity } = attested
  const agent =
    identity === null
      ? stored.body
      : {
          ...stored.body,
          identityVerified: attested.verdict === "verified",
          identitySource: identity.source,
          identityRef: identity.ref
        }
  const { change } = changeAgent(
    stored,
    agent,
    {
      kind: "agent.identity_attested",
      body: {
        alg: attested.alg ?? undefined,
        card_digest: attested.cardDigest ?? undefined,
        checked_at: formatInstant(nowMs),
        key_id: attested.keyId ?? undefined,
        reason_code: attested.reason,
        source: attested.source,
        verdict: attested.verdict
      },
      parts: [...identityPart(attested), ...claimPart(attested)],
      writer
    },
    [
      event("agent.identity_attested", {
        agent_id: stored.id,
        verdict: attested.verdict,
        reason_code: attested.reason,
        source: attested.source,
        alg: attested.alg,
        key_id: attested.keyId,
        card_digest: attested.cardDigest === null ? null : `sha256:${attested.cardDigest}`,
        checked_at: formatInstant(nowMs),
        writer: writer.id
      })
    ]
  )
  // Nothing of the agent changed, so its version stays; but the name that was compared must still be its name.
  return identity === null
    ? {
        agent,
        change: {
          expects: [{ collection: AGENTS, id: stored.id, version: stored.version }],
          records: change.records!,
          events: change.events!
        }
      }
    : { agent, change }
}

/** The part `identity`. Its source is there only where the body has no word for it. */
const identityPart = ({ identity, source }: Attested): ReadonlyArray<PartDraft> =>
  identity === null
    ? []
    : [
        {
          name: "identity",
          bytes: canonicalBytes(
            omitNullish({
              identity_ref: identity.ref,
              identity_source: identity.source === source ? null : identity.source
            })
          )
        }
      ]

/** The part `claim`. */
const claimPart = ({ claimedKeyId }: Attested): ReadonlyArray<PartDraft> =>
  claimedKeyId === null ? [] : [{ name: "claim", bytes: canonicalBytes({ key_id: claimedKeyId }) }]
