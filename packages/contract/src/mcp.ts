/**
 * Tool servers as they travel: lists of tools that agents saw, what changed in them, and calls. Spec: document 1
 * section 4, GET /fairness/mcp-screen; decision 0072.
 */
import { findingSeverities, mcpChanges, mcpLayers, mcpSignals, mcpTransports } from "@flyball/evidence/words"
import { Schema } from "effect"
import {
  anyJson,
  foreignName,
  id,
  instant,
  integerParam,
  line,
  list,
  oneOf,
  optional,
  patterned,
  reason
} from "./foundation/fields.ts"
import type { Info, Input } from "./foundation/plain.ts"

export { findingSeverities, mcpChanges, mcpLayers, mcpSignals, mcpTransports }

/** Baselines that a changed list is compared with. */
export const mcpBaselines = ["pin", "seen", "first_seen"] as const
/** Answers of people to a finding. */
export const findingResolutions = ["approved", "rejected"] as const
/** States of a finding. */
export const findingStates = ["open", ...findingResolutions] as const
/** States of a server by its last list: pinned, the first that was seen, or another one. */
export const mcpServerStates = ["pinned", "first_seen", "changed"] as const
/** Coverages of a list: all that its server lists, or a part. */
export const mcpCoverages = ["complete", "partial"] as const

const digest = patterned(/^sha256:[0-9a-f]{64}$/, 71)

/** Body of POST /fairness/mcp-manifests: what a server answered to `tools/list`. Spec: decision 0072. */
export const McpManifestIn = Schema.Struct({
  /** An agent of the org unit that uses the server. */
  agent_id: id("agent"),
  /** The name that clients give the server. */
  tool_server: optional(foreignName(200)),
  /** Origin and path of a server that is reached over HTTP. */
  address: optional(patterned(/^https?:\/\/[^\s?#@]+$/, 2_000)),
  /** The command and its arguments, of a server on stdio. Only their digest is recorded. */
  command: optional(list(line(4_000), 1, 256)),
  /**
   * The result of `tools/list`, all pages together: `{tools: […]}`. The server's `instructions`, of its answer to
   * `initialize`, may stand beside.
   */
  manifest: anyJson
})
export type McpManifestIn = typeof McpManifestIn.Type

/** A list of tools to be recorded. */
export interface McpManifestInput extends Input<typeof McpManifestIn> {}

/** Body of POST /fairness/mcp-pins. */
export const McpPinIn = Schema.Struct({ server_id: id("mcpServer"), manifest_digest: digest })
export type McpPinIn = typeof McpPinIn.Type

/** A list to be approved. */
export interface McpPinInput extends Input<typeof McpPinIn> {}

/** Body of POST /fairness/findings/{finding_id}/resolve. `approved` pins the list. */
export const FindingResolveIn = Schema.Struct({
  resolution: oneOf(findingResolutions),
  reason: optional(reason(2_000))
})
export type FindingResolveIn = typeof FindingResolveIn.Type

/** A person's answer to a finding. */
export interface FindingResolveInput extends Input<typeof FindingResolveIn> {}

/** Query of GET /fairness/mcp-screen. */
export const McpScreenQuery = Schema.Struct({
  /** Counts calls before this seq: the `from_seq` of the answer before. */
  before: Schema.optionalKey(integerParam())
})
export type McpScreenQuery = typeof McpScreenQuery.Type

const count = Schema.Int
const nullable = Schema.NullOr(Schema.String)

/** A tool server of an org unit. */
export const McpServer = Schema.Struct({
  id: Schema.String,
  transport: oneOf(mcpTransports),
  address_digest: Schema.String,
  tool_server: nullable,
  /** The agent that saw the last list. */
  agent_id: Schema.String,
  coverage: oneOf(mcpCoverages),
  tools: count,
  /** Of the last list. */
  manifest_digest: Schema.String,
  /** The newest list that a person approved. */
  pinned_digest: nullable,
  /** `first_seen`: nobody approved the list; it is trusted because it was the first. */
  state: oneOf(mcpServerStates),
  first_seen: instant,
  last_seen: instant,
  /** Time since the last list was seen. */
  age_ms: count
})
export type McpServer = typeof McpServer.Type

/** A tool server. */
export interface McpServerInfo extends Info<typeof McpServer> {}

const Change = Schema.Struct({
  /** Null: the instructions of the server, or the whole list. Hidden characters are written out. */
  tool: nullable,
  renamed_from: nullable,
  change: oneOf(mcpChanges),
  layers: Schema.Array(oneOf(mcpLayers)),
  severity: oneOf(findingSeverities),
  before: nullable,
  after: nullable,
  /** Offsets count code points of the text at `path`. */
  signals: Schema.Array(Schema.Struct({ rule: oneOf(mcpSignals), path: Schema.String, start: count, end: count }))
})

/** A finding about a list of tools. */
export const McpFinding = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literal("mcp_manifest_changed"),
  severity: oneOf(findingSeverities),
  state: oneOf(findingStates),
  server_id: Schema.String,
  /** The agent that saw the list first. */
  agent_id: Schema.String,
  against: oneOf(mcpBaselines),
  before_digest: nullable,
  manifest_digest: Schema.String,
  /** How many tools changed; `changes` lists up to 500, the gravest first. */
  tools: count,
  changes: Schema.Array(Change),
  /** Null once they were erased. Hidden characters are written out. */
  texts: Schema.NullOr(
    Schema.Array(Schema.Struct({ tool: nullable, path: Schema.String, added: Schema.String, removed: Schema.String }))
  ),
  owasp: Schema.Array(Schema.String),
  /** Calls of the changed tools since, among the calls that are counted, and their agents. */
  calls_since_change: count,
  agents_exposed: Schema.Array(Schema.String),
  first_seen: instant,
  seq: count,
  record_hash: Schema.String
})
export type McpFinding = typeof McpFinding.Type

/** A finding about a list of tools. */
export interface McpFindingInfo extends Info<typeof McpFinding> {}

/** Answer of GET /fairness/mcp-screen. */
export const McpScreenOut = Schema.Struct({
  generated_at: instant,
  chain_head: Schema.Struct({ seq: count, record_hash: nullable }),
  /** The records whose calls are counted. `truncated`: there are more servers or findings than are listed. */
  scope: Schema.Struct({ from_seq: count, to_seq: count, truncated: Schema.Boolean }),
  servers: Schema.Array(McpServer),
  tool_calls: Schema.Array(
    Schema.Struct({
      /** Null: no list of such a server was seen in the org unit. */
      server_id: nullable,
      tool_server: nullable,
      tool: Schema.String,
      calls: count,
      /** At most 100. */
      agents: Schema.Array(Schema.String),
      first_seq: count,
      last_seq: count,
      manifest_digest: nullable,
      /** Calls of a tool that the last list of the server does not have. */
      unmanifested: count
    })
  ),
  findings: Schema.Array(McpFinding),
  /** Names that tools of several servers of an org unit have, or names that a reader takes for one. */
  similar_names: Schema.Array(
    Schema.Struct({ tools: Schema.Array(Schema.Struct({ server_id: Schema.String, tool: Schema.String })) })
  ),
  totals: Schema.Struct({
    open: count,
    by_severity: Schema.Struct({ high: count, medium: count, low: count })
  })
})
export type McpScreenOut = typeof McpScreenOut.Type

/** Tool servers, the calls of their tools, and findings. */
export interface McpScreenInfo extends Info<typeof McpScreenOut> {}
