/**
 * Answers 403 in place of 404 where the caller may read the thing by another of its grants, and only may not do this to
 * it.
 *
 * Services search the org units where the caller may act, and find nothing elsewhere. A person who is operator of one
 * unit and auditor of another would get `agent_not_found` for an agent that GET shows. What a caller may not read stays
 * 404.
 *
 * Spec: api.md "Who may call"; decision 0039.
 */
import type { Refusal } from "@flyball/contract"
import { type AnyEndpoint, refusalThere } from "@flyball/contract/http"
import { moduleReads, type Read, type Scope } from "@flyball/core"
import { Effect } from "effect"
import type { Fault, Services } from "./call.ts"
import { type AdmittedCaller, readScopeOf, scopeOf } from "./caller.ts"

type Answer<A> = Effect.Effect<A, Refusal | Fault, Services>

/** Returns the handler's answer, or a 403 where the caller may read the resource that the handler did not find. */
export const forbiddenWhereRead = <A>(endpoint: AnyEndpoint, caller: AdmittedCaller, handled: Answer<A>): Answer<A> => {
  // With one grant, a caller that may read a thing and is admitted may act on it.
  if (caller.kind !== "user" || caller.grants.length < 2) return handled
  return Effect.catch(handled, (refusal) =>
    Effect.flatMap(isReadOnlyElsewhere(refusal, scopeOf(caller), readScopeOf(caller)), (elsewhere) =>
      Effect.fail(elsewhere ? refusalThere(endpoint.access, caller.grants) : refusal)
    )
  )
}

/**
 * True when what a refusal does not find can be read, and is not where the caller may act. A thing that is there, and
 * past this act, stays 404.
 */
const isReadOnlyElsewhere = (
  refusal: Refusal | Fault,
  acts: Scope,
  reads: Scope
): Effect.Effect<boolean, Fault, Services> => {
  const readsIt = lookUp(refusal)
  if (readsIt === null) return Effect.succeed(false)
  return Effect.flatMap(readsIt(acts), (there) => (there ? Effect.succeed(false) : readsIt(reads)))
}

/** Looks up what a refusal says is missing, as far as a scope goes; null for every other refusal. */
const lookUp = (refusal: Refusal | Fault): ((scope: Scope) => Effect.Effect<boolean, Fault, Services>) | null => {
  const read = moduleReads.find(({ missing }) => missing === refusal._tag)
  if (read === undefined) return null
  const id = (refusal as object as { readonly [member: string]: unknown })[read.member]
  return id === undefined ? null : (scope) => isThere(read, String(id), scope)
}

const isThere = ({ get, missing }: Read, id: string, scope: Scope): Effect.Effect<boolean, Fault, Services> =>
  Effect.as(get(id, scope), true).pipe(
    Effect.catchIf(
      ({ _tag }) => _tag === missing,
      () => Effect.succeed(false)
    )
  ) as Effect.Effect<boolean, Fault, Services>
