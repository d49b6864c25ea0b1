/**
 * One SHA-256 by OpenSSL, written to where it is wanted. A file of its own, so that a thread need not load the rest.
 */
import { hash } from "node:crypto"

/**
 * `sha256Into` of the port. A digest asked for as a Latin-1 string and copied out is more than twice as fast as one
 * asked for as a Buffer (Node 24).
 */
export const hashInto = (bytes: Uint8Array, out: Uint8Array, at: number): void => {
  const text = hash("sha256", bytes, "binary")
  for (let i = 0; i < 32; i++) out[at + i] = text.charCodeAt(i)
}
