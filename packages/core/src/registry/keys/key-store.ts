/** Lists, revokes and opens the keys of a family once they are minted. */
import { Unauthorized } from "@flyball/contract"
import { Clock, Effect } from "effect"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { everyDocument } from "../../storage/document-pages.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { StorageConflict } from "../../storage/faults.ts"
import type { Writer } from "../../foundation/writer.ts"
import { lastUses } from "./last-used.ts"
import { type KeyDocument, type KeyFamily, planRevoke, revokeScope } from "./plan-revoke.ts"

/** Facts about a key that its own document does not hold. */
export interface ReportedElsewhere {
  readonly lastUsedAtMs: number | null
  /** Time of the record that revoked it. */
  readonly revokedAtMs: number | null
}

/** A key with its id. */
interface Named<D> {
  readonly id: string
  readonly key: D
}

/** The keys of one family. `missing` answers an id that no key has. */
export const keyStore = <D extends KeyDocument, Out, E>(
  storage: StorageApi,
  family: KeyFamily,
  shape: {
    readonly isKeyId: (id: string) => boolean
    readonly out: (id: string, key: D, reported: ReportedElsewhere) => Out
    readonly missing: (id: string) => E
  }
) => {
  const uses = lastUses(storage, family.uses)

  /** The times of these keys that their documents do not hold. */
  const shown = Effect.fnUntraced(function* (keys: ReadonlyArray<Named<D>>) {
    const revocations = yield* storage.once(
      revokeScope(family),
      keys.filter(({ key }) => key.revoked).map(({ id }) => id)
    )
    const seqs = new Map(revocations.map(({ key, seq }) => [key, seq]))
    return yield* Effect.forEach(
      keys,
      Effect.fnUntraced(function* ({ id, key }) {
        // A key that is revoked without a record here was revoked in a chain before this one: at the latest when this
        // one began.
        const record = key.revoked ? yield* storage.record(seqs.get(id) ?? 0) : null
        return shape.out(id, key, { lastUsedAtMs: yield* uses.read(id), revokedAtMs: record?.atMs ?? null })
      })
    )
  })

  return {
    /** Oldest first, revoked ones too. */
    list: everyDocument(storage, family.collection, (page) =>
      shown(page.map(({ body, id }) => ({ id, key: body as D })))
    ),
    /** Revoking a key that is revoked answers it as it is. */
    revoke: Effect.fnUntraced(function* (id: string, writer: Writer) {
      const key = yield* commitWithRetry(
        storage,
        Effect.gen(function* (): Effect.fn.Return<D, E | ReadFault | StorageConflict> {
          const document = shape.isKeyId(id) ? yield* storage.get(family.collection, id) : null
          if (document === null) return yield* Effect.fail(shape.missing(id))
          const read = document.body as D
          const change = planRevoke(family, { keyId: id, key: read, version: document.version, writer })
          if (change !== null) yield* storage.commit(change)
          return { ...read, revoked: true }
        })
      )
      return (yield* shown([{ id, key }]))[0]!
    }),
    /**
     * The key of a digest, noted as used; null for a token that can be none. One answer for every key that opens
     * nothing: unknown, revoked, expired, erased.
     *
     * Every request with a key comes by here: few Effects, and no read that is not needed.
     */
    open: (digest: string | null): Effect.Effect<Named<D & { readonly orgUnit: string }>, Unauthorized | ReadFault> => {
      if (digest === null) return Effect.fail(new Unauthorized({ problem: "key" }))
      return Effect.flatMap(storage.find(family.collection, "digest", digest), ([document]) => {
        if (document === undefined) return Effect.fail(new Unauthorized({ problem: "key" }))
        const key = document.body as D
        if (key.revoked || key.orgUnit === null) return Effect.fail(new Unauthorized({ problem: "key" }))
        const opened = { id: document.id, key: key as D & { readonly orgUnit: string } }
        const admitted = Effect.withFiber((fiber) => {
          const noted = uses.note(document.id, fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
          return noted === null ? Effect.succeed(opened) : Effect.as(noted, opened)
        })
        const { expiresAtMs } = key
        return expiresAtMs === null
          ? admitted
          : Effect.flatMap(storage.asOf, ({ ms }) =>
              expiresAtMs <= ms ? Effect.fail(new Unauthorized({ problem: "expired" })) : admitted
            )
      })
    }
  }
}
