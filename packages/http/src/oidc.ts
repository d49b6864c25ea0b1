/** The verifier of an organisation's tokens. It is an entry of its own: a host without people loads none of it. */
export { discovery } from "./oidc/discover.ts"
export { COOLDOWN_MS, KEEP_MS, oidcIssuer } from "./oidc/issuer.ts"
export { tokenProblemOf } from "./oidc/token-problem.ts"
export type { IgnoredKey } from "./oidc/usable-keys.ts"
