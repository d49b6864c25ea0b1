/** Rows of the catalogue: lists of tools of MCP servers, and findings. */
import type { BodyOf } from "./body-type.ts"
import {
  agentId,
  choice,
  count,
  foreignName,
  hash,
  id,
  instant,
  keptPart,
  type KindRow,
  may,
  MIB,
  must,
  name,
  orgUnitDigest,
  part,
  writer
} from "./row.ts"

const serverId = must("server_id", id("mcs_"))
const listingId = must("listing_id", name(64))
const root = must("root", hash)
const tools = must("tools", { type: "integer", min: 0, max: 10_000 })

const seen = [
  must("address_digest", hash),
  agentId,
  must("coverage", choice("complete", "partial")),
  may("duplicates", count),
  listingId,
  orgUnitDigest,
  root,
  must("seen_at", instant),
  serverId,
  must("state", choice("first", "unchanged", "known", "changed")),
  may("tool_server", foreignName(200)),
  tools,
  must("transport", choice("stdio", "http", "named")),
  must("trusted", { type: "boolean" }),
  may("unread", choice("shape", "too_large", "too_many_tools", "too_deep", "inexact")),
  writer
] as const

const changed = [
  must("against", choice("pin", "seen", "first_seen")),
  agentId,
  may("before_root", hash),
  must("finding_id", id("fnd_")),
  must("layers", { type: "list", of: choice("text", "contract", "hints", "decoration"), min: 0, max: 4 }),
  listingId,
  root,
  serverId,
  must("severity", choice("high", "medium", "low")),
  must("tools", { type: "integer", min: 1, max: 20_001 }),
  writer
] as const

const pinned = [listingId, root, serverId, writer] as const

const resolved = [
  may("agent_id", id("agt_")),
  must("finding_id", id("fnd_")),
  must("resolution", choice("approved", "rejected")),
  writer
] as const

/** The body of `mcp.manifest_seen`. */
export type ManifestSeenBody = BodyOf<typeof seen>
/** The body of `mcp.manifest_changed`. */
export type ManifestChangedBody = BodyOf<typeof changed>

/** The rows, in the order of the specification's table. */
export const mcpKinds: ReadonlyArray<KindRow> = [
  {
    kind: "mcp.manifest_seen",
    about:
      "An agent saw a list of tools, or a person sent one. `listing_id` is the decision that witnessed it, or an id " +
      "of its own. `server_id` is SHA-256 over transport, address digest and org unit digest, its first 16 bytes. " +
      "`root` is the RFC 6962 root over the digests of the tools; `trusted`: whether the list counts as approved. " +
      "The parts are absent where the list is the last one again.",
    body: seen,
    parts: [
      part("manifest", 2 * MIB, "`{instructions?, tools}`: the list as it was sent"),
      keptPart(
        "mcp_digests",
        4 * MIB,
        "`{server, tools: [[name, text, contract, hints, decoration]]}`; **kept**: names and digests only"
      )
    ]
  },
  {
    kind: "mcp.manifest_changed",
    about:
      "A list differs from the one that counts as approved, or a first list has signals of poisoning. It is in the " +
      "same commit, behind the list's record. `tools` changed, in `layers`.",
    body: changed,
    parts: [
      keptPart(
        "mcp_changes",
        4 * MIB,
        "`[{after, before, change, layers, renamed_from?, severity, signals: [{end, path, rule, start}], tool}]`, " +
          "500 at most; **kept**: names, places and digests only"
      ),
      part("texts", MIB, "`[{added, path, removed, tool}]`, 100 at most; hidden characters are written out")
    ]
  },
  {
    kind: "mcp.pinned",
    about: "A person approved a list of a server: another one is a change.",
    body: pinned,
    parts: []
  },
  {
    kind: "finding.resolved",
    about: "A person approved or rejected what a finding names.",
    body: resolved,
    parts: [part("reason", 8_192, "a JSON string: the reason that a person gave")]
  }
]
