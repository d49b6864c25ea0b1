/** The Authorization header of a request. */
import type { IncomingMessage } from "node:http"

const AUTHORIZATION = "authorization"

/** The header if there is one of it. Of two node keeps the first; a proxy in front may have looked at the second. */
export const onlyAuthorization = ({ headers, rawHeaders }: IncomingMessage): string | undefined => {
  let count = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!
    if (name.length === AUTHORIZATION.length && name.toLowerCase() === AUTHORIZATION) count += 1
  }
  return count === 1 ? headers.authorization : undefined
}
