/** Names for what a process does: unique, and ascending in time. */
import type { ClientClock } from "./clock.ts"

const letters = "0123456789abcdefghjkmnpqrstvwxyz"

const base32 = (value: number, length: number): string => {
  let text = ""
  for (let rest = value; text.length < length; rest = Math.floor(rest / 32)) text = letters[rest % 32]! + text
  return text
}

/** Names of one process. */
export interface Refs {
  /** Begins with the time at which the process started. */
  readonly bootId: string
  /** The next name, and its number. */
  readonly next: () => { readonly ref: string; readonly seq: number }
}

/** Starts to count. */
export const makeRefs = (clock: ClientClock): Refs => {
  const random = crypto.getRandomValues(new Uint8Array(10))
  const bootId = base32(clock.nowMs(), 10) + [...random].map((byte) => letters[byte % 32]!).join("")
  let seq = 0
  return {
    bootId,
    next: () => {
      seq++
      return { ref: `${bootId}-${String(seq).padStart(10, "0")}`, seq }
    }
  }
}
