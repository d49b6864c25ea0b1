/**
 * Whether names of our own roles in a token count as themselves whatever the mapping says, as the issuer for
 * development has it.
 */
import { Context } from "effect"

/** Set by the host; false by default. Spec: api.md "Who may call" and, for lint, E108. */
export const TrustsCanonicalRoles = Context.Reference<boolean>("flyball/core/TrustsCanonicalRoles", {
  defaultValue: () => false
})
