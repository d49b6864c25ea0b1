/** The agent of a proxy: registered as soon as the service can be reached; until then no call runs. */
import { fileSpool } from "../../../capture/file-spool.ts"
import { type AgentClient, openClient } from "../../../client.ts"
import type { Problem } from "../../../problem.ts"
import { type Calls, governCalls } from "../calls.ts"
import type { Settings } from "./settings.ts"

/** The agent of a proxy. */
export interface Session {
  /** The calls of the agent. Fails where it could not be registered; the next question tries again. */
  readonly calls: () => Promise<Calls>
  /** Ends what is followed, and sends what waits, for up to two seconds. */
  readonly close: () => Promise<void>
}

/** Opens the session of a proxy. `log` gets one line for each problem, and none for a repeated one. */
export const openSession = (settings: Settings, log: (line: string) => void): Session => {
  const { agent, holdMs, key, readOnly, record, redact, signals, spoolFolder, toolServer, url } = settings
  let last = ""
  const onProblem = (problem: Problem): void => {
    const line = problemLine(problem)
    if (line !== last) log(line)
    last = line
  }
  const client = openClient({
    url,
    key,
    redact,
    onProblem,
    capture: record,
    ...(signals === null ? {} : { signals }),
    ...(spoolFolder === null ? {} : { spool: fileSpool(spoolFolder) })
  })
  let registering: Promise<Calls> | null = null
  const register = async (): Promise<Calls> => {
    const registered = await client.register({ name: agent, framework: "mcp" })
    const capture = await captureOf(settings, registered)
    if (capture !== "mediated")
      log("the key was not minted for a gateway: decisions do not say that they were mediated")
    const { target } = settings
    const serverAddress = target.kind === "http" ? target.upstream : [target.command, ...target.args]
    return governCalls(registered, { toolServer, serverAddress, holdMs, readOnly, capture })
  }
  const calls = (): Promise<Calls> => {
    registering ??= register().catch((cause: unknown) => {
      registering = null
      throw cause
    })
    return registering
  }
  calls().catch((cause: unknown) => log(`no call runs yet: ${cause instanceof Error ? cause.message : String(cause)}`))
  const close = async (): Promise<void> => {
    await registering?.then(
      (registered) => registered.end("The proxy ended."),
      () => undefined
    )
    await client.close()
  }
  return { calls, close }
}

/** Time for the question what the key may claim. Unit: milliseconds. */
const CLAIM_MS = 5_000

/**
 * The capture tier that the proxy may claim: it witnesses its start as `mediated`, which the service takes from a key
 * that was minted for a gateway alone. Nothing else says what a key may claim.
 */
const captureOf = async (
  { key, toolServer, url }: Settings,
  agent: AgentClient
): Promise<"mediated" | "framework_hook"> => {
  const started = {
    client_ref: `mcp-proxy-${crypto.randomUUID()}`,
    action: "flyball-mcp-proxy/start",
    kind: "other",
    status: "ok",
    mode: "observed",
    capture: "mediated",
    instance_id: agent.instanceId,
    tool_server: toolServer
  }
  const answer = await fetch(`${url.replace(/\/+$/, "")}/api/v1/agents/${agent.id}/decisions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ decisions: [started] }),
    redirect: "error",
    signal: AbortSignal.timeout(CLAIM_MS)
  })
  const body = (await answer.json()) as { readonly code?: unknown }
  if (answer.status === 201) return "mediated"
  if (answer.status === 403 && body.code === "capture_not_mediated") return "framework_hook"
  throw new Error(`the claims that the key may make could not be read: status ${answer.status}`)
}

const problemLine = (problem: Problem): string => {
  switch (problem.kind) {
    case "reduced":
      return `the service took a record without its parts (${problem.clientRef}): status ${problem.status}`
    case "rejected":
      return `the service refused a record (${problem.clientRef}): status ${problem.status}; a gap is recorded`
    case "lost":
      return "the spool is full; a gap is recorded"
    case "capture":
      return `records wait: ${problem.reason}`
    default:
      return `${problem.kind}: ${problem.reason}`
  }
}
