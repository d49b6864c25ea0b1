/** Tool servers as a module. Spec: document 1 section 4, GET /fairness/mcp-screen; decision 0072. */
import { mcp as rows } from "@flyball/contract/http"
import { Effect } from "effect"
import { defineModule, type Module } from "../../capability/module.ts"
import type { OperationsOf } from "../../capability/operation.ts"
import { ToolServers } from "./service.ts"

const operations = {
  screen: ({ query }, { scope }) => ToolServers.use((servers) => servers.screen(query, scope)),
  upload: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* ToolServers).upload(body, yield* writer, scope)
  }),
  pin: Effect.fnUntraced(function* ({ body }, { scope, writer }) {
    return yield* (yield* ToolServers).pin(body, yield* writer, scope)
  }),
  resolve: Effect.fnUntraced(function* ({ body, params }, { scope, writer }) {
    return yield* (yield* ToolServers).resolve(params.finding_id, body, yield* writer, scope)
  })
} satisfies OperationsOf<typeof rows>

/** Tool servers: lists of tools that agents saw, pins, and findings. Spec: decision 0072. */
export const mcp: Module<"mcp", typeof rows, typeof operations, typeof ToolServers.layer> = defineModule({
  name: "mcp",
  rows,
  operations,
  layer: ToolServers.layer,
  reads: [
    {
      missing: "McpServerNotFound",
      member: "serverId",
      param: "server_id",
      get: (id, scope) => ToolServers.use((servers) => servers.server(id, scope))
    },
    {
      missing: "FindingNotFound",
      member: "findingId",
      param: "finding_id",
      get: (id, scope) => ToolServers.use((servers) => servers.finding(id, scope))
    }
  ]
})
