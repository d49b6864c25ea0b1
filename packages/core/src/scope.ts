/**
 * How far a caller sees: one org unit, or all of them.
 *
 * Spec: document 1 part 5, "scope is enforced at agent creation, capture and evaluation". What lies outside looks as if it were not there.
 */

/** The org unit a caller may touch; `*` is every one. */
export interface Scope {
  readonly orgUnit: string | "*"
}

/** No limit: the host itself, and people whose role covers every org unit. */
export const everyUnit: Scope = { orgUnit: "*" }

/** Whether `scope` covers a thing of this org unit. A thing whose org unit was erased belongs to nobody's unit but `*`. */
export const covers = (scope: Scope, orgUnit: string | null): boolean => scope.orgUnit === "*" || (orgUnit !== null && scope.orgUnit === orgUnit)
