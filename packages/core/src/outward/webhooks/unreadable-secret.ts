/** Checks whether this process has the key that the secrets of the store's webhooks were sealed with. */
import { fromBase64 } from "@flyball/evidence"
import { Effect, Option, Stream } from "effect"
import { documentPages } from "../../storage/document-pages.ts"
import { type Document, type ReadFault, Storage } from "../../storage/port.ts"
import { SecretBox } from "../../foundation/secret-box.ts"
import { storedSecret, WEBHOOK_SECRETS } from "./secrets.ts"

/** A webhook that cannot be signed for, and why. */
export interface UnreadableSecret {
  readonly webhookId: string
  readonly reason: string
}

/**
 * The first webhook whose secret does not open here; null when all do. For a host that would rather not start with
 * another key than the one before.
 *
 * - Cost: reads the secrets of all webhooks.
 * - Spec: design section 4; decision 0019.
 */
export const unreadableSecret: Effect.Effect<UnreadableSecret | null, ReadFault, Storage | SecretBox> = Effect.gen(
  function* () {
    const storage = yield* Storage
    const box = yield* SecretBox
    const problemsOf = Effect.fnUntraced(function* (page: ReadonlyArray<Document>) {
      for (const document of page) {
        const { sealed } = storedSecret(document)
        // A webhook that was revoked has none.
        if (sealed === undefined) continue
        const problem = yield* Effect.option(Effect.flip(box.open(fromBase64(sealed) ?? new Uint8Array(), document.id)))
        if (Option.isSome(problem)) return [{ webhookId: document.id, reason: problem.value.reason }]
      }
      return []
    })
    const problems = documentPages(storage, WEBHOOK_SECRETS).pipe(Stream.mapEffect(problemsOf), Stream.flattenIterable)
    return Option.getOrNull(yield* Stream.runHead(problems))
  }
)
