/** Words for why a token was refused, for log and metrics alone. */

/**
 * The requirements that a refused token fails. `expired`: outside of its time. `key`: no key of the issuer signed it,
 * or no ingest key has this text. `form`: it is no token. `size`: it is longer than the head of a request.
 */
export const tokenProblems = ["audience", "issuer", "expired", "key", "algorithm", "subject", "form", "size"] as const

/** One of {@link tokenProblems}. */
export type TokenProblem = (typeof tokenProblems)[number]
