/** Which implementation of the format's hashes and signatures core computes with. */
import { type Crypto, portableCrypto } from "@flyball/evidence"
import { Context } from "effect"

/**
 * SHA-256 and Ed25519. The portable one unless keys bring another: a data folder brings OpenSSL's, which gives the same
 * bytes several times faster. Spec: format 1 sections 2 and 4.
 */
export const EvidenceCrypto: Context.Reference<Crypto> = Context.Reference("flyball/core/EvidenceCrypto", {
  defaultValue: () => portableCrypto
})
