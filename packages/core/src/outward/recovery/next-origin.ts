/** The name of the chain after a recovery, where nobody chose one. Pure. Decision 0010. */
import { toHex } from "@flyball/evidence"
import { localOrigin } from "../../chain/keys/origin.ts"

/** Names that nobody chose. Spec: design section 4. */
const MADE_UP = /^flyball\.local\/[0-9a-hjkmnp-tv-z]{26}$/

/** A name that a recovery made: its number, and since names are drawn eight hexadecimal digits. */
const RECOVERED = /^(.+)~([2-9]|[1-9][0-9]{1,8})(?:-[0-9a-f]{8})?$/

/**
 * `<old>~2-<8 hexadecimal digits>`, then `~3-…` and so on, of `random` (16 bytes). A name that was made up at the first
 * start gets another made-up one.
 *
 * Drawn, because two recoveries from one copy know nothing of each other: with one name and one key they would be two
 * histories of one chain.
 * It may be too long for an origin: the caller checks.
 */
export const nextOrigin = (old: string, random: Uint8Array): string => {
  if (MADE_UP.test(old)) return localOrigin(random)
  const [, stem, number] = RECOVERED.exec(old) ?? [old, old, "1"]
  return `${stem}~${Number(number) + 1}-${toHex(random.slice(0, 4))}`
}
