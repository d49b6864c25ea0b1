/** Distances between two tables of counts over the same categories. They measure, and test nothing. */

const sum = (counts: ArrayLike<number>): number => {
  let total = 0
  for (let at = 0; at < counts.length; at++) total += counts[at]!
  return total
}

/**
 * The Jensen-Shannon distance of two distributions.
 *
 * - Shape: counts of the same categories, each table with one above 0. 0 (equal) to 1 (nothing in common).
 * - Formula: `√(H(m) - (H(p) + H(q)) / 2)`, `m = (p + q) / 2`, entropies of base 2.
 * - Source: Lin, IEEE Transactions on Information Theory 37, 1991; Endres and Schindelin, 2003.
 */
export const jensenShannon = (counts: ArrayLike<number>, others: ArrayLike<number>): number => {
  const [n, m] = [sum(counts), sum(others)]
  let divergence = 0
  for (let at = 0; at < counts.length; at++) {
    const [p, q] = [counts[at]! / n, others[at]! / m]
    const middle = (p + q) / 2
    if (p > 0) divergence += (p * Math.log2(p / middle)) / 2
    if (q > 0) divergence += (q * Math.log2(q / middle)) / 2
  }
  return Math.sqrt(Math.max(0, divergence))
}

/** The count that is added to each cell of both tables, so that an empty one has a logarithm. */
const PER_CELL = 0.5

/**
 * The population stability index of two tables. Half an observation is added to each cell.
 *
 * - Shape: counts of the same categories. 0 and more, without a bound. Between samples of one distribution it is about
 *   `(cells - 1) (1/n + 1/m)`: a fixed threshold says nothing.
 * - Formula: `Σ (p - q) ln(p / q)`.
 * - Source: Yurdakul, Statistical Properties of the Population Stability Index, 2018.
 */
export const stabilityIndex = (counts: ArrayLike<number>, others: ArrayLike<number>): number => {
  const added = PER_CELL * counts.length
  const [n, m] = [sum(counts) + added, sum(others) + added]
  let index = 0
  for (let at = 0; at < counts.length; at++) {
    const [p, q] = [(counts[at]! + PER_CELL) / n, (others[at]! + PER_CELL) / m]
    index += (p - q) * Math.log(p / q)
  }
  return index
}
