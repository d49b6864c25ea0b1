/** Which cuts a script is walked past. */
import { pickOf, seededSource } from "@flyball/testkit"
import type { Cut, CutKind } from "./cutting-proxy.ts"

const kinds: ReadonlyArray<CutKind> = ["question lost", "answer lost"]

/** Every cut of a script with so many exchanges. */
export const cutsOf = (exchanges: number): ReadonlyArray<Cut> =>
  Array.from({ length: exchanges }, (_, index) => kinds.map((kind): Cut => ({ exchange: index + 1, kind }))).flat()

/**
 * Pairs of cuts that the seed chose: half of them anywhere, half of them close together, where the second meets what
 * the first left behind.
 */
export const pairsOf = (exchanges: number, count: number, seed: number): ReadonlyArray<readonly [Cut, Cut]> => {
  const pick = pickOf(seededSource(`cuts ${seed}`))
  const cut = (exchange: number): Cut => ({ exchange, kind: kinds[pick(kinds.length)]! })
  return Array.from({ length: count }, (_, index) => {
    const first = 1 + pick(exchanges)
    return [cut(first), cut(index % 2 === 0 ? 1 + pick(exchanges) : first + 1 + pick(12))] as const
  })
}
