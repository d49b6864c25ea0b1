/** The bytes that a signed kill status is signed over. Spec: SPEC.md, "Signed kill status". */
import { canonicalBytes } from "./json/canonical.ts"
import { concatBytes, utf8 } from "./bytes.ts"

/** Separates these signatures of the log's key from those over checkpoints. */
const DOMAIN = "flyball/v1 kill_status\0"

/**
 * The signed bytes of a kill status: the domain, then the RFC 8785 form of the status as it was answered, without its
 * members `reason` and `signature`. So nonce, origin and key id are covered, and a status whose reason was erased still
 * verifies. Spec: format 1 section 9; decision 0047.
 */
export const killStatusBytes = (status: { readonly [member: string]: unknown }): Uint8Array => {
  const { reason: _, signature: __, ...signed } = status
  return concatBytes(utf8(DOMAIN), canonicalBytes(signed))
}
