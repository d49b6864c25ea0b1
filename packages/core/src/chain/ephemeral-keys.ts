/** Keys that live as long as the process: for tests, trials and stores in memory. */
import { Effect, Layer } from "effect"
import { Entropy } from "../entropy.ts"
import { EvidenceCrypto } from "./crypto.ts"
import { Guard, type SignedState, sameState } from "./guard.ts"
import { type KeysChoice, keysChoice } from "./keys.ts"
import { Signer } from "./signer.ts"

const signer = Effect.gen(function*() {
  const crypto = yield* EvidenceCrypto
  const seed = (yield* Entropy).bytes(32)
  return Signer.of({
    publicKey: crypto.ed25519PublicKey(seed),
    origin: null,
    sign: (message) => Effect.sync(() => crypto.ed25519Sign(seed, message))
  })
})

const guard = Effect.sync(() => {
  let held: SignedState | null = null
  return Guard.of({
    read: Effect.sync(() => held),
    advance: (from, to) =>
      Effect.sync(() => {
        if (sameState(held, to)) return true
        if (!sameState(held, from)) return false
        held = to
        return true
      })
  })
})

/** A new signing key and an empty guard, both gone with the process. A chain in a file cannot be reopened with them. */
export const ephemeralKeys = (): KeysChoice =>
  keysChoice("memory", Layer.mergeAll(Layer.effect(Signer, signer), Layer.effect(Guard, guard)))
