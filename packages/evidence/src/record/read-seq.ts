/** A seq as it stands in a record and in a D line. */

const ZERO = 0x30

/**
 * Reads the decimal digits of a seq from `start` on into `into`; returns the index behind them, -1 when they are none:
 * a leading zero, too many, over 2^53 - 1.
 */
export const readSeq = (bytes: Uint8Array, start: number, into: { seq: number }): number => {
  let at = start
  let value = 0
  // Bounded: behind the array there is NaN, which counts as a digit here.
  for (let digit = bytes[at]! - ZERO; digit >>> 0 < 10 && at - start <= 16; digit = bytes[++at]! - ZERO)
    value = value * 10 + digit
  const digits = at - start
  if (digits === 0 || digits > 16 || value > Number.MAX_SAFE_INTEGER || (digits > 1 && bytes[start] === ZERO)) return -1
  into.seq = value
  return at
}
