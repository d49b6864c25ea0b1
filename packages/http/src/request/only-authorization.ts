/** The Authorization header of a request. */
import type { Incoming } from "../exchange.ts"
import { headerCount } from "./header-count.ts"

/** Returns the header if there is one of it; an empty text, which is no token, if there are several. */
export const onlyAuthorization = ({
  headers,
  rawHeaders
}: Pick<Incoming, "headers" | "rawHeaders">): string | undefined =>
  headerCount(rawHeaders, "authorization") > 1 ? "" : headers.authorization
