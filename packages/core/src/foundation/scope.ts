/**
 * The org units in which a caller may act: some, or all.
 *
 * Spec: document 1 part 5, "scope is enforced at agent creation, capture and evaluation". What lies outside is answered
 * as if it did not exist.
 */

/** The org units a caller may touch; `*` is every one. Spec: document 1 section 5, item 3; decision 0016. */
export interface Scope {
  readonly orgUnits: "*" | ReadonlyArray<string>
}

/** No limit: the host itself, and people whose role covers every org unit. Spec: decision 0016. */
export const everyUnit: Scope = { orgUnits: "*" }

/** The scope of one org unit; of every one for `*`. Spec: decision 0016. */
export const unitScope = (orgUnit: string): Scope => (orgUnit === "*" ? everyUnit : { orgUnits: [orgUnit] })

/**
 * Reports whether `scope` covers a thing of this org unit. A thing whose org unit was erased belongs to nobody's unit
 * but `*`. Spec: document 1 section 5, item 3; decisions 0006 and 0016.
 */
export const covers = (scope: Scope, orgUnit: string | null): boolean =>
  scope.orgUnits === "*" || (orgUnit !== null && scope.orgUnits.includes(orgUnit))

/** Reports whether `scope` covers everything that `inner` covers. */
export const coversAll = (scope: Scope, inner: Scope): boolean =>
  scope.orgUnits === "*" || (inner.orgUnits !== "*" && inner.orgUnits.every((orgUnit) => covers(scope, orgUnit)))
