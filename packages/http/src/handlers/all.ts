/** All handlers by the id of their endpoint. */
import { chain, kill, system } from "@flyball/contract/http"
import { modules } from "@flyball/core"
import type { AnyHandler, HandlersOf } from "../request/call.ts"
import { chainHandlers } from "./chain.ts"
import { killHandlers } from "./kill.ts"
import { pages } from "../answer/pages.ts"
import { pagesHandlers } from "./pages.ts"
import { derivedHandlers } from "./derived.ts"
import { systemHandlers } from "./system.ts"

/** The handlers of a group by the id of their endpoint. */
export const byId = <Group extends { readonly [name: string]: { readonly id: string } }>(
  group: Group,
  handlers: HandlersOf<Group>
): ReadonlyArray<readonly [string, AnyHandler]> =>
  Object.keys(group).map((name) => [group[name]!.id, handlers[name] as unknown as AnyHandler])

/** The handlers. Spec: document 1 section 4. */
export const handlers: { readonly [id: string]: AnyHandler } = Object.fromEntries([
  ...byId(system, systemHandlers),
  ...derivedHandlers(modules),
  ...byId({ certificate: kill.certificate, stream: kill.stream }, killHandlers),
  ...byId({ record: chain.record, records: chain.records }, chainHandlers),
  ...byId(pages, pagesHandlers)
])
