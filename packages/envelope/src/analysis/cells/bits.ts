/**
 * Sets of box numbers as words of 32 bits: what the diagram and the searches compare, cut and remember.
 *
 * Spec: a gap; decision 0022.
 */
export type Bits = Uint32Array

/** How many words hold `count` numbers. Never 0, so that a key is never empty. */
export const wordsFor = (count: number): number => Math.max(1, (count + 31) >>> 5)

/** The set of the numbers given. */
export const bitsOf = (words: number, members: Iterable<number>): Bits => {
  const bits = new Uint32Array(words)
  for (const member of members) addBit(bits, member)
  return bits
}

/** Puts one number into the set. */
export const addBit = (bits: Bits, member: number): void => {
  bits[member >>> 5] = bits[member >>> 5]! | (1 << (member & 31))
}

/** Puts the numbers of another set into the set. */
export const addAll = (bits: Bits, more: Bits): void => {
  for (let word = 0; word < bits.length; word++) bits[word] = bits[word]! | more[word]!
}

/** True when the number is in the set. */
export const hasBit = (bits: Bits, member: number): boolean => ((bits[member >>> 5]! >>> (member & 31)) & 1) === 1

/** True when the two sets share a number. */
export const meets = (left: Bits, right: Bits): boolean => {
  for (let word = 0; word < left.length; word++) if ((left[word]! & right[word]!) !== 0) return true
  return false
}

/** True for a set without members. */
export const isEmpty = (bits: Bits): boolean => {
  for (let word = 0; word < bits.length; word++) if (bits[word] !== 0) return false
  return true
}

/** The numbers of the set, least first. */
export const membersOf = (bits: Bits): ReadonlyArray<number> => {
  const members: Array<number> = []
  for (let word = 0; word < bits.length; word++) {
    for (let left = bits[word]!; left !== 0; left &= left - 1) members.push(word * 32 + 31 - Math.clz32(left & -left))
  }
  return members
}

/** The set as a key for a map: two characters a word. Equal sets of one width have equal keys, others never. */
export const keyOf = (bits: Bits): string => {
  let key = ""
  for (let word = 0; word < bits.length; word++) key += String.fromCharCode(bits[word]! & 0xffff, bits[word]! >>> 16)
  return key
}
