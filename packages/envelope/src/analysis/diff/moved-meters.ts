/** Which envelope a meter belongs to, before a change and after it. Spec: `SPEC.md` section 9; decision 0025. */
import type { Envelope } from "../../language/envelope.ts"

/** Layers by their places, outermost first; null where a place has no envelope. */
type Places = ReadonlyArray<Envelope | null>

/**
 * Meters that would belong to another envelope than before, where they have windows of their own: what was spent would
 * no longer count. In the order of names.
 *
 * `before` and `after` have the same places: whatever stands in one is the same envelope, in the same version or
 * another.
 */
export const movedMeters = (before: Places, after: Places): ReadonlyArray<string> => {
  const owners = ownersOf(after)
  return [...ownersOf(before)]
    .filter(([id, place]) => owners.has(id) && owners.get(id) !== place)
    .map(([id]) => id)
    .sort()
}

/** The outermost place that declares each meter. */
const ownersOf = (places: Places): ReadonlyMap<string, number> => {
  const owners = new Map<string, number>()
  places.forEach((envelope, place) => envelope?.meters.forEach(({ id }) => owners.has(id) || owners.set(id, place)))
  return owners
}
