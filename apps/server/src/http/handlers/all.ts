/** All handlers by the id of their endpoint. */
import { agents, chain, decisions, evidence, ingestKeys, system } from "@flyball/contract/http"
import type { AnyHandler, HandlersOf } from "../call.ts"
import { agentsHandlers } from "./agents.ts"
import { chainHandlers } from "./chain.ts"
import { decisionsHandlers } from "./decisions.ts"
import { evidenceHandlers } from "./evidence.ts"
import { ingestKeysHandlers } from "./ingest-keys.ts"
import { systemHandlers } from "./system.ts"

const byId = <Group extends { readonly [name: string]: { readonly id: string } }>(group: Group, handlers: HandlersOf<Group>): ReadonlyArray<readonly [string, AnyHandler]> =>
  Object.keys(group).map((name) => [group[name]!.id, handlers[name] as unknown as AnyHandler])

/** The handlers. */
export const handlers: { readonly [id: string]: AnyHandler } = Object.fromEntries([
  ...byId(system, systemHandlers),
  ...byId(agents, agentsHandlers),
  ...byId(decisions, decisionsHandlers),
  ...byId(chain, chainHandlers),
  ...byId(evidence, evidenceHandlers),
  ...byId(ingestKeys, ingestKeysHandlers)
])
