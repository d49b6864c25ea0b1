/** Leaving out what is absent. */

/**
 * The members of `members` that are neither null nor undefined, in the same order. Records leave out what is absent;
 * they never say null.
 */
export const omitNullish = <A extends { readonly [name: string]: unknown }>(
  members: A
): { [K in keyof A]?: Exclude<A[K], null | undefined> } => {
  const out: { [name: string]: unknown } = {}
  for (const name in members) {
    const value = members[name]
    if (value !== null && value !== undefined) out[name] = value
  }
  return out as { [K in keyof A]?: Exclude<A[K], null | undefined> }
}
