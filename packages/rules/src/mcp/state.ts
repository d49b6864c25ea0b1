/**
 * Tool servers and findings about them, as the records say. Service, replay and recomputation fold with these.
 *
 * Spec: drift-fairness-mcp.md 4.3; decision 0072.
 */
import { mcpTransports } from "@flyball/evidence/words"
import { type Crypto, encodeId, portableCrypto, utf8 } from "@flyball/evidence"
import type { ExpectedDocument, JsonMap, ReplayRecord } from "../records/record.ts"

export { mcpTransports }

/** Collection of tool servers. */
export const MCP_SERVERS = "mcp_servers"
/** Collection of findings. */
export const FINDINGS = "findings"
/** Most pinned lists of a server that are kept: the oldest goes. */
export const MAX_PINS = 32

/** One of {@link mcpTransports}. */
export type McpTransport = (typeof mcpTransports)[number]

/** A list of tools: its root, and the listing whose record has its digests. */
export type SeenList = { readonly root: string; readonly listing: string }

/** A tool server of an org unit. */
export type McpServerDocument = {
  readonly transport: McpTransport
  readonly addressDigest: string
  /** Null where the org unit of its agent was erased. */
  readonly orgUnitDigest: string | null
  /** The agent that saw the last list. */
  readonly agentId: string
  /** The name that clients give the server. */
  readonly toolServer: string | null
  readonly coverage: "complete" | "partial"
  /** The last list. */
  readonly last: SeenList
  readonly tools: number
  /** True when the last list counts as approved. */
  readonly trusted: boolean
  /** The list that counts as approved while none is pinned: the first that was seen. Null where that has signals. */
  readonly first: SeenList | null
  /** The lists that people approved, the newest last. */
  readonly pins: ReadonlyArray<SeenList>
  readonly firstSeenAt: string
  readonly lastSeenAt: string
}

/** The answers of people to a finding. */
export const findingResolutions = ["approved", "rejected"] as const

/** One of {@link findingResolutions}. */
export type FindingResolution = (typeof findingResolutions)[number]

/** A finding about a list of tools. */
export type McpFindingDocument = {
  readonly kind: "mcp_manifest_changed"
  readonly serverId: string
  readonly agentId: string
  readonly listing: string
  readonly root: string
  readonly severity: string
  readonly state: "open" | FindingResolution
}

/**
 * The id of a server: of how it is reached, and of the org unit whose agents reach it. What a server says of itself is
 * no part of it, so that a new name is not a new server.
 */
export const mcpServerId = (
  transport: string,
  addressDigest: string,
  orgUnitDigest: string | null,
  sha256: Crypto["sha256"] = portableCrypto.sha256
): string =>
  encodeId(
    "mcs_",
    sha256(utf8(`flyball/v1 mcp server id\0${transport}\0${addressDigest}\0${orgUnitDigest ?? ""}`)).slice(0, 16)
  )

/** True when a list counts as approved: it is pinned, or no list is and it was the first. */
export const isTrustedRoot = ({ first, pins }: McpServerDocument, root: string): boolean =>
  pins.length > 0 ? pins.some((one) => one.root === root) : first?.root === root

/** The list that a new one is compared with, and why: the newest pinned one, or else the last that was seen. */
export const baselineOf = ({
  last,
  pins
}: McpServerDocument): { readonly against: "pin" | "seen"; readonly list: SeenList } => {
  const pin = pins.at(-1)
  return pin === undefined ? { against: "seen", list: last } : { against: "pin", list: pin }
}

/** The server after `mcp.manifest_seen`. */
export const serverAfter = (before: McpServerDocument | null, body: JsonMap): McpServerDocument => {
  const seen: SeenList = { root: String(body["root"]), listing: String(body["listing_id"]) }
  const coverage = body["coverage"] === "partial" ? "partial" : "complete"
  const [trusted, lastSeenAt] = [body["trusted"] === true, String(body["seen_at"])]
  const agentId = String(body["agent_id"])
  const toolServer = typeof body["tool_server"] === "string" ? body["tool_server"] : null
  if (before === null)
    return {
      transport: String(body["transport"]) as McpTransport,
      addressDigest: String(body["address_digest"]),
      orgUnitDigest: typeof body["org_unit_digest"] === "string" ? body["org_unit_digest"] : null,
      agentId,
      toolServer,
      coverage,
      last: seen,
      tools: Number(body["tools"]),
      trusted,
      first: trusted ? seen : null,
      pins: [],
      firstSeenAt: lastSeenAt,
      lastSeenAt
    }
  // A part of a list says nothing of the tools that it lacks: what was seen whole stays.
  if (coverage === "partial" && before.coverage === "complete")
    return { ...before, agentId, toolServer, trusted, lastSeenAt }
  // The same list again has no digests of its own.
  const last = seen.root === before.last.root ? before.last : seen
  return {
    ...before,
    agentId,
    toolServer,
    coverage,
    last,
    tools: Number(body["tools"]),
    trusted,
    first: before.coverage === "partial" && trusted ? last : before.first,
    lastSeenAt
  }
}

/** The server after `mcp.pinned`. */
export const serverPinned = (before: McpServerDocument, body: JsonMap): McpServerDocument => {
  const pin: SeenList = { root: String(body["root"]), listing: String(body["listing_id"]) }
  const pins = [...before.pins.filter(({ root }) => root !== pin.root), pin].slice(-MAX_PINS)
  return { ...before, pins, trusted: pins.some(({ root }) => root === before.last.root) }
}

/** The finding of `mcp.manifest_changed`. */
export const findingOf = (body: JsonMap): McpFindingDocument => ({
  kind: "mcp_manifest_changed",
  serverId: String(body["server_id"]),
  agentId: String(body["agent_id"]),
  listing: String(body["listing_id"]),
  root: String(body["root"]),
  severity: String(body["severity"]),
  state: "open"
})

/** The finding after `finding.resolved`. */
export const findingResolved = (before: McpFindingDocument, body: JsonMap): McpFindingDocument => ({
  ...before,
  state: body["resolution"] === "approved" ? "approved" : "rejected"
})

const documentOf = (
  collection: string,
  id: string,
  body: McpServerDocument | McpFindingDocument
): ExpectedDocument => ({
  collection,
  id,
  body: body as unknown as JsonMap,
  unique: {},
  unknown: [],
  erased: [],
  personal: []
})

/** Folds `mcp.manifest_seen` and `mcp.pinned` into the server's document. */
export const foldMcpServer = (before: ExpectedDocument | null, { body, kind }: ReplayRecord): ExpectedDocument => {
  const known = (before?.body ?? null) as unknown as McpServerDocument | null
  return documentOf(
    MCP_SERVERS,
    String(body["server_id"]),
    kind === "mcp.pinned" && known !== null ? serverPinned(known, body) : serverAfter(known, body)
  )
}

/** Folds `mcp.manifest_changed` and `finding.resolved` into the finding's document. */
export const foldFinding = (before: ExpectedDocument | null, { body, kind }: ReplayRecord): ExpectedDocument =>
  documentOf(
    FINDINGS,
    String(body["finding_id"]),
    kind === "finding.resolved" && before !== null
      ? findingResolved(before.body as unknown as McpFindingDocument, body)
      : findingOf(body)
  )
