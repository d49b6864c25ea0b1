/**
 * Tool servers: their lists, calls of their tools, and findings. Spec: document 1 section 4, GET /fairness/mcp-screen;
 * decision 0072.
 */
import {
  type AgentNotFound,
  detailItem,
  FindingNotFound,
  FindingResolved,
  type FindingResolveIn,
  InvalidInput,
  isId,
  type McpFinding,
  type McpManifestIn,
  type McpPinIn,
  type McpScreenOut,
  type McpScreenQuery,
  type McpServer,
  McpServerNotFound
} from "@flyball/contract"
import {
  canonicalBytes,
  formatInstant,
  type ManifestChangedBody,
  mcpAddressDigest,
  parseInstant,
  readRecord
} from "@flyball/evidence"
import {
  FINDINGS,
  findingResolved,
  type JsonMap,
  MCP_SERVERS,
  type McpFindingDocument,
  type McpServerDocument,
  orgUnitDigest,
  partValue,
  serverPinned,
  shownText
} from "@flyball/rules"
import { Context, Effect, Layer } from "effect"
import { Chain } from "../../chain/chain.ts"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { newId, recordHash } from "../../foundation/ids.ts"
import { everyUnit, type Scope } from "../../foundation/scope.ts"
import type { Writer } from "../../foundation/writer.ts"
import { readAgent } from "../../registry/agents/read-agent.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import {
  type ChangeSet,
  type Document,
  type ReadFault,
  Storage,
  type StorageApi,
  type StoredRecord
} from "../../storage/port.ts"
import { ToolLists } from "../../verdicts/capture/tool-lists.ts"
import { countCalls, type ToolCalls } from "./calls.ts"
import { manifestBytes, namedAddress, readList, recordList, recordWitnessed } from "./lists.ts"
import { similarNames } from "./similar-names.ts"
import { FINDING_SCOPE, findingKeys } from "./plan-record-list.ts"

/** Servers and findings that one answer lists at most, and servers whose lists are compared with calls. */
const MAX_SERVERS = 1_000
const MAX_FINDINGS = 200
/** Findings that are read at a time: a caller sees those of its org units alone. */
const PAGE = 500
const MAX_LISTS = 200

/** Operations on tool servers. What lies outside `scope` is answered as not found. Spec: decision 0072. */
export interface ToolServersApi {
  readonly screen: (query?: McpScreenQuery, scope?: Scope) => Effect.Effect<McpScreenOut, ReadFault>
  readonly server: (id: string, scope?: Scope) => Effect.Effect<McpServer, McpServerNotFound | ReadFault>
  /** A finding, without the calls that were exposed to it. */
  readonly finding: (id: string, scope?: Scope) => Effect.Effect<McpFinding, FindingNotFound | ReadFault>
  /** The tools that a server listed last, by its id or the name that clients give it; null where there is no list. */
  readonly tools: (named: string) => Effect.Effect<ReadonlyArray<JsonMap> | null, ReadFault>
  /** Records a list that a person sends. */
  readonly upload: (
    input: McpManifestIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<McpServer, AgentNotFound | InvalidInput | ReadFault>
  /** Approves a whole list that was seen. The newest pinned one again changes nothing. */
  readonly pin: (
    input: McpPinIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<McpServer, InvalidInput | McpServerNotFound | ReadFault>
  /** Resolves a finding, once. `approved` pins its list in the same commit. */
  readonly resolve: (
    findingId: string,
    input: FindingResolveIn,
    writer: Writer,
    scope?: Scope
  ) => Effect.Effect<McpFinding, FindingNotFound | FindingResolved | InvalidInput | ReadFault>
}

/** Witnessed lists of tools become records of their servers. */
export const toolListSteps: Layer.Layer<never, never, Storage> = Layer.effect(
  ToolLists,
  Effect.map(Storage, (storage) => ({ witnessed: (list, writer) => recordWitnessed(storage, list, writer) }))
)

/** The newest findings about these servers, one more than are shown where there are more. */
const findingsOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  servers: ReadonlySet<string>
): Effect.fn.Return<ReadonlyArray<Document>, ReadFault> {
  const found: Array<Document> = []
  for (let before = "~"; found.length <= MAX_FINDINGS;) {
    const page = yield* storage.range(FINDINGS, "every", { before, limit: PAGE, order: "desc" })
    found.push(...page.filter(({ body }) => servers.has((body as McpFindingDocument).serverId)))
    if (page.length < PAGE) break
    before = page.at(-1)!.id
  }
  return found
})

