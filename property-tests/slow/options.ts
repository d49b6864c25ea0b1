/** `--name value` pairs of the slow proofs. */

/** Reads whole numbers by name. Throws with a sentence at anything else than the names that are known. */
export const numbersOf = <N extends string>(
  args: ReadonlyArray<string>,
  known: ReadonlyArray<N>
): { readonly [name in N]?: number } => {
  const found: { [name in N]?: number } = {}
  for (let index = 0; index < args.length; index += 2) {
    const name = known.find((one) => `--${one}` === args[index])
    const value = args[index + 1]
    if (name === undefined || value === undefined || !/^\d{1,15}$/.test(value)) {
      throw new Error(
        `${known.map((one) => `--${one} N`).join(", ")} can be said, N being a whole number; this was: ` +
          `${args.slice(index, index + 2).join(" ")}`
      )
    }
    found[name] = Number(value)
  }
  return found
}
