/** Keys that live as long as the process: for tests, trials and stores in memory. */
import { equalBytes } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { Entropy } from "../../foundation/entropy.ts"
import { StorageUnavailable } from "../../storage/faults.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { Guard, type SignedState, sameState } from "./guard.ts"
import { type KeysChoice, keysChoice } from "./keys.ts"
import { Signer, type SigningKey } from "./signer.ts"

const signer = Effect.gen(function* () {
  const crypto = yield* EvidenceCrypto
  const entropy = yield* Entropy

  const make = () => {
    let seed: Uint8Array | null = entropy.bytes(32)
    const key: SigningKey = {
      publicKey: crypto.ed25519PublicKey(seed),
      sign: (message) =>
        Effect.suspend(() =>
          seed === null
            ? Effect.fail(
                new StorageUnavailable({ reason: "this signing key was rotated away and destroyed", wrote: "no" })
              )
            : Effect.succeed(crypto.ed25519Sign(seed, message))
        )
    }
    const destroy = (): void => {
      seed?.fill(0)
      seed = null
    }
    return { key, destroy }
  }

  const first = make()
  let current = first
  let next: typeof first | null = null
  return Signer.of({
    ...first.key,
    origin: null,
    rotation: {
      keys: Effect.sync(() => ({ current: current.key, next: next?.key ?? null })),
      prepare: Effect.sync(() => {
        next ??= make()
      }),
      promote: (publicKey) =>
        Effect.sync(() => {
          if (next === null || !equalBytes(next.key.publicKey, publicKey)) return
          current.destroy()
          current = next
          next = null
        })
    }
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

/**
 * A new signing key and an empty guard in memory. They end with the process, so a stored chain cannot be reopened with
 * them. Spec: format 1 section 4, "Signing guard".
 */
export const ephemeralKeys = (): KeysChoice =>
  keysChoice("memory", Layer.mergeAll(Layer.effect(Signer, signer), Layer.effect(Guard, guard)))
