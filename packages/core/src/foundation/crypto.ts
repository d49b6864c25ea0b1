/** Which implementation of the format's hashes and signatures core computes with. */
import { type Crypto, portableCrypto } from "@flyball/evidence"
import { Context } from "effect"

/**
 * SHA-256 and Ed25519. The portable one unless keys bring another: a data folder brings OpenSSL's, which gives the same
 * bytes several times faster.
 */
export const EvidenceCrypto: Context.Reference<Crypto> = Context.Reference("flyball/core/EvidenceCrypto", {
  defaultValue: () => portableCrypto
})
