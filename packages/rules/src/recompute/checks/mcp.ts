/**
 * Recomputes what was recorded of tool servers: digests and root of each list, what it is to those before it, and each
 * finding. Spec: decision 0072.
 */
import { canonicalize, type Crypto, inOneGo, parseDecisionId } from "@flyball/evidence"
import type { Known } from "../../mcp/diff.ts"
import {
  digestsOut,
  type Manifest,
  type ManifestDigests,
  readDigests,
  readManifest,
  rootOf
} from "../../mcp/manifest.ts"
import { changesOut, placeList, type PlacedList } from "../../mcp/place.ts"
import {
  baselineOf,
  findingOf,
  findingResolved,
  type McpFindingDocument,
  type McpServerDocument,
  mcpServerId,
  serverAfter,
  serverPinned
} from "../../mcp/state.ts"
import { partMembers, partValue } from "../../records/part-json.ts"
import type { Json, JsonMap, ReplayRecord } from "../../records/record.ts"
import { problem, type Problem } from "../recompute-verdict.ts"

/** Most bytes of lists that are kept for later comparisons. The oldest are dropped. */
const MAX_KEPT_BYTES = 33_554_432

interface List {
  readonly seq: number
  readonly digests: ManifestDigests | null
  /** Null: erased. Undefined: not shown, or dropped. */
  manifest: Manifest | null | undefined
  bytes: number
}

/** The finding that the next record must be. */
interface Expected {
  readonly seq: number
  readonly body: JsonMap
  readonly placed: PlacedList
  /** True when severity and signals are known. */
  readonly isWhole: boolean
}

/** The tool servers of a chain up to a record. It grows with servers and their lists, and keeps the newest texts. */
export class McpJudge {
  readonly #sha256: Crypto["sha256"]
  readonly #fromGenesis: boolean
  readonly #orgUnitOf: (agentId: string) => string | null | undefined
  readonly #servers = new Map<string, McpServerDocument>()
  readonly #lists = new Map<string, List>()
  readonly #findings = new Map<string, McpFindingDocument>()
  /** Lists about which a finding is open. */
  readonly #found = new Set<string>()
  /** The tool server of each decision of kind `tool_list`, by its seq. */
  readonly #witnessed = new Map<number, Json | undefined>()
  /** The server and root of each listing that has digests. */
  readonly #listed = new Map<string, string>()
  #keptBytes = 0
  #expected: Expected | null = null
  /** The record before, where it may be a change that could not be judged, so that its finding may follow. */
  #unjudged: JsonMap | "any" | null = null
  /** The list that the next record must pin, and the finding that approved it. */
  #approved: { readonly findingId: string; readonly key: string } | null = null

  /** `orgUnitOf`: the digest of an agent's org unit by the records before; undefined: not known. */
  constructor(
    sha256: Crypto["sha256"],
    fromGenesis: boolean,
    orgUnitOf: (agentId: string) => string | null | undefined
  ) {
    this.#sha256 = sha256
    this.#fromGenesis = fromGenesis
    this.#orgUnitOf = orgUnitOf
  }

  /** Judges a record that matches the catalogue, and keeps it. */
  take(record: ReplayRecord): Problem | null {
    const [expected, approved, unjudged] = [this.#expected, this.#approved, this.#unjudged]
    this.forget()
    this.#unjudged = null
    const { body, kind, seq } = record
    const unpinned =
      approved === null || (kind === "mcp.pinned" && approved.key === keyOf(body))
        ? null
        : wrong(`${approved.findingId} is approved, and no pin of its list follows.`)
    if (kind === "decision.witnessed") {
      if (body["kind"] === "tool_list") this.#witnessed.set(seq, body["tool_server"])
      return unpinned ?? missing(expected)
    }
    if (kind === "mcp.manifest_changed") return unpinned ?? this.#changed(record, expected, unjudged)
    const own = this.#own(record)
    return unpinned ?? missing(expected) ?? own
  }

  #own(record: ReplayRecord): Problem | null {
    const { body, kind } = record
    if (kind === "mcp.manifest_seen") return this.#seen(record)
    if (kind === "mcp.pinned") return this.#pinned(body)
    if (kind === "finding.resolved") return this.#resolved(body)
    if (kind === "part.erased" && body["name"] === "manifest")
      for (const list of this.#lists.values()) if (list.seq === body["seq"]) list.manifest = null
    return null
  }

  /** Forgets what the next record must be: it cannot be read. */
  forget(): void {
    this.#expected = null
    this.#approved = null
    this.#unjudged = "any"
  }

  #seen({ body, parts, seq }: ReplayRecord): Problem | null {
    const id = String(body["server_id"])
    const coverage = body["coverage"] === "partial" ? "partial" : "complete"
    const server = this.#servers.get(id) ?? null
    const key = keyOf(body)
    const read = this.#read(body, parts)
    if (!("list" in read)) {
      this.#servers.set(id, serverAfter(server, body))
      return read
    }
    const { list } = read
    const known = list ?? this.#lists.get(key) ?? null
    if (list !== null) {
      this.#keep(key, { ...list, seq })
      this.#listed.set(String(body["listing_id"]), key)
    }
    const found = this.#reference(body) ?? this.#placed(server, known, { body, coverage, seq })
    this.#servers.set(id, serverAfter(server, body))
    return found
  }

