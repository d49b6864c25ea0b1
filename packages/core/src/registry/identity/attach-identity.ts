/**
 * Attaches an identity to an agent: read, check the card and the keys, plan, commit. Spec: document 1 section 4, POST
 * /agents/{agent_id}/identity.
 */
import type { AgentNotFound, IdentityIn, IdentityVerdict, InvalidInput, InvalidTransition } from "@flyball/contract"
import { IdentityAlreadyVerified, KeyNotAllowed } from "@flyball/contract"
import { type Crypto, formatInstant, toHex } from "@flyball/evidence"
import { Clock, Effect, Result } from "effect"
import { allowed } from "../agents/change-agent.ts"
import { AGENTS, type StoredAgent } from "../agents/document.ts"
import { readAgent } from "../agents/read-agent.ts"
import type { AgentDocument, SentCard, TrustedKey } from "@flyball/rules"
import { type TierEvidenceApi, tierFactsOf } from "../agents/tier-evidence.ts"
import { tierLowered } from "../agents/tier-lowered.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import type { ChangeSet, ReadFault, StorageApi } from "../../storage/port.ts"
import { isIngestKey, type Writer } from "../../foundation/writer.ts"
import { type Attached, readIdentity } from "./identity-input.ts"
import { judgeCard } from "./judge-card.ts"
import { attestedCard, attestedDeclaration, planAttach } from "./plan-attach.ts"
import type { TrustStoreUnavailable } from "../../foundation/trust-store-unavailable.ts"
import type { TrustStoreApi } from "./trust-store.ts"

/** Dependencies of attaching an identity. */
export interface AttachOptions {
  readonly storage: StorageApi
  readonly crypto: Crypto
  readonly trust: TrustStoreApi
  readonly evidence: TierEvidenceApi
}

/** Why no identity can be attached. */
type AttachRefusal = AgentNotFound | InvalidTransition | InvalidInput | KeyNotAllowed | IdentityAlreadyVerified

/**
 * Attaches an identity. A card that is rejected is an answer, and a record, too.
 *
 * - Fails: `KeyNotAllowed` for an ingest key whose agent is past `draft`, or that withdraws a verified identity;
 *  `InvalidTransition` for a decommissioned agent; `IdentityAlreadyVerified` for a declaration over a verified identity
 *   that it does not withdraw.
 */
export type AttachIdentity = (
  id: string,
  input: IdentityIn,
  writer: Writer,
  scope?: Scope
) => Effect.Effect<IdentityVerdict, AttachRefusal | TrustStoreUnavailable | ReadFault>

/** Attaching identities over a store and a trust store. */
export const attachIdentity = ({ crypto, evidence, storage, trust }: AttachOptions): AttachIdentity => {
  const judged = Effect.fnUntraced(function* (
    sent: SentCard,
    keys: ReadonlyArray<TrustedKey>,
    agentName: string,
    nowMs: number
  ) {
    const verdict = yield* judgeCard(sent, { crypto, keys, agentName, nowMs })
    return attestedCard(
      verdict,
      sent.detached === null ? "a2a_signed_card" : "signed_card",
      crypto.sha256Hex(sent.card)
    )
  })

  /** The change with the event of an agent that loses a verified identity by it, and so acts at a lower tier. */
  const withLowered = Effect.fnUntraced(function* (
    stored: StoredAgent,
    agent: AgentDocument,
    change: ChangeSet,
    writer: Writer
  ) {
    if (stored.body.identityVerified !== true || agent.identityVerified === true) return change
    const facts = yield* tierFactsOf(evidence, stored)
    return {
      ...change,
      events: [
        ...(change.events ?? []),
        ...tierLowered(stored, { agent: stored.body, facts }, { agent, facts }, writer)
      ]
    }
  })

  return Effect.fnUntraced(function* (id, input, writer, scope = everyUnit) {
    const attached = yield* Effect.fromResult(readIdentity(input))
    // Before the per-agent queue: a trust store that does not answer must not block other calls for the agent, such as
    // a suspension. Faults of the agent are reported before the fault of the trust store.
    const keys = attached.kind === "card" ? yield* Effect.result(trust.keys) : Result.succeed([])
    return yield* commitWithRetry(
      storage,
      Effect.gen(function* () {
        const stored = yield* readAgent(storage, id, scope)
        yield* Effect.fromResult(mayAttach(stored, attached, writer))
        const nowMs = yield* Clock.currentTimeMillis
        const attested =
          attached.kind === "card"
            ? yield* judged(attached.sent, yield* Effect.fromResult(keys), stored.body.name, nowMs)
            : attestedDeclaration(attached.source, attached.ref)
        const { agent, change } = planAttach(stored, attested, writer, nowMs)
        const lowered = yield* withLowered(stored, agent, change, writer)
        const receipt = yield* storage.commit({ ...lowered, turn: { class: "act", key: writer.id } })
        const { hash, seq } = receipt.records[0]!
        return {
          agent_id: id,
          identity_verified: attested.verdict === "verified",
          identity_source: attested.identity?.source ?? null,
          identity_ref: attested.identity?.ref ?? null,
          verdict: attested.verdict,
          reason_code: attested.reason,
          standing: {
            identity_verified: agent.identityVerified ?? false,
            identity_source: agent.identitySource ?? null,
            identity_ref: agent.identityRef ?? null
          },
          card_digest: attested.cardDigest === null ? null : `sha256:${attested.cardDigest}`,
          key_id: attested.keyId ?? attested.claimedKeyId,
          alg: attested.alg,
          checked_at: formatInstant(nowMs),
          seq,
          record_hash: `sha256:${toHex(hash)}`
        }
      }),
      { collection: AGENTS, id }
    )
  })
}

/**
 * Checks that this writer may attach this to the agent as it is now: part of each attempt, for the agent may be
 * activated meanwhile.
 */
const mayAttach = (
  stored: StoredAgent,
  attached: Attached,
  writer: Writer
): Result.Result<unknown, KeyNotAllowed | InvalidTransition | IdentityAlreadyVerified> => {
  const withdraws = attached.kind === "declared" && attached.withdrawsVerified
  if (isIngestKey(writer) && (stored.body.status !== "draft" || withdraws)) return Result.fail(new KeyNotAllowed())
  const status = allowed(stored, "attach-identity")
  if (Result.isFailure(status)) return status
  return attached.kind === "declared" && stored.body.identityVerified === true && !withdraws
    ? Result.fail(new IdentityAlreadyVerified())
    : status
}
