/** The digest that binds a review to an action. */
import { canonicalBytes, portableCrypto, toHex } from "@flyball/evidence"
import type { Json } from "../wire.ts"

/** `sha256:<hex>` over the RFC 8785 form of an action's arguments. Throws where they have none. */
export const actionDigest = (args: Json): string =>
  `sha256:${toHex(portableCrypto.sha256(canonicalBytes(args as never)))}`
