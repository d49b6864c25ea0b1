/** Pseudonyms of people. Records name `usr_…`. The identity is in one document and one part, and both can be erased. */
import { isId, PrincipalNotFound, type PrincipalOut } from "@flyball/contract"
import { Context, Effect, Layer } from "effect"
import { beside } from "../../storage/commit-claim.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { newId } from "../../foundation/ids.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { INGEST_KEYS } from "../ingest-keys/document.ts"
import { PLATFORM_KEYS } from "../platform-keys/document.ts"
import { planRegisterPrincipal, PRINCIPALS } from "./plan-register.ts"
import {
  identityDigest,
  type IngestKeyDocument,
  type PlatformKeyDocument,
  type PrincipalDocument
} from "@flyball/rules"

/** Operations on principals. Spec: format 1 section 8, `principal.seen`; decision 0016. */
export interface PrincipalsApi {
  /** The writer that stands for this person; a new pseudonym at first sight, or after the old one was erased. */
  readonly writerFor: (issuer: string, subject: string) => Effect.Effect<Writer, ReadFault>
  /** The person behind a pseudonym, or an ingest key of the scope: null members once that was erased. */
  readonly get: (id: string, scope?: Scope) => Effect.Effect<PrincipalOut, PrincipalNotFound | ReadFault>
}

/**
 * Service of principals: people known by issuer and subject. Spec: format 1 section 8, `principal.seen`; decision 0016.
 */
export class Principals extends Context.Service<Principals, PrincipalsApi>()("flyball/core/Principals") {
  static readonly layer: Layer.Layer<Principals, never, Storage> = Layer.effect(
    Principals,
    Effect.gen(function* () {
      const storage = yield* Storage

      const findOrCreate = Effect.fnUntraced(function* (issuer: string, subject: string) {
        const known = yield* storage.find(PRINCIPALS, "identity", identityDigest(issuer, subject))
        if (known[0] !== undefined) return { id: known[0].id }
        const id = yield* newId("usr")
        yield* storage.commit(planRegisterPrincipal(id, issuer, subject))
        return { id }
      })

      return Principals.of({
        writerFor: (issuer, subject) => beside(commitWithRetry(storage, findOrCreate(issuer, subject))),
        get: Effect.fnUntraced(function* (id, scope = everyUnit) {
          if (isId("ingestKey", id) || isId("platformKey", id)) return yield* keyPrincipal(storage, id, scope)
          const document = isId("user", id) ? yield* storage.get(PRINCIPALS, id) : null
          if (document === null) return yield* new PrincipalNotFound({ principalId: id })
          const { issuer, subject } = document.body as PrincipalDocument
          return {
            id,
            kind: "user",
            issuer,
            subject,
            name: null,
            org_unit: null,
            created_by: null,
            erased: subject === null
          }
        })
      })
    })
  )
}

/** A key as a principal, for readers of its unit. */
const keyPrincipal = Effect.fnUntraced(function* (storage: StorageApi, id: string, scope: Scope) {
  const document = yield* storage.get(isId("ingestKey", id) ? INGEST_KEYS : PLATFORM_KEYS, id)
  const key = document === null ? null : (document.body as IngestKeyDocument | PlatformKeyDocument)
  if (key === null || !covers(scope, key.orgUnit)) return yield* new PrincipalNotFound({ principalId: id })
  const erased = key.orgUnit === null
  return {
    id,
    kind: "key",
    issuer: null,
    subject: null,
    name: erased ? null : key.name,
    org_unit: key.orgUnit,
    created_by: key.createdBy,
    erased
  } satisfies PrincipalOut
})

/** Issuer in records of people whom the host authenticates itself. Spec: format 1 section 8, `principal.seen`. */
export const HOST_ISSUER = "flyball.local/host"
