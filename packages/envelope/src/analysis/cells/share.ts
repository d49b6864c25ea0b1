/**
 * A part of a whole as a percentage for people: two decimals, cut off; "< 0.01 %" and "> 99.99 %" where that would hide
 * something.
 *
 * Exact: computed on big integers.
 */
export const shareOf = (part: bigint, whole: bigint): string => {
  if (part === 0n || whole === 0n) return "0.00 %"
  if (part === whole) return "100.00 %"
  const bp = (part * 10_000n) / whole
  if (bp === 0n) return "< 0.01 %"
  return `${part * 10_000n > whole * 9_999n ? "> 99.99" : `${bp / 100n}.${String(bp % 100n).padStart(2, "0")}`} %`
}
