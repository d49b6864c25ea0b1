/** Checks the parts of a record against those that the catalogue gives its kind. */
import { recordKinds } from "./catalogue.ts"

/** A part by its name; `bytes` is null where only its commitment is known. */
export interface NamedPart {
  readonly name: string
  readonly bytes: number | null
}

/**
 * Describes the problem with the parts of a record of this kind in one sentence; null when they conform to the
 * catalogue.
 *
 * Which of its parts a record has to have is not in the catalogue: many are left out where there is nothing to say.
 * Spec: format 1 section 8; decision 0035.
 */
export const checkParts = (kind: string, parts: Iterable<NamedPart>): string | null => {
  const limits = rows.get(kind)
  if (limits === undefined) return `Kind ${kind} is not in the catalogue.`
  for (const { bytes, name } of parts) {
    const limit = limits.get(name)
    if (limit === undefined) return `A record of ${kind} has a part that the catalogue does not name.`
    if (bytes !== null && bytes > limit) return `The part ${name} of ${kind} has more than ${limit} bytes.`
  }
  return null
}

/** True for a name whose parts are never erased. Such names belong to one kind each. Spec: format 1 section 8. */
export const isKeptPart = (name: string): boolean => keptNames.has(name)

const rows: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  recordKinds.map(({ kind, parts }) => [kind, new Map(parts.map(({ maxBytes, name }) => [name, maxBytes]))])
)
const keptNames: ReadonlySet<string> = new Set(
  recordKinds.flatMap(({ parts }) => parts.filter(({ kept }) => kept === true).map(({ name }) => name))
)
