/** Names the check that refused a token, for the operator's log and metrics. The caller is not shown it. */
import { errors } from "jose"
import type { TokenProblem } from "../request/token-problem.ts"

const byClaim: { readonly [claim: string]: TokenProblem } = {
  aud: "audience",
  iss: "issuer",
  sub: "subject",
  exp: "expired",
  nbf: "expired",
  iat: "expired"
}

/** Names why a token was refused; null for an error that is not about the token. Spec: decision 0016. */
export const tokenProblemOf = (cause: unknown): TokenProblem | null => {
  if (!(cause instanceof errors.JOSEError)) return null
  if (cause instanceof errors.JWTExpired) return "expired"
  if (cause instanceof errors.JWTClaimValidationFailed) return byClaim[cause.claim] ?? "form"
  if (cause instanceof errors.JOSEAlgNotAllowed || cause instanceof errors.JOSENotSupported) return "algorithm"
  return cause instanceof errors.JWSSignatureVerificationFailed ||
    cause instanceof errors.JWKSNoMatchingKey ||
    cause instanceof errors.JWKSMultipleMatchingKeys
    ? "key"
    : "form"
}
