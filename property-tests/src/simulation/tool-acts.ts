/** Acts on lists of tools and findings about them, noted in the ledger. Every number is a choice of the seed. */
import { systemHost, ToolServers } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ask, unexpected } from "./client.ts"
import { agentOf, second } from "./governed-acts.ts"
import { lineOf } from "./ledger.ts"

/** Servers, and lists that each may have. */
const SERVERS = 2
const LISTS = 3

const manifestOf = (list: number) => ({
  tools: [{ name: "pay", description: `Pays in way ${list}.`, inputSchema: { type: "object" } }]
})

const listTools: Act = Effect.fnUntraced(function* (client) {
  const agentId = yield* agentOf(client)
  if (agentId === null) return
  const address = `https://tools.example/${client.pick(SERVERS)}`
  const line = lineOf(client.ledger.toolLists, address, () => ({ tries: 0, acknowledged: 0, serverId: "" }))
  const answer = yield* ask(
    client,
    "list tools",
    ToolServers.use((servers) =>
      servers.upload({ agent_id: agentId, address, manifest: manifestOf(client.pick(LISTS)) }, systemHost)
    ),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "list tools", answer.refusal._tag))
  line.acknowledged += 1
  line.serverId = answer.value.id
})

/** Resolves the newest open finding. */
const resolve: Act = Effect.fnUntraced(function* (client) {
  const shown = yield* ask(
    client,
    "screen tools",
    ToolServers.use((servers) => servers.screen())
  )
  if (shown === null || !shown.done) return
  const finding = shown.value.findings.find(({ state }) => state === "open")
  if (finding === undefined) return
  const resolution = client.pick(3) > 0 ? ("approved" as const) : ("rejected" as const)
  const answer = yield* ask(
    client,
    "resolve finding",
    ToolServers.use((servers) => servers.resolve(finding.id, { resolution }, second))
  )
  if (answer === null) return
  if (answer.done) client.ledger.resolvedFindings.set(finding.id, resolution)
  // Somebody was quicker, or an answer to an earlier try was lost.
  else if (answer.refusal._tag !== "FindingResolved") yield* unexpected(client, "resolve finding", answer.refusal._tag)
})

/** The acts by name. */
export const toolActs = { listTools, resolveFinding: resolve } satisfies { readonly [name: string]: Act }
