/**
 * A module: one capability as a value. All that runs over every module iterates over the list in
 * `governor/modules.ts`.
 *
 * Spec: house section 3.
 */
import { ModuleNotInstalled, type Refusal, type RefusalTag } from "@flyball/contract"
import type { Group } from "@flyball/contract/http"
import { Effect, Layer } from "effect"
import type { Scope } from "../foundation/scope.ts"
import type { Answered, OperationFault, OperationsOf, Tagged, Versioned } from "./operation.ts"

/**
 * Looks up one thing of a module by its id. Decides whether a caller that may not act on it gets 403 or 404, and which
 * agent a request is about.
 */
export interface Read<T extends RefusalTag = RefusalTag, R = any> {
  /** The refusal that says that the thing is missing. */
  readonly missing: T
  /** The member of that refusal that holds the id. */
  readonly member: string
  /** The parameter that names the thing in paths, queries and bodies. */
  readonly param: string
  /** The thing; with its agent as `agent_id`, where it is of one. */
  readonly get: (
    id: string,
    scope: Scope
  ) => Effect.Effect<unknown, Extract<Refusal, { readonly _tag: T }> | OperationFault, R>
}

/** One capability: its rows and their operations, its services, its jobs, and how its things are looked up. */
export interface Module<
  N extends string,
  G extends Group,
  O,
  L extends Layer.Layer<never, any, any>,
  J extends Layer.Layer<never, any, any> = never
> {
  readonly name: N
  readonly rows: G
  readonly operations: O
  readonly layer: L
  readonly jobs: ReadonlyArray<J>
  readonly reads: ReadonlyArray<Read>
  /** True when it only holds the place of a module of its name that a host may install. */
  readonly isPlaceholder: boolean
}

/** Names of the members of an answer: of an item where it is a list, of the value where it has a version or tag. */
type MembersOf<A> = unknown extends A
  ? PropertyKey
  : A extends AsyncIterable<unknown> | Uint8Array
    ? never
    : A extends Tagged<infer T> | Versioned<infer T>
      ? MembersOf<T>
      : A extends ReadonlyArray<infer Item>
        ? MembersOf<Item>
        : A extends object
          ? keyof A
          : never

type MembersOfRow<E> = E extends { readonly success: infer S } ? MembersOf<Answered<S>> : never

/** An operation that no row declares is a compile error, and so is a member of an answer that no row declares. */
type NoExcess<G, O> = { readonly [K in Exclude<keyof O, keyof G>]: "no row of this name" } & {
  readonly [K in keyof G & keyof O]: O[K] extends (...args: never) => Effect.Effect<infer A, any, any>
    ? Exclude<MembersOf<A>, MembersOfRow<G[K]>> extends never
      ? unknown
      : { readonly "the row does not declare": Exclude<MembersOf<A>, MembersOfRow<G[K]>> }
    : unknown
}

/** Declares a module. Annotate the export with {@link Module}: an inferred declaration names what is not exported. */
export const defineModule = <
  const N extends string,
  G extends Group,
  O extends OperationsOf<G>,
  L extends Layer.Layer<never, any, any>,
  J extends Layer.Layer<never, any, any> = never
>(of: {
  readonly name: N
  readonly rows: G
  readonly operations: O & NoExcess<G, O>
  readonly layer: L
  readonly jobs?: ReadonlyArray<J>
  readonly reads?: ReadonlyArray<Read>
}): Module<N, G, O, L, J> => ({ ...of, jobs: of.jobs ?? [], reads: of.reads ?? [], isPlaceholder: false })

/**
 * Makes the module of rows that nobody has installed. Callers, limits, quotas and bodies are checked as they will be;
 * then each operation fails with `ModuleNotInstalled`. Spec: api.md "Document 2".
 */
export const notInstalled = <const N extends string, G extends Group>(
  name: N,
  rows: G
): Module<N, G, unknown, Layer.Layer<never>> => ({
  name,
  rows,
  operations: Object.fromEntries(
    Object.keys(rows).map((operation) => [operation, () => Effect.fail(new ModuleNotInstalled({ module: name }))])
  ),
  layer: Layer.empty,
  jobs: [],
  reads: [],
  isPlaceholder: true
})
