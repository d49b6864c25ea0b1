/** Trust in names of the service's roles in a token without the mapping, as for the development issuer. */
import { Context } from "effect"

/** Set by the host; false by default. Spec: api.md "Who may call" and, for lint, E108. */
export const TrustsCanonicalRoles = Context.Reference<boolean>("flyball/core/TrustsCanonicalRoles", {
  defaultValue: () => false
})
