/** The Authorization header of a request. */
import type { Incoming } from "../exchange.ts"
import { headerCount } from "./header-count.ts"

/** The header if there is one of it. */
export const onlyAuthorization = ({
  headers,
  rawHeaders
}: Pick<Incoming, "headers" | "rawHeaders">): string | undefined =>
  headerCount(rawHeaders, "authorization") === 1 ? headers.authorization : undefined