/** Service of tool servers. Spec: document 1 section 4, GET /fairness/mcp-screen; decision 0072. */
export class ToolServers extends Context.Service<ToolServers, ToolServersApi>()("flyball/core/ToolServers") {
  static readonly layer: Layer.Layer<ToolServers, never, Storage | Chain> = Layer.effect(
    ToolServers,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { originTag } = yield* Chain
      const crypto = yield* EvidenceCrypto

      /** Reports whether an org unit, by its digest, is in a scope. */
      const coversUnit = ({ orgUnits }: Scope): ((unit: string | null) => boolean) => {
        if (orgUnits === "*") return () => true
        const digests = new Set(orgUnits.map((one) => orgUnitDigest(originTag, one)))
        return (unit) => unit !== null && digests.has(unit)
      }

      const serverInScope = Effect.fnUntraced(function* (id: string, scope: Scope) {
        const document = isId("mcpServer", id) ? yield* storage.get(MCP_SERVERS, id) : null
        const body = document?.body as McpServerDocument | undefined
        return document === null || body === undefined || !coversUnit(scope)(body.orgUnitDigest)
          ? null
          : { id, version: document.version, body }
      })

      const findingInScope = Effect.fnUntraced(function* (findingId: string, scope: Scope) {
        const document = isId("finding", findingId) ? yield* storage.get(FINDINGS, findingId) : null
        const body = document?.body as McpFindingDocument | undefined
        const server = body === undefined ? null : yield* serverInScope(body.serverId, scope)
        return document === null || body === undefined || server === null
          ? yield* new FindingNotFound({ findingId })
          : { body, server, version: document.version }
      })

      const answered = Effect.fnUntraced(function* (id: string): Effect.fn.Return<McpServer, ReadFault> {
        const server = yield* serverInScope(id, everyUnit)
        return serverOut(id, server!.body, (yield* storage.asOf).ms)
      })

      /** The change that pins a list of a server. Null: it is pinned already. Fails: for what is no whole list. */
      const pinning = Effect.fnUntraced(function* (
        server: { readonly id: string; readonly version: number; readonly body: McpServerDocument },
        root: string,
        writer: Writer,
        loc: ReadonlyArray<string>
      ): Effect.fn.Return<ChangeSet | null, InvalidInput | ReadFault> {
        const { coverage, first, last, pins } = server.body
        if (pins.at(-1)?.root === root) return null
        const refused = (msg: string) => new InvalidInput({ detail: [detailItem(loc, "value_error", msg, root)] })
        const [found] = yield* storage.find(FINDINGS, "list", `${server.id} ${root}`)
        const finding = found?.body as McpFindingDocument | undefined
        const listing =
          [last, ...pins, ...(first === null ? [] : [first])].find((one) => one.root === root)?.listing ??
          finding?.listing
        if (listing === undefined) return yield* refused("This list of the server was not seen")
        if (coverage === "partial" && root === last.root)
          return yield* refused("Only a part of the server's list was seen")
        if ((yield* readList(storage, crypto, listing)).digests.server === "")
          return yield* refused("This list cannot be read, so that nobody can approve it")
        const body = { listing_id: listing, root, server_id: server.id, writer: writer.id }
        return {
          records: [{ kind: "mcp.pinned", agentId: null, body, parts: [] }],
          puts: [
            {
              collection: MCP_SERVERS,
              id: server.id,
              expectedVersion: server.version,
              body: serverPinned(server.body, body)
            }
          ]
        }
      })

      const findingOut = Effect.fnUntraced(function* (
        id: string,
        { state }: McpFindingDocument,
        exposed: (changed: ReadonlyArray<string | null>, since: number) => Exposed
      ): Effect.fn.Return<McpFinding, ReadFault> {
        const { body, record } = yield* findingRecord(storage, id)
        const parts = yield* storage.parts([record.seq])
        const partOf = (name: string): unknown => {
          const bytes = parts.find((one) => one.name === name)?.bytes ?? null
          const read = bytes === null ? null : partValue({ state: "present", bytes })
          return read?.state === "known" ? read.value : null
        }
        const changes = ((partOf("mcp_changes") ?? []) as ReadonlyArray<JsonMap>).map(changeOut)
        const texts = partOf("texts") as McpFinding["texts"]
        const { agents, calls } = exposed(
          changes.map(({ tool }) => tool),
          record.seq
        )
        return {
          id,
          kind: "mcp_manifest_changed",
          severity: body.severity,
          state,
          server_id: body.server_id,
          agent_id: body.agent_id,
          against: body.against,
          before_digest: body.before_root === undefined ? null : `sha256:${body.before_root}`,
          manifest_digest: `sha256:${body.root}`,
          tools: body.tools,
          changes,
          texts: texts?.map((one) => ({ ...one, tool: shownOrNull(one.tool) })) ?? null,
          owasp: changes.some(({ signals }) => signals.length > 0) ? ["MCP03"] : ["MCP04"],
          calls_since_change: calls,
          agents_exposed: agents,
          first_seen: formatInstant(record.atMs),
          seq: record.seq,
          record_hash: recordHash(record.hash)
        }
      })

      const screen: ToolServersApi["screen"] = Effect.fnUntraced(function* (query = {}, scope = everyUnit) {
        const { ms: nowMs } = yield* storage.asOf
        const isIn = coversUnit(scope)
        const head = yield* storage.head
        const to = Math.min(head?.seq ?? -1, (query.before ?? Number.MAX_SAFE_INTEGER) - 1)
        const { byTool, fromSeq } = yield* countCalls(storage, to, isIn)
        const listed = yield* storage.list(MCP_SERVERS, { limit: MAX_SERVERS })
        const servers = listed
          .map(({ body, id }) => ({ id, body: body as McpServerDocument }))
          .filter(({ body }) => isIn(body.orgUnitDigest))
        // Of two servers of one name in an org unit, the one that was seen last.
        const byName = new Map<string, string>()
        for (const { body, id } of servers.toSorted((a, b) => (a.body.lastSeenAt < b.body.lastSeenAt ? -1 : 1)))
          byName.set(JSON.stringify([body.orgUnitDigest, body.toolServer]), id)
        const lists = new Map<string, ReadonlySet<string>>()
        for (const { body, id } of servers.slice(0, MAX_LISTS)) {
          const { digests } = yield* readList(storage, crypto, body.last.listing)
          lists.set(id, new Set(digests.tools.map(({ name }) => name)))
        }
        const serverOf = ({ orgUnitDigest: unit, toolServer }: ToolCalls): string | null =>
          byName.get(JSON.stringify([unit, toolServer])) ?? null
        const found = yield* findingsOf(storage, new Set(servers.map(({ id }) => id)))
        const shown = yield* Effect.forEach(found.slice(0, MAX_FINDINGS), ({ body, id }) => {
          const finding = body as McpFindingDocument
          return findingOut(id, finding, (changed, since) =>
            exposure(
              byTool.filter((one) => serverOf(one) === finding.serverId && isAmong(changed, one.tool)),
              since
            )
          )
        })
        const newest = shown.toSorted((a, b) => b.seq - a.seq)
        const open = shown.filter(({ state }) => state === "open")
        const count = (severity: McpFinding["severity"]) => open.filter((one) => one.severity === severity).length
        return {
          generated_at: formatInstant(nowMs),
          chain_head: { seq: head?.seq ?? -1, record_hash: head === null ? null : recordHash(head.hash) },
          scope: {
            from_seq: fromSeq,
            to_seq: to,
            truncated: listed.length === MAX_SERVERS || found.length > MAX_FINDINGS || servers.length > MAX_LISTS
          },
          servers: servers.map(({ body, id }) => serverOut(id, body, nowMs)),
          tool_calls: byTool.map((one) => callsOut(one, serverOf(one), servers, lists)),
          findings: newest,
          similar_names: similarNames(
            [...lists].flatMap(([id, names]) => [...names].map((tool) => ({ server_id: id, tool: shownText(tool) })))
          ),
          totals: {
            open: open.length,
            by_severity: { high: count("high"), medium: count("medium"), low: count("low") }
          }
        }
      })

      const tools: ToolServersApi["tools"] = Effect.fnUntraced(function* (named) {
        const listed = yield* storage.list(MCP_SERVERS, { limit: MAX_SERVERS })
        const [server] = listed
          .map(({ body, id }) => ({ id, body: body as McpServerDocument }))
          .filter(({ body, id }) => id === named || body.toolServer === named)
          .toSorted((a, b) => (a.body.lastSeenAt > b.body.lastSeenAt ? -1 : 1))
        const { manifest = null } =
          server === undefined ? {} : yield* readList(storage, crypto, server.body.last.listing)
        return manifest === null ? null : [...manifest.values.values()]
      })

      const upload: ToolServersApi["upload"] = Effect.fnUntraced(function* (input, writer, scope = everyUnit) {
        const { address = null, agent_id: agentId, command = null, tool_server: toolServer = null } = input
        yield* readAgent(storage, agentId, scope)
        if (address !== null && command !== null)
          return yield* new InvalidInput({
            detail: [detailItem(["body", "command"], "value_error", "Expected an address or a command, not both")]
          })
        const id = yield* recordList(
          storage,
          {
            ...(address !== null
              ? { transport: "http", addressDigest: mcpAddressDigest(address), toolServer }
              : command !== null
                ? { transport: "stdio", addressDigest: mcpAddressDigest(command), toolServer }
                : namedAddress(toolServer, agentId)),
            listingId: yield* newId("mls"),
            agentId,
            coverage: "complete",
            bytes: manifestBytes(input.manifest, (input.manifest as JsonMap | null)?.["instructions"])
          },
          writer
        )
        return yield* answered(id!)
      })

      const pin: ToolServersApi["pin"] = (input, writer, scope = everyUnit) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const server = yield* serverInScope(input.server_id, scope)
            if (server === null) return yield* new McpServerNotFound({ serverId: input.server_id })
            const root = input.manifest_digest.slice("sha256:".length)
            const change = yield* pinning(server, root, writer, ["body", "manifest_digest"])
            if (change !== null) yield* storage.commit(change)
            return yield* answered(server.id)
          }),
          { collection: MCP_SERVERS, id: input.server_id }
        )

      const resolve: ToolServersApi["resolve"] = (
        findingId,
        { reason = null, resolution },
        writer,
        scope = everyUnit
      ) =>
        commitWithRetry(
          storage,
          Effect.gen(function* () {
            const { body: finding, server, version } = yield* findingInScope(findingId, scope)
            if (finding.state !== "open") return yield* new FindingResolved()
            const pinned =
              resolution === "approved" ? yield* pinning(server, finding.root, writer, ["body", "resolution"]) : null
            const body = { agent_id: finding.agentId, finding_id: findingId, resolution, writer: writer.id }
            const resolved = findingResolved(finding, body)
            yield* storage.commit({
              records: [
                {
                  kind: "finding.resolved",
                  agentId: finding.agentId,
                  body,
                  parts: reason === null ? [] : [{ name: "reason", bytes: canonicalBytes(reason) }]
                },
                ...(pinned?.records ?? [])
              ],
              puts: [
                {
                  collection: FINDINGS,
                  id: findingId,
                  expectedVersion: version,
                  body: resolved,
                  keys: findingKeys(findingId, finding.serverId, finding.root)
                },
                ...(pinned?.puts ?? [])
              ]
            })
            return yield* findingOut(findingId, resolved, () => ({ agents: [], calls: 0 }))
          }),
          { collection: FINDINGS, id: findingId }
        )

      const server: ToolServersApi["server"] = Effect.fnUntraced(function* (id, scope = everyUnit) {
        const found = yield* serverInScope(id, scope)
        return found === null ? yield* new McpServerNotFound({ serverId: id }) : yield* answered(id)
      })

      const finding: ToolServersApi["finding"] = Effect.fnUntraced(function* (id, scope = everyUnit) {
        const { body } = yield* findingInScope(id, scope)
        return yield* findingOut(id, body, () => ({ agents: [], calls: 0 }))
      })

      return ToolServers.of({ screen, server, tools, finding, upload, pin, resolve })
    })
  )
}

