/** Holds a record against the catalogue of kinds: replay folds only what the catalogue describes. */
import { checkBody, kindRow } from "@flyball/evidence"
import type { Difference, JsonMap } from "../records/record.ts"

/** The disagreement of a record with the row of its kind; null if there is none. Spec: format 1 section 8. */
export const catalogueDifference = (record: {
  readonly seq: number
  readonly kind: string
  readonly body: JsonMap
  readonly parts: ReadonlyArray<{ readonly name: string }>
}): Difference | null => {
  const differs = (path: string, found: string): Difference => ({
    collection: "records",
    id: String(record.seq),
    path,
    expected: "the form in the catalogue of kinds",
    found
  })
  const row = kindRow(record.kind)
  // A record of an unknown kind may change documents in ways that this version cannot fold.
  if (row === null) return differs("/kind", `kind ${record.kind}, which this version does not know`)
  const problem = checkBody(record.kind, record.body)
  if (problem !== null) return differs("/body", problem)
  const known = new Set(row.parts.map((part) => part.name))
  return record.parts.some((part) => !known.has(part.name))
    ? differs("/parts", `a part that ${record.kind} does not have`)
    : null
}
