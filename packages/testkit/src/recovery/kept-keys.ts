/** Keys that outlive the governor which opened them, as files do, and that a test can read, set and break. */
import { Guard, type KeysChoice, keysChoice, type SignedState, sameState, Signer } from "@flyball/core"
import { StorageUnavailable } from "@flyball/core/storage"
import { portableCrypto } from "@flyball/evidence"
import { Context, Effect, Layer } from "effect"

/** Fault of one call: it did not happen, or it happened and its answer was lost. Spec: style section 8. */
export type KeyFault = { readonly at: "advance" | "sign" | "rename"; readonly kind: "write lost" | "answer lost" }

/** Signing key and guard in the memory of a test. */
export class KeptKeys {
  /** The name the key was made for; null for a signer that keeps none. */
  origin: string | null
  signed: SignedState | null = null
  /** The next fault; it strikes once. */
  fault: KeyFault | null = null
  readonly #seed: Uint8Array

  constructor(origin: string | null, seed = 1) {
    this.origin = origin
    this.#seed = new Uint8Array(32).fill(seed)
  }

  /** The choice of these keys, for as many governors as there are. */
  get choice(): KeysChoice {
    // What a governor opens is what there is at that moment.
    return keysChoice(
      "test",
      Layer.effectContext(
        Effect.sync(() =>
          Context.make(Signer, {
            publicKey: portableCrypto.ed25519PublicKey(this.#seed),
            origin: this.origin,
            sign: (message) => this.#under("sign", () => portableCrypto.ed25519Sign(this.#seed, message)),
            ...(this.origin === null
              ? {}
              : { rename: (origin: string) => this.#under("rename", () => void (this.origin = origin)) })
          }).pipe(
            Context.add(Guard, {
              read: Effect.sync(() => this.signed),
              advance: (from, to) =>
                this.#under("advance", () => {
                  if (sameState(this.signed, to)) return true
                  if (!sameState(this.signed, from)) return false
                  this.signed = to
                  return true
                })
            })
          )
        )
      )
    )
  }

  #under<A>(at: KeyFault["at"], call: () => A): Effect.Effect<A, StorageUnavailable> {
    return Effect.suspend(() => {
      const fault = this.fault
      if (fault?.at !== at) return Effect.sync(call)
      this.fault = null
      if (fault.kind === "answer lost") call()
      return Effect.fail(new StorageUnavailable({ reason: `a test's fault at ${at}: ${fault.kind}`, wrote: "unknown" }))
    })
  }
}
