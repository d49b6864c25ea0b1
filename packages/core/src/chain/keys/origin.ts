/** Names of chains. Spec: chain-format section 1. */
import { encodeId } from "@flyball/evidence"

export { isOrigin } from "@flyball/evidence"

/**
 * The generated name of a chain without a configured one: `flyball.local/` and 26 characters made of 16 random bytes.
 * Spec: design section 4.
 */
export const localOrigin = (random: Uint8Array): string => encodeId("flyball.local/", random)
