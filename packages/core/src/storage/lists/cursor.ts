/** Cursors of lists: a place in the rows, signed together with the query that it belongs to. Pure. */
import { canonicalBytes, fromBase64, fromUtf8, toBase64 } from "@flyball/evidence"
import { type HmacKey, hmac, type Sha256 } from "@flyball/rules"

/** The query that a cursor belongs to. */
export interface CursorQuery {
  /** Name of the list. */
  readonly route: string
  readonly owner: string
  readonly sort: string
  readonly filters: { readonly [name: string]: string }
}

/** Bytes of the code: enough that nobody guesses one. */
const MAC_BYTES = 16

/**
 * Makes the cursor behind the row at `position`. The owner and the filters are signed, and not in it.
 *
 * - Shape: base64url of the canonical JSON of route, sort, position and code.
 */
export const cursorOf = (
  { filters, owner, route, sort }: CursorQuery,
  position: string,
  key: HmacKey,
  sha256: Sha256
): string => {
  const signed = canonicalBytes({ filters, owner, position, route, sort })
  const mac = toBase64(hmac(key, [signed], sha256).subarray(0, MAC_BYTES))
  return toBase64(canonicalBytes({ mac, position, route, sort }))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "")
}

/** The position in a cursor; null where it is not, to the letter, one that was given for this query. */
export const positionIn = (query: CursorQuery, cursor: string, key: HmacKey, sha256: Sha256): string | null => {
  const base64 = cursor.replaceAll("-", "+").replaceAll("_", "/")
  const text = fromUtf8(fromBase64(base64.padEnd(Math.ceil(base64.length / 4) * 4, "=")) ?? new Uint8Array())
  const [, position] = /"position":"([^"\\]+)"/.exec(text ?? "") ?? []
  if (position === undefined || cursorOf(query, position, key, sha256) !== cursor) return null
  return position
}
