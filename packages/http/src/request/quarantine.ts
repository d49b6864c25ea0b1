/** Refuses requests of an ingest key for a quarantined agent. Spec: envelopes.md 3.10. */
import { AgentQuarantined } from "@flyball/contract"
import { type AnyEndpoint, namesAgent } from "@flyball/contract/http"
import { Kill, moduleReads, type Scope } from "@flyball/core"
import { Effect } from "effect"
import type { Fault, Services } from "./call.ts"
import { type AdmittedCaller, scopeOf } from "./caller.ts"

/** The parts of a call that may name an agent. */
interface Requested {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/**
 * Ends with `AgentQuarantined` where the caller is an ingest key and the request is about an agent that is quarantined.
 * Kill status, stream and acknowledgement stay open, and so does what names no agent. Keys are not touched.
 */
export const refuseQuarantined = (
  endpoint: AnyEndpoint,
  caller: AdmittedCaller,
  requested: Requested
): Effect.Effect<void, AgentQuarantined | Fault, Services> => {
  if (caller.kind !== "key" || !namesAgent(endpoint)) return Effect.void
  const scope = scopeOf(caller)
  return Effect.flatMap(agentOf(requested, scope), (agentId) =>
    agentId === null
      ? Effect.void
      : Effect.flatMap(
          Kill.use((kill) => kill.quarantineOf(agentId, scope)),
          (activationId) => (activationId === null ? Effect.void : Effect.fail(new AgentQuarantined({ activationId })))
        )
  )
}

/** The agent that a request is about; null where it is missing, which its handler says. */
const agentOf = ({ body, params, query }: Requested, scope: Scope): Effect.Effect<string | null, Fault, Services> => {
  const named = member(params, "agent_id") ?? member(body, "agent_id") ?? member(query, "agent_id")
  if (named !== null) return Effect.succeed(named)
  for (const { get, missing, param } of moduleReads) {
    const id = member(params, param)
    if (id !== null)
      return get(id, scope).pipe(
        Effect.map((found) => member(found, "agent_id")),
        Effect.catchIf(
          ({ _tag }) => _tag === missing,
          () => Effect.succeed(null)
        )
      ) as Effect.Effect<string | null, Fault, Services>
  }
  return Effect.succeed(null)
}

const member = (of: unknown, name: string): string | null => {
  const value = typeof of === "object" && of !== null ? (of as { readonly [name: string]: unknown })[name] : undefined
  return typeof value === "string" ? value : null
}
