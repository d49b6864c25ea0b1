/** The demo's chapter on tool servers: a real one changes its tools under an agent, and a person approves them. */
import { readFileSync } from "node:fs"
import type { RunningServer } from "./server.ts"

/** Result of this step. */
export interface ToolsChanged {
  readonly agent: string
  readonly versions: readonly [before: string, after: string]
  /** The server's own version, before and after. */
  readonly declared: readonly [before: string, after: string]
  readonly tools: number
  readonly severity: string
  readonly layers: ReadonlyArray<string>
  readonly exposed: number
  readonly resolved: string
  /** State of the server once the same list came again, and how many findings are open then. */
  readonly after: string
  readonly open: number
}

const versions = ["2025.8.21", "2025.11.25"] as const
const captured = (version: string) =>
  JSON.parse(
    readFileSync(
      new URL(`../../fixtures/mcp-manifests/official_servers/server-filesystem@${version}.json`, import.meta.url),
      "utf8"
    )
  )

/** Lets an agent list the tools of two releases of a real server, and call them. */
export const toolsChanged = async ({
  admin,
  agent,
  key,
  server
}: {
  readonly admin: string
  readonly agent: { readonly id: string; readonly name: string }
  readonly key: string
  readonly server: RunningServer
}): Promise<ToolsChanged> => {
  const ask = async (method: string, path: string, token: string, body?: unknown) => {
    const { bytes, json, status } = await server.call(method, `/api/v1/${path}`, token, body)
    if (status >= 300)
      throw new Error(`${method} ${path} answered ${status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`)
    return json
  }
  const [before, after] = versions.map(captured)
  let refs = 0
  const witness = (decision: object) =>
    ask("POST", `agents/${agent.id}/decisions`, key, {
      client_ref: `files/${refs++}`,
      status: "ok",
      tool_server: "files",
      ...decision
    })
  const list = (capture: { readonly tools_list_pages: ReadonlyArray<unknown> }) =>
    witness({ kind: "tool_list", action: "tools/list", result: capture.tools_list_pages[0] })
  const call = () => witness({ kind: "tool_call", action: "read_text_file" })
  await list(before)
  await call()
  await list(after)
  await call()
  await call()
  const { findings } = await ask("GET", "fairness/mcp-screen", admin)
  const [finding] = findings
  const { state } = await ask("POST", `fairness/findings/${finding.id}/resolve`, admin, { resolution: "approved" })
  await list(after)
  const screen = await ask("GET", "fairness/mcp-screen", admin)
  return {
    agent: agent.name,
    versions,
    declared: [before.initialize.serverInfo.version, after.initialize.serverInfo.version],
    tools: finding.tools,
    severity: finding.severity,
    layers: [
      ...new Set<string>(finding.changes.flatMap((one: { readonly layers: ReadonlyArray<string> }) => one.layers))
    ],
    exposed: finding.calls_since_change,
    resolved: state,
    after: screen.servers[0].state,
    open: screen.totals.open
  }
}

/** The sentences of the page. */
export const toolsChangedLines = ({
  after,
  agent,
  declared,
  exposed,
  layers,
  open,
  resolved,
  severity,
  tools,
  versions: [earlier, later]
}: ToolsChanged): ReadonlyArray<string> => [
  `${agent} listed the tools of a real server, server-filesystem ${earlier}, and later those of ${later}; the server ` +
    (declared[0] === declared[1]
      ? `called itself ${declared[0]} both times.`
      : `called itself ${declared.join(", then ")}.`),
  `${tools} tools had changed (${layers.join(", ")}): a finding of severity ${severity}, with the ${exposed} ` +
    "calls that were exposed to it.",
  `A person read the change (${resolved}); the same list again opened nothing: the server is ${after}, ${open} ` +
    "findings are open. The replay above recomputed lists and finding too."
]
