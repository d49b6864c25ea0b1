/** `flyball envelope new`: drafts an envelope from the tools of a server. Reads only. */
import { ToolServers } from "@flyball/core"
import { readEnvelope } from "@flyball/envelope"
import { draftEnvelope, type JsonMap } from "@flyball/rules"
import { exitStatus } from "./command.ts"
import { oneLine } from "./one-line.ts"
import { withHost } from "./with-host.ts"

/** Prints the draft for the tools that a server of the store listed last. */
export const draftOfServer = (named: string): Promise<number> =>
  withHost({ readOnly: true, small: true, keyless: true }, async (runtime) => {
    const tools = await runtime.runPromise(ToolServers.use((servers) => servers.tools(named)))
    if (tools === null) throw new Error(`the store has no list of tools of ${named}, or it was erased`)
    return printDraft(tools)
  })

/** Prints the draft for an answer of `tools/list`. */
export const draftOfList = (list: unknown): number => {
  const tools = (list as { readonly tools?: unknown } | null)?.tools
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool?.name === "string"))
    throw new Error('this is no answer to tools/list: expected {"tools": [{"name": …}]}')
  return printDraft(tools)
}

const printDraft = (tools: ReadonlyArray<JsonMap>): number => {
  if (tools.length === 0) throw new Error("the list names no tool")
  const { envelope, notes } = draftEnvelope(tools)
  console.log(JSON.stringify(envelope, null, 2))
  for (const note of notes) console.error(`flyball envelope: ${oneLine(note)}`)
  // Names that no tool may have, and more tools than an envelope takes.
  const { findings } = readEnvelope(envelope)
  for (const { code, message, path } of findings)
    console.error(oneLine(`flyball envelope: ${code} ${path}: ${message}`))
  return findings.length === 0 ? exitStatus.ok : exitStatus.failed
}
