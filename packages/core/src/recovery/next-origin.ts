/** The name of the chain after a recovery, where nobody chose one. Pure. Decision 0010. */
import { localOrigin } from "../chain/origin.ts"

/** Names that nobody chose. Spec: design section 4. */
const MADE_UP = /^flyball\.local\/[0-9a-hjkmnp-tv-z]{26}$/

/**
 * `<old>~2`, then `~3` and so on, past the names in `taken`. A name that was made up at the first start gets another made-up one, of `random` (16 bytes).
 *
 * It may be too long to be an origin: whoever uses it looks.
 */
export const nextOrigin = (old: string, taken: ReadonlySet<string>, random: Uint8Array): string => {
  if (MADE_UP.test(old)) return localOrigin(random)
  const [, stem, number] = /^(.+)~([2-9]|[1-9][0-9]{1,8})$/.exec(old) ?? [old, old, "1"]
  for (let next = Number(number) + 1;; next++) {
    const origin = `${stem}~${next}`
    if (!taken.has(origin)) return origin
  }
}
