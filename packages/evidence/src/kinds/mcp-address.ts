/** The digest of a tool server's address. A client sends it in a decision's label `mcp`, a server computes it. */
import { canonicalBytes } from "../json/canonical.ts"
import { portableCrypto } from "../crypto.ts"

/**
 * SHA-256 over the RFC 8785 form of an address (origin and path), or of a command with its arguments, in NFC. Hex.
 *
 * - Spec: format 1 section 8, `mcp.manifest_seen`.
 */
export const mcpAddressDigest = (address: string | ReadonlyArray<string>): string =>
  portableCrypto.sha256Hex(
    canonicalBytes(typeof address === "string" ? address.normalize("NFC") : address.map((one) => one.normalize("NFC")))
  )
