/** The Authorization header of a request. */
import type { IncomingMessage } from "node:http"
import { headerCount } from "./header-count.ts"

/** The header if there is one of it. */
export const onlyAuthorization = ({ headers, rawHeaders }: IncomingMessage): string | undefined =>
  headerCount(rawHeaders, "authorization") === 1 ? headers.authorization : undefined
