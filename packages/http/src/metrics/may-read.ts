/**
 * Decides who may read the metrics: a process on this host, or a caller with the token. Spec: api.md, the list of
 * paths. Decision 0017.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import { isLoopback } from "../request/loopback.ts"
import { bearerToken } from "../request/authenticate.ts"
import type { Incoming } from "../exchange.ts"
import { onlyAuthorization } from "../request/only-authorization.ts"

/** The members of a request that decide about access to the metrics. */
type Asking = Pick<Incoming, "headers" | "rawHeaders" | "socket">

/** Headers that a proxy adds to a request of another client. */
const PROXY_HEADER =
  /^(?:forwarded|via|true-client-ip|x-(?:forwarded|original|envoy|real|client|cluster-client)-.+|cf-.+)$/

/**
 * True for a caller on this host where `local` says so, and for one with the token. Without a token only the former.
 * Spec: api.md, `/metrics`.
 */
export const mayReadMetrics = (request: Asking, token: string | null, local = true): boolean =>
  (local && isFromThisHost(request)) || (token !== null && isToken(request, token))

/**
 * The socket ends here, the request was meant for here (a page in a browser names its own host), and nobody says that
 * it was passed on.
 */
const isFromThisHost = ({ headers, socket }: Asking): boolean =>
  isLoopback(socket.remoteAddress ?? "") &&
  isLoopback((headers.host ?? "").replace(/:\d{1,5}$/, "")) &&
  !Object.keys(headers).some((name) => PROXY_HEADER.test(name))

const isToken = (request: Asking, token: string): boolean => {
  const given = bearerToken(onlyAuthorization(request))
  // Digests, so that both have one length.
  return given !== null && timingSafeEqual(sha256(given), sha256(token))
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest()