/** Agents and calls after a change. */
interface Exposed {
  readonly agents: ReadonlyArray<string>
  readonly calls: number
}

const exposure = (calls: ReadonlyArray<ToolCalls>, since: number): Exposed => {
  const after = calls.flatMap((one) => one.calls.filter(({ seq }) => seq > since))
  return { agents: [...new Set(after.map(({ agentId }) => agentId))].slice(0, 100), calls: after.length }
}

/** Reports whether a tool is among those that changed; all are where the list itself did. */
const isAmong = (changed: ReadonlyArray<string | null>, tool: string): boolean =>
  changed.includes(null) || changed.includes(shownText(tool))

const shownOrNull = (text: unknown): string | null => (typeof text === "string" ? shownText(text) : null)

const changeOut = (one: JsonMap): McpFinding["changes"][number] => ({
  tool: shownOrNull(one["tool"]),
  renamed_from: shownOrNull(one["renamed_from"]),
  change: one["change"] as McpFinding["changes"][number]["change"],
  layers: one["layers"] as McpFinding["changes"][number]["layers"],
  severity: one["severity"] as McpFinding["severity"],
  before: typeof one["before"] === "string" ? `sha256:${one["before"]}` : null,
  after: typeof one["after"] === "string" ? `sha256:${one["after"]}` : null,
  signals: (one["signals"] as McpFinding["changes"][number]["signals"]).map((signal) => ({
    ...signal,
    path: shownText(signal.path)
  }))
})

