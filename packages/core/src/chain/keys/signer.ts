/** The Signer port: the one thing that holds the log's private key, and the key that is to follow it. */
import { Context, Effect } from "effect"
import type { StorageUnavailable } from "../../storage/faults.ts"
import type { ReadFault } from "../../storage/port.ts"

/** A key that signs. The private key never leaves it. Spec: format 1 section 4. */
export interface SigningKey {
  /** The Ed25519 public key, 32 bytes. */
  readonly publicKey: Uint8Array
  /** Signs these bytes with Ed25519. Only the checkpointer and the pack builder call it. */
  readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array, StorageUnavailable>
}

/** The keys that a signer holds. Spec: decision 0011. */
export interface HeldKeys {
  readonly current: SigningKey
  /** The key that is to follow; null until one was made. */
  readonly next: SigningKey | null
}

/**
 * How a signer changes its key. Each step is durable when it ends, and harmless when it comes again. Spec: chain-format
 * section 4, "Rotation".
 */
export interface SignerRotation {
  /** The keys held now, read again: another process that shares them may have changed them. */
  readonly keys: Effect.Effect<HeldKeys, ReadFault>
  /** Makes the key that is to follow, unless there is one. Several processes end with one. */
  readonly prepare: Effect.Effect<void, ReadFault>
  /**
   * Puts the next key in the place of the current one, whose private key is destroyed. Does nothing when this key is
   * the current one already.
   */
  readonly promote: (publicKey: Uint8Array) => Effect.Effect<void, ReadFault>
}

/**
 * Operations of a signer. By itself it is the key that was current when it was opened; a rotation does not change that.
 * Spec: format 1 section 4; decision 0011.
 */
export interface SignerApi extends SigningKey {
  /** The origin this key was made for, where the signer keeps one; null when any origin will do. */
  readonly origin: string | null
  /** Left out by a signer whose key cannot be rotated. */
  readonly rotation?: SignerRotation
  /**
   * Keeps the same keys under another origin from its next opening on. Only a recovery calls it, and it may come again.
   * Left out by a signer that keeps no origin.
   */
  readonly rename?: (origin: string) => Effect.Effect<void, ReadFault>
}

/** The log's signing key. Spec: chain-format section 4. */
export class Signer extends Context.Service<Signer, SignerApi>()("flyball/core/Signer") {}

/** The keys that this signer holds now. */
export const heldKeys = (signer: SignerApi): Effect.Effect<HeldKeys, ReadFault> =>
  signer.rotation?.keys ?? Effect.succeed({ current: signer, next: null })
