/** By which keys an agent is found. */

/** Unique look-up keys of an agent: its name, compared by bytes. */
export const agentUnique = (agent: { readonly [name: string]: unknown }): { readonly name: string } => ({
  name: String(agent["name"])
})

/** Look-up keys of an agent. */
export const agentKeys = (agent: { readonly [name: string]: unknown }): { readonly [key: string]: string } =>
  typeof agent["orgUnit"] === "string" ? { org_unit: agent["orgUnit"] } : {}
