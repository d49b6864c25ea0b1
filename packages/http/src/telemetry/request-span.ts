/** Attributes of a request's span. Spec: OpenTelemetry semantic conventions for HTTP servers. */
import type { Attributes } from "./tracing.ts"

/**
 * A request that is over, as far as its span tells of it: nothing that a caller made up but the id of the request, and
 * nobody's name.
 */
export interface TracedRequest {
  readonly requestId: string
  readonly method: string
  /** The path as the table writes it; null when there is nothing at the path. */
  readonly route: string | null
  /** 0 when the caller did not get a whole answer. */
  readonly status: number
  /** The word of a refusal; null for successes. */
  readonly code: string | null
  /** The server or something that it depends on failed. */
  readonly failed: boolean
}

const methods: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "CONNECT"
])

/** Name, attributes and status of its span. */
export const requestSpan = ({
  code,
  failed,
  method,
  requestId,
  route,
  status
}: TracedRequest): { readonly name: string; readonly attributes: Attributes; readonly failed: boolean } => {
  const known = methods.has(method) ? method : null
  const error = code ?? (status === 0 ? "incomplete" : null)
  return {
    name: route === null ? (known ?? "HTTP") : `${known ?? "HTTP"} ${route}`,
    attributes: {
      "http.request.method": known ?? "_OTHER",
      ...(route === null ? {} : { "http.route": route }),
      ...(status === 0 ? {} : { "http.response.status_code": status }),
      ...(error !== null && (status === 0 || status >= 500) ? { "error.type": error } : {}),
      "flyball.request_id": requestId
    },
    failed: failed || status >= 500
  }
}
