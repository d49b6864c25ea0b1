/** The registry through the plain client. */
import { Effect } from "effect"
import { Agents, type AgentsApi } from "../../registry/agents/service.ts"
import { Identities } from "../../registry/identity/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import { type Acting, acting } from "./acting.ts"
import type { AgentsClient } from "./types/agents-client-types.ts"
import type { Client } from "./client.ts"
import {
  decoded,
  decodeAgent,
  decodeAgentFilter,
  decodeChange,
  decodeDisown,
  decodeIdentity,
  decodeRecertify,
  decodeSuspend,
  decodeTransfer,
  query
} from "./input.ts"
import { decode, type Decoder, TimelineQuery } from "@flyball/contract"

const decodeTimelineFilter = query(decode(TimelineQuery))

/** The registry over a client. */
export const agentsClient = (client: Client, own: Writer): AgentsClient => agentsOver(client, acting(client, own))

const withInput = <A, B, E>(
  decoder: Decoder<A>,
  input: unknown,
  act: (agents: AgentsApi, input: A) => Effect.Effect<B, E>
) => Effect.flatMap(decoded(decoder, input), (read) => Agents.use((agents) => act(agents, read)))

const agentsOver = ({ run }: Client, act: Acting): AgentsClient => ({
  register: (input, options) =>
    act((writer) => withInput(decodeAgent, input, (agents, agent) => agents.register(agent, writer)), options),
  find: (name, options) =>
    run(
      Agents.use((agents) => agents.find(name)),
      options
    ),
  get: (id, options) =>
    run(
      Agents.use((agents) => agents.get(id)),
      options
    ),
  list: (filter = {}, options) =>
    run(
      Effect.flatMap(decodeAgentFilter(filter), (query) => Agents.use((agents) => agents.list(query))),
      options
    ),
  orphans: (options) =>
    run(
      Agents.use((agents) => agents.orphans()),
      options
    ),
  timeline: (id, filter = {}, options) =>
    run(
      Effect.flatMap(decodeTimelineFilter(filter), (page) => Agents.use((agents) => agents.timeline(id, page))),
      options
    ),
  update: (id, change, options) =>
    act((writer) => withInput(decodeChange, change, (agents, input) => agents.update(id, input, writer)), options),
  activate: (id, options) => act((writer) => Agents.use((agents) => agents.activate(id, writer)), options),
  suspend: (id, why = {}, options) =>
    act((writer) => withInput(decodeSuspend, why, (agents, input) => agents.suspend(id, input, writer)), options),
  decommission: (id, options) => act((writer) => Agents.use((agents) => agents.decommission(id, writer)), options),
  recertify: (id, next, options) =>
    act((writer) => withInput(decodeRecertify, next, (agents, input) => agents.recertify(id, input, writer)), options),
  transferOwnership: (id, owner, options) =>
    act(
      (writer) => withInput(decodeTransfer, owner, (agents, input) => agents.transferOwnership(id, input, writer)),
      options
    ),
  attachIdentity: (id, identity, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeIdentity, identity), (input) =>
          Identities.use((identities) => identities.attach(id, input, writer))
        ),
      options
    ),
  disown: (id, why, options) =>
    act((writer) => withInput(decodeDisown, why, (agents, input) => agents.disown(id, input, writer)), options)
})
