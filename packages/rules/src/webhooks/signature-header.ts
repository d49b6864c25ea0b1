/**
 * Which name the header with the specification's signature may have. Spec: document 2 section 6 names one; that it may
 * be another is decision 0033.
 */

/**
 * Headers that belong to the connection, or that change how a receiver reads the request: no caller sets these. Spec:
 * decision 0033.
 */
export const connectionHeaders: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "connection",
  "keep-alive",
  "upgrade",
  "expect",
  "te",
  "trailer",
  "proxy-connection",
  "proxy-authorization"
])

/** Headers of a delivery, other than its signature. */
const deliveryHeaders: ReadonlySet<string> = new Set([
  "user-agent",
  "x-platform-event",
  "x-platform-delivery",
  "x-platform-attempt"
])

/** Media type and the headers of Standard Webhooks. */
const TAKEN_BEGINNING = /^(content|webhook)-/

/**
 * Describes the problem with a name for the signature's header; null when there is none. A name that the request has
 * already would break every delivery.
 *
 * - Shape: a letter, then letters, digits and dashes, at most 64 characters. The case does not matter.
 * - Fails: never; the answer is the rest of a sentence.
 * - Spec: document 2 section 6, rule 1; decision 0033.
 */
export const signatureHeaderProblem = (name: string): string | null => {
  if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(name))
    return "the name of a header is expected: a letter, then letters, digits and dashes, at most 64 characters"
  const lower = name.toLowerCase()
  return connectionHeaders.has(lower) || deliveryHeaders.has(lower) || TAKEN_BEGINNING.test(lower)
    ? "every delivery has a header of this name already. Choose another, such as X-Acme-Signature"
    : null
}
