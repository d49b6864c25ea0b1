/**
 * Stores the id of the key that the secrets of this store are sealed with, from the first start on, as the chain's
 * origin is in its first record.
 *
 * Without it a process with another key would start beside the others, claim deliveries and use up their attempts,
 * because it can sign none of them. Not governed: replay ignores it. Spec: design section 4; decision 0033.
 */
import { fromBase64, toBase64, utf8 } from "@flyball/evidence"
import { Effect, Option } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { type DocumentPut, type ReadFault, Storage } from "../../storage/port.ts"
import { SecretBox, SecretUnreadable } from "../../foundation/secret-box.ts"
import { unreadableSecret } from "./unreadable-secret.ts"

/** Collection of the one document. */
export const SECRETS_KEYS = "secrets_keys"
const CURRENT = "current"
/** Owner of the sealed text that identifies the key: no webhook has such an id. */
const BOUND_TO = "secrets_key"
const PROOF = utf8("flyball/secrets-key/v1")

/** The store's key. A process that can open `proof` has it, also where it seals with another key. */
type SecretsKeyDocument = {
  readonly key_id: string
  readonly proof: string
}

/**
 * When a key that cannot open the store's takes its place: where it is `lost`; where `nothing_sealed` yet, in a store
 * that no other process writes; `never` otherwise. Spec: decision 0033.
 */
export type SecretsKeyTakeover = "lost" | "nothing_sealed" | "never"

/** The reason why a process must not start with its secrets key. Spec: decision 0033. */
export interface WrongSecretsKey {
  /** The webhook whose secret does not open; null where it is the store's key that is another. */
  readonly webhookId: string | null
  readonly reason: string
}

/**
 * Claims the store for the key of this process, or answers why it must not start. A process whose box opens the store's
 * key may seal with another one from now on. That is a rotation, and a process that has only the older key is refused
 * at its next start. A store that names no key is taken over where every stored secret opens.
 *
 * - Cost: reads the secrets of all webhooks. Writes at the first start, and after a rotation.
 * - Spec: decision 0033.
 */
export const claimSecretsKey = (
  takeover: SecretsKeyTakeover
): Effect.Effect<WrongSecretsKey | null, ReadFault, Storage | SecretBox> =>
  Storage.use((storage) =>
    commitWithRetry(
      storage,
      Effect.gen(function* () {
        const found = yield* inspect(takeover)
        if ("reason" in found) return found
        if (found.put !== null) yield* storage.commit({ puts: [found.put] })
        return null
      })
    )
  )

/**
 * Finds out whether the store needs an existing secrets key: for a process that has none, before it creates one. Writes
 * nothing. Answers null if a new key may be created, else the `WrongSecretsKey` that refuses it. Spec: decision 0033.
 */
export const needsSecretsKey = (
  takeover: SecretsKeyTakeover
): Effect.Effect<WrongSecretsKey | null, ReadFault, Storage> =>
  Effect.map(Effect.provideService(inspect(takeover), SecretBox, noKey), (found) => ("reason" in found ? found : null))

/** Opens nothing, and what it would seal is not kept. */
const noKey = SecretBox.of({
  keyId: "",
  seal: () => Effect.succeed(new Uint8Array()),
  open: () => Effect.fail(new SecretUnreadable({ reason: "there is no such file" }))
})

const inspect = Effect.fnUntraced(function* (
  takeover: SecretsKeyTakeover
): Effect.fn.Return<WrongSecretsKey | { readonly put: DocumentPut | null }, ReadFault, Storage | SecretBox> {
  const box = yield* SecretBox
  const unreadable = takeover === "lost" ? null : yield* unreadableSecret
  if (unreadable !== null) return unreadable
  const document = yield* (yield* Storage).get(SECRETS_KEYS, CURRENT)
  const stored = document === null ? null : (document.body as SecretsKeyDocument)
  const claimed = Effect.map(box.seal(PROOF, BOUND_TO), (proof) => {
    const body: SecretsKeyDocument = { key_id: box.keyId, proof: toBase64(proof) }
    return { put: { collection: SECRETS_KEYS, id: CURRENT, expectedVersion: document?.version ?? 0, body } }
  })
  if (stored === null) return yield* claimed
  const problem = yield* Effect.option(Effect.flip(box.open(fromBase64(stored.proof) ?? new Uint8Array(), BOUND_TO)))
  if (Option.isNone(problem)) return stored.key_id === box.keyId ? { put: null } : yield* claimed
  const isTaken =
    takeover === "lost" ||
    (takeover === "nothing_sealed" && (yield* Effect.provideService(unreadableSecret, SecretBox, noKey)) === null)
  return isTaken ? yield* claimed : { webhookId: null, reason: problem.value.reason }
})
