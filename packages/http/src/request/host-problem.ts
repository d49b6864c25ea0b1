/** Checks that a request names its host as it must. Spec: RFC 9112 section 3.2. */
import type { IncomingMessage } from "node:http"
import type { Problem } from "@flyball/contract/http"
import { hostMissing, hostTwice } from "./bad-request.ts"
import { headerCount } from "./header-count.ts"

/** Checks the header Host; returns the problem, or null when there is none. */
export const hostProblem = ({ headers, httpVersion, rawHeaders }: IncomingMessage): Problem | null => {
  if (headers.host === undefined) return httpVersion === "1.1" ? hostMissing : null
  return headerCount(rawHeaders, "host") === 1 ? null : hostTwice
}
