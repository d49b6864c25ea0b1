/** Base64url in its one form: no padding, no bits left over. Spec: RFC 7515 section 2. */
import { fromBase64, toBase64 } from "@flyball/evidence"

/** Bytes of a base64url text; null for any other text, including a second spelling of the same bytes. */
export const fromBase64url = (text: string): Uint8Array | null =>
  /^[A-Za-z0-9_-]*$/.test(text) && text.length % 4 !== 1
    ? fromBase64(text.replaceAll("-", "+").replaceAll("_", "/") + "=".repeat((4 - (text.length % 4)) % 4))
    : null

/** Base64url of some bytes. */
export const toBase64url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
