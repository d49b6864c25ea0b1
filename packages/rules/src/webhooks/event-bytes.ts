/**
 * The bytes of an event as they are sent. Spec: document 2 section 2, "Webhook event envelope"; api "Events to
 * webhooks" adds `chain` to the events of the governance.
 */
import { canonicalBytes, formatInstant, toHex } from "@flyball/evidence"

/**
 * An event, with the head of the chain after the commit that caused it. Spec: document 2 section 2, "Webhook event
 * envelope"; decision 0019.
 */
export interface SentEvent {
  readonly id: string
  readonly type: string
  /** An event with an owner is one of document 2: its envelope says nothing of the chain. */
  readonly owner?: string | undefined
  /** Milliseconds since 1970 UTC. */
  readonly atMs: number
  readonly seq: number
  readonly hash: Uint8Array
  readonly data: { readonly [name: string]: unknown }
}

/** The type whose data is a checkpoint. */
const CHECKPOINT = "chain.checkpoint"

/**
 * The RFC 8785 bytes of an event's envelope. They follow from what the commit stored and from nothing else, so every
 * attempt, every endpoint and every process sends the same ones.
 *
 * That is why `chain.checkpoint` is null except in events of that type: which checkpoint is the latest changes between
 * two attempts. Decision 0019. Spec: document 2 section 2, "Webhook event envelope".
 */
export const renderEvent = ({ atMs, data, hash, id, owner, seq, type }: SentEvent): Uint8Array => {
  const envelope = { id, type, created_at: formatInstant(atMs), data }
  return canonicalBytes(
    owner === undefined
      ? {
          ...envelope,
          chain: {
            seq,
            record_hash: `sha256:${toHex(hash)}`,
            checkpoint: type === CHECKPOINT ? { tree_size: data["tree_size"], root_hash: data["root_hash"] } : null
          }
        }
      : envelope
  )
}
