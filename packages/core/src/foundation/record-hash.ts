/** A record hash as the interface writes it. */
import { toHex } from "@flyball/evidence"

/** `sha256:` and 64 lower-case hex digits. */
export const recordHash = (hash: Uint8Array): string => `sha256:${toHex(hash)}`