  /** The list of a record, checked against its digests; null where it is the last one again. */
  #read(body: JsonMap, parts: ReplayRecord["parts"]): { readonly list: Omit<List, "seq"> | null } | Problem {
    const kept = partMembers(parts.get("mcp_digests"))
    if (kept.state === "absent") {
      if (body["state"] !== "unchanged") return wrong("The record has no digests, and its list is not the last again.")
      return { list: null }
    }
    const part = parts.get("manifest")
    const bytes = part?.state === "present" ? part.bytes : null
    const manifest = bytes === null ? undefined : inOneGo(readManifest(bytes, this.#sha256))
    const digests = kept.state === "known" ? readDigests(kept.members) : null
    if (kept.state === "known" && digests === null) return wrong("The part mcp_digests is not as a service writes it.")
    if (manifest !== undefined) {
      if (manifest.root !== body["root"]) return wrong(`The root of the list is ${manifest.root}.`)
      if ((manifest.unread ?? undefined) !== body["unread"]) return wrong(`Why it is not read: ${manifest.unread}.`)
      if (manifest.duplicates.length !== (body["duplicates"] ?? 0))
        return wrong(`The list has ${manifest.duplicates.length} names more than once.`)
      if (digests !== null && canonicalize(digestsOut(manifest.digests)) !== canonicalize(digestsOut(digests)))
        return wrong("The digests are not those of the list.")
    }
    const said = manifest?.digests ?? digests
    if (said !== null && body["unread"] === undefined) {
      if (rootOf(said, this.#sha256) !== body["root"]) return wrong("The root is not that of the digests.")
      if (said.tools.length !== body["tools"]) return wrong(`The list has ${said.tools.length} tools.`)
    }
    return { list: { digests: said, manifest, bytes: bytes?.length ?? 0 } }
  }

  #reference(body: JsonMap): Problem | null {
    const [agentId, listing, unit] = [String(body["agent_id"]), String(body["listing_id"]), body["org_unit_digest"]]
    const id = mcpServerId(
      String(body["transport"]),
      String(body["address_digest"]),
      typeof unit === "string" ? unit : null,
      this.#sha256
    )
    if (id !== body["server_id"]) return wrong(`The server of this address and org unit is ${id}.`)
    const known = this.#orgUnitOf(agentId)
    if (known !== undefined && known !== (unit ?? null))
      return problem("reference_mismatch", `${agentId} is of another org unit.`)
    const decision = listing.startsWith("dec_") ? parseDecisionId(listing) : null
    if (decision === null || !this.#fromGenesis) return null
    if (!this.#witnessed.has(decision.seq))
      return problem("reference_mismatch", `No record before it witnesses the list ${listing}.`)
    return this.#witnessed.get(decision.seq) === body["tool_server"]
      ? null
      : problem("reference_mismatch", `${listing} is about another tool server.`)
  }

  #placed(
    server: McpServerDocument | null,
    list: Omit<List, "seq"> | null,
    { body, coverage, seq }: { readonly body: JsonMap; readonly coverage: "complete" | "partial"; readonly seq: number }
  ): Problem | null {
    if (server === null && !this.#fromGenesis) return withheld("Earlier lists of the server are not shown.")
    const key = keyOf(body)
    const baseline = server === null ? null : this.#baseline(server)
    const digests = list?.digests ?? null
    if (digests === null || baseline === undefined) {
      this.#leave(body)
      return withheld("The digests of the list are not shown.")
    }
    const isUnread = body["unread"] !== undefined
    const manifest = list?.manifest ?? shell(digests, String(body["root"]), isUnread)
    const placed = inOneGo(placeList(server, baseline?.known ?? null, manifest, coverage, this.#found.has(key)))
    const isWhole = (list?.manifest !== undefined || isUnread) && baseline?.isWhole !== false
    if (placed.state !== body["state"]) return wrong(`The list is ${placed.state} to those before it.`)
    if (placed.state === "first" && !isWhole) {
      this.#leave(body)
      return withheld("The texts of the list are not shown.")
    }
    if (placed.trusted !== body["trusted"])
      return wrong(`The list ${placed.trusted ? "counts" : "does not count"} as approved.`)
    if (placed.diff !== null) {
      this.#found.add(key)
      this.#expected = { seq, body, placed, isWhole }
    }
    return null
  }

  /** Leaves a list unjudged. A finding may follow where it does not count as approved, and none is open. */
  #leave(body: JsonMap): void {
    const isNew = body["state"] === "first" || body["state"] === "changed"
    if (isNew && body["trusted"] === false && !this.#found.has(keyOf(body))) this.#unjudged = body
  }

  /** The list that a new one is compared with; undefined where it is not known. */
  #baseline(server: McpServerDocument): { readonly known: Known; readonly isWhole: boolean } | undefined {
    const { root } = baselineOf(server).list
    const id = mcpServerId(server.transport, server.addressDigest, server.orgUnitDigest, this.#sha256)
    const list = this.#lists.get(`${id} ${root}`)
    if (list === undefined || list.digests === null) return undefined
    return {
      known: { digests: list.digests, manifest: list.manifest ?? null },
      isWhole: list.manifest !== undefined
    }
  }

  #changed({ body, parts }: ReplayRecord, expected: Expected | null, unjudged: JsonMap | "any" | null): Problem | null {
    const id = String(body["finding_id"])
    this.#found.add(keyOf(body))
    if (this.#findings.has(id)) return problem("reference_mismatch", `${id} was given before.`)
    this.#findings.set(id, findingOf(body))
    const seen = expected?.body ?? unjudged
    if (seen === null && this.#fromGenesis) return wrong("The list before it is no change.")
    if (seen !== null && seen !== "any")
      for (const member of ["agent_id", "listing_id", "root", "server_id", "writer"])
        if (body[member] !== seen[member]) return wrong(`${member} is that of another list.`)
    if (expected === null) return withheld("The list before it is not judged.")
    const { placed } = expected
    const said = {
      against: placed.against,
      before_root: placed.beforeRoot ?? undefined,
      tools: placed.diff!.tools,
      layers: placed.diff!.layers.join(" "),
      ...(expected.isWhole ? { severity: placed.diff!.severity } : {})
    }
    for (const [member, value] of Object.entries(said)) {
      const recorded = member === "layers" ? (body["layers"] as ReadonlyArray<string>).join(" ") : body[member]
      if (recorded !== value) return wrong(`${member} is ${String(value)}; the record says ${String(recorded)}.`)
    }
    if (!expected.isWhole) return withheld("The texts of the lists are not shown.")
    const part = partValue(parts.get("mcp_changes"))
    if (part.state !== "known") return withheld("The changes are not shown.")
    return canonicalize(part.value) === canonicalize(changesOut(placed.diff!) as Json)
      ? null
      : wrong("The changes are not those of the lists.")
  }

  #pinned(body: JsonMap): Problem | null {
    const id = String(body["server_id"])
    const server = this.#servers.get(id)
    if (server === undefined)
      return this.#fromGenesis ? problem("reference_mismatch", `No record before it has a list of ${id}.`) : null
    this.#servers.set(id, serverPinned(server, body))
    if (server.pins.at(-1)?.root === body["root"]) return wrong("The list is the newest pinned one already.")
    const listing = String(body["listing_id"])
    return this.#listed.get(listing) === keyOf(body) || !this.#fromGenesis
      ? null
      : problem(
          "reference_mismatch",
          `No record before it has the list ${String(body["root"])} of ${id} as ${listing}.`
        )
  }

  #resolved(body: JsonMap): Problem | null {
    const id = String(body["finding_id"])
    const finding = this.#findings.get(id)
    if (finding === undefined)
      return this.#fromGenesis ? problem("reference_mismatch", `No record before it is the finding ${id}.`) : null
    this.#findings.set(id, findingResolved(finding, body))
    this.#found.delete(`${finding.serverId} ${finding.root}`)
    const isPinned = this.#servers.get(finding.serverId)?.pins.at(-1)?.root === finding.root
    if (body["resolution"] === "approved" && !isPinned)
      this.#approved = { findingId: id, key: `${finding.serverId} ${finding.root}` }
    return finding.state === "open" ? null : problem("ended_twice", `${id} was resolved before.`)
  }

  #keep(key: string, list: List): void {
    this.#lists.delete(key)
    this.#lists.set(key, list)
    this.#keptBytes += list.bytes
    for (const one of this.#lists.values()) {
      if (this.#keptBytes <= MAX_KEPT_BYTES) return
      this.#keptBytes -= one.bytes
      one.bytes = 0
      if (one.manifest !== null) one.manifest = undefined
    }
  }
}

/** Names a list among those of all servers. */
const keyOf = (body: JsonMap): string => `${String(body["server_id"])} ${String(body["root"])}`

/** A list of which only the digests are known. */
const shell = (digests: ManifestDigests, root: string, isUnread: boolean): Manifest => ({
  digests,
  root,
  duplicates: [],
  values: new Map(),
  instructions: "",
  unread: isUnread ? "shape" : null
})

const missing = (expected: Expected | null): Problem | null =>
  expected === null ? null : wrong(`The list at ${expected.seq} is a change, and no finding follows it.`)

const wrong = (reason: string): Problem => problem("manifest_mismatch", reason)
const withheld = (reason: string): Problem => problem("withheld", reason)
