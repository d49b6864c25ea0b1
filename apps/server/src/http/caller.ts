/** Who is calling, once the token was checked. */
import type { Role } from "@flyball/contract"
import type { Caller } from "@flyball/contract/http"
import { Principals, type RegistrationLimits, type Scope, type StorageCorrupt, type StorageUnavailable, type Writer } from "@flyball/core"
import { Effect } from "effect"

/** A caller that carries an ingest key, a person's session, or nothing. */
export type KnownCaller =
  | { readonly kind: "key"; readonly writer: Writer; readonly orgUnit: string; readonly maxTier: RegistrationLimits["maxTier"] }
  | { readonly kind: "user"; readonly issuer: string; readonly subject: string; readonly role: Role; readonly orgUnits: "*" | ReadonlyArray<string>; readonly name: string | null; readonly email?: string | null; readonly readOnly?: boolean }
  | { readonly kind: "anonymous" }

/** How far the caller sees. Nobody sees nothing. */
export const scopeOf = (caller: KnownCaller): Scope => ({ orgUnits: caller.kind === "anonymous" ? [] : caller.kind === "key" ? [caller.orgUnit] : caller.orgUnits })

/** The caller as access rows know it; null for nobody. */
export const accessCaller = (caller: KnownCaller): Caller | null =>
  caller.kind === "anonymous" ? null : caller.kind === "key" ? { kind: "key", orgUnit: caller.orgUnit } : { kind: "user", role: caller.role, orgUnits: caller.orgUnits }

/** The address that the issuer says is this person's; null where it says none. */
export const emailOf = (caller: KnownCaller): string | null => caller.kind === "user" ? caller.email ?? null : null

/** What the caller may register: a key up to its tier, a person bound to a unit any tier of it; null for no bound. */
export const limitsOf = (caller: KnownCaller): RegistrationLimits | null => {
  if (caller.kind === "key") return { orgUnits: [caller.orgUnit], maxTier: caller.maxTier }
  return caller.kind === "user" && caller.orgUnits !== "*" ? { orgUnits: caller.orgUnits, maxTier: "L4" } : null
}

/**
 * The writer that records name for this caller. A person gets a pseudonym, at the first write: asking for it may record `principal.seen`,
 * so only handlers that write ask.
 */
export const writerOf = (caller: KnownCaller): Effect.Effect<Writer, StorageUnavailable | StorageCorrupt, Principals> => {
  switch (caller.kind) {
    case "key":
      return Effect.succeed(caller.writer)
    case "user":
      return Principals.use((principals) => principals.writerFor(caller.issuer, caller.subject))
    case "anonymous":
      return Effect.die(new Error("an endpoint without a caller asked for a writer"))
  }
}

/** Does something as {@link writerOf} this caller. A key is its own writer, and need not wait for the answer: those are the requests that come by the thousand. */
export const asWriter = <A, E, R>(caller: KnownCaller, act: (writer: Writer) => Effect.Effect<A, E, R>): Effect.Effect<A, E | StorageUnavailable | StorageCorrupt, R | Principals> =>
  caller.kind === "key" ? act(caller.writer) : Effect.flatMap(writerOf(caller), act)
