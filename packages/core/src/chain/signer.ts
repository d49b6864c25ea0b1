/** The Signer port: the one thing that holds the log's private key. */
import type { Effect } from "effect"
import { Context } from "effect"
import type { StorageUnavailable } from "../storage/faults.ts"

/** What a signer can do. The private key never leaves it. */
export interface SignerApi {
  /** The log's Ed25519 public key, 32 bytes. */
  readonly publicKey: Uint8Array
  /** The origin this key was made for, where the signer keeps one; null when any origin will do. */
  readonly origin: string | null
  /** Signs these bytes with Ed25519. Only the checkpointer and the pack builder call it. */
  readonly sign: (message: Uint8Array) => Effect.Effect<Uint8Array, StorageUnavailable>
}

/** The log's signing key. Spec: chain-format section 4. */
export class Signer extends Context.Service<Signer, SignerApi>()("flyball/core/Signer") {}
