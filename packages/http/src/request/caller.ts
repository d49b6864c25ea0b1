/** The caller of a request, once the token was checked, and the org units in which it may act. */
import { type Forbidden, type KeyNotAllowed, Unauthorized } from "@flyball/contract"
import {
  access,
  type AccessRow,
  type Caller,
  type Grant,
  type OrgUnits,
  refusalFor,
  unitsFor
} from "@flyball/contract/http"
import {
  type PlatformKeyHolder,
  Principals,
  type RegistrationLimits,
  type Scope,
  type StorageCorrupt,
  type StorageUnavailable,
  type Writer
} from "@flyball/core"
import { Effect, Result } from "effect"

/** A caller with an ingest key. */
interface KeyCaller {
  readonly kind: "key"
  readonly writer: Writer
  readonly orgUnit: string
  readonly maxTier: RegistrationLimits["maxTier"]
}

/** A caller with a platform key. */
export interface PlatformCaller extends PlatformKeyHolder {
  readonly kind: "platform"
}

/** A person. Each grant is judged by itself: there is no one role, and no one set of org units. Spec: decision 0039. */
export interface PersonCaller {
  readonly kind: "user"
  readonly issuer: string
  readonly subject: string
  readonly grants: ReadonlyArray<Grant>
  readonly name: string | null
  readonly email?: string | null
  readonly readOnly?: boolean
  /** Claims of the token that lack values, for a 403: `groups: overage`. */
  readonly incomplete?: ReadonlyArray<string>
}

/** A caller that carries an ingest key, a platform key, a person's session, or nothing. */
export type KnownCaller = KeyCaller | PlatformCaller | PersonCaller | { readonly kind: "anonymous" }

/**
 * A caller that may use an endpoint. `orgUnits` of a person: where it may, by the grants whose role allows this
 * endpoint.
 */
export type AdmittedCaller =
  | KeyCaller
  | PlatformCaller
  | (PersonCaller & { readonly orgUnits: OrgUnits })
  | { readonly kind: "anonymous" }

/** Admits a caller to the endpoints of a row, or says why not. */
export const admit = (
  row: AccessRow,
  caller: KnownCaller
): Result.Result<AdmittedCaller, Unauthorized | Forbidden | KeyNotAllowed> => {
  if (caller.kind === "anonymous") return Result.fail(new Unauthorized({}))
  const refusal = refusalFor(row, caller)
  if (refusal !== null) return Result.fail(refusal)
  return Result.succeed(caller.kind === "user" ? { ...caller, orgUnits: unitsFor(row, caller) } : caller)
}

/** Org units in which the caller may use this endpoint; none without a caller. */
export const scopeOf = (caller: AdmittedCaller): Scope => {
  switch (caller.kind) {
    case "anonymous":
      return { orgUnits: [] }
    case "key":
    case "platform":
      return { orgUnits: [caller.orgUnit] }
    case "user":
      return { orgUnits: caller.orgUnits }
  }
}

/** Org units that the caller may read, by any of its grants: at least those in which it may act. */
export const readScopeOf = (caller: KnownCaller): Scope => ({
  orgUnits: caller.kind === "anonymous" ? [] : unitsFor(access.readOwn, caller)
})

/** The caller as access rows know it; null for nobody. */
export const accessCaller = (caller: KnownCaller): Caller | null => (caller.kind === "anonymous" ? null : caller)

/**
 * Names the caller that takes turns in the queue of the examiner: a key, or a person whatever the token. Kept in memory
 * alone.
 */
export const askerOf = (caller: KnownCaller): string => {
  switch (caller.kind) {
    case "anonymous":
      return ""
    case "key":
    case "platform":
      return caller.writer.id
    case "user":
      return JSON.stringify([caller.issuer, caller.subject])
  }
}

/** The address that the issuer says is this person's; null where it says none. */
export const emailOf = (caller: KnownCaller): string | null => (caller.kind === "user" ? (caller.email ?? null) : null)

/**
 * The writer that records name for this caller. A person gets a pseudonym, at the first write: asking for it may record
 * `principal.seen`,
 * so only handlers that write ask.
 */
export const writerOf = (
  caller: KnownCaller
): Effect.Effect<Writer, StorageUnavailable | StorageCorrupt, Principals> => {
  switch (caller.kind) {
    case "key":
    case "platform":
      return Effect.succeed(caller.writer)
    case "user":
      return Principals.use((principals) => principals.writerFor(caller.issuer, caller.subject))
    case "anonymous":
      return Effect.die(new Error("an endpoint without a caller requested a writer"))
  }
}
