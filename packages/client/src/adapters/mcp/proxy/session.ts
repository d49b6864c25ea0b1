/** The agent of a proxy: registered as soon as the service can be reached; until then no call runs. */
import { fileSpool } from "../../../capture/file-spool.ts"
import { openClient } from "../../../client.ts"
import type { Problem } from "../../../problem.ts"
import { type Calls, governCalls } from "../calls.ts"
import type { Settings } from "./settings.ts"

/** The agent of a proxy. */
export interface Session {
  /** The calls of the agent. Fails where it could not be registered; the next question tries again. */
  readonly calls: () => Promise<Calls>
  /** Sends what waits, for up to two seconds. */
  readonly close: () => Promise<void>
}

/** Opens the session of a proxy. `log` gets one line for each problem, and none for a repeated one. */
export const openSession = (settings: Settings, log: (line: string) => void): Session => {
  const { agent, holdMs, key, readOnly, redact, spoolFolder, toolServer, url } = settings
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
    ...(spoolFolder === null ? {} : { spool: fileSpool(spoolFolder) })
  })
  let registering: Promise<Calls> | null = null
  const register = async (): Promise<Calls> =>
    governCalls(await client.register({ name: agent, framework: "mcp" }), { toolServer, holdMs, readOnly })
  const calls = (): Promise<Calls> => {
    registering ??= register().catch((cause: unknown) => {
      registering = null
      throw cause
    })
    return registering
  }
  calls().catch((cause: unknown) => log(`no call runs yet: ${cause instanceof Error ? cause.message : String(cause)}`))
  return { calls, close: async () => void (await client.close()) }
}

const problemLine = (problem: Problem): string => {
  switch (problem.kind) {
    case "rejected":
      return `the service refused a record (${problem.clientRef}): status ${problem.status}`
    case "lost":
      return "the spool is full; a gap is recorded"
    case "capture":
      return `records wait: ${problem.reason}`
    default:
      return `${problem.kind}: ${problem.reason}`
  }
}