const serverOut = (id: string, body: McpServerDocument, nowMs: number): McpServer => ({
  id,
  transport: body.transport,
  address_digest: `sha256:${body.addressDigest}`,
  tool_server: body.toolServer,
  agent_id: body.agentId,
  coverage: body.coverage,
  tools: body.tools,
  manifest_digest: `sha256:${body.last.root}`,
  pinned_digest: body.pins.length === 0 ? null : `sha256:${body.pins.at(-1)!.root}`,
  state: !body.trusted ? "changed" : body.pins.length > 0 ? "pinned" : "first_seen",
  first_seen: body.firstSeenAt,
  last_seen: body.lastSeenAt,
  age_ms: Math.max(0, nowMs - (parseInstant(body.lastSeenAt) ?? nowMs))
})

const callsOut = (
  { agents, calls, tool, toolServer }: ToolCalls,
  serverId: string | null,
  servers: ReadonlyArray<{ readonly id: string; readonly body: McpServerDocument }>,
  lists: ReadonlyMap<string, ReadonlySet<string>>
): McpScreenOut["tool_calls"][number] => {
  const server = servers.find(({ id }) => id === serverId)
  const names = serverId === null ? undefined : lists.get(serverId)
  return {
    server_id: serverId,
    tool_server: toolServer,
    tool: shownText(tool),
    calls: calls.length,
    agents: [...agents],
    first_seq: calls.at(-1)!.seq,
    last_seq: calls[0]!.seq,
    manifest_digest: server === undefined ? null : `sha256:${server.body.last.root}`,
    unmanifested: serverId === null || names?.has(tool) === false ? calls.length : 0
  }
}

const findingRecord = Effect.fnUntraced(function* (
  storage: StorageApi,
  id: string
): Effect.fn.Return<{ readonly record: StoredRecord; readonly body: ManifestChangedBody }, ReadFault> {
  const [taken] = yield* storage.once(FINDING_SCOPE, [id])
  const record = taken === undefined ? null : yield* storage.record(taken.seq)
  const read = record === null ? null : readRecord(record.bytes)
  if (record === null || read === null || !read.ok)
    return yield* new StorageCorrupt({ reason: `the record of the finding ${id} cannot be read` })
  return { record, body: read.record.body as unknown as ManifestChangedBody }
})
