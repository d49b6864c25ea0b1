/** Records lists of tools: those that decisions witness, and those that people send. Spec: decision 0072. */
import {
  canonicalBytes,
  type Crypto,
  formatInstant,
  mcpAddressDigest,
  NotCanonical,
  RawJson,
  readRecord,
  utf8
} from "@flyball/evidence"
import {
  baselineOf,
  FINDINGS,
  isTrustedRoot,
  type JsonMap,
  type Known,
  type Manifest,
  MCP_SERVERS,
  type McpFindingDocument,
  type McpServerDocument,
  mcpServerId,
  mcpTransports,
  type McpTransport,
  partMembers,
  placeList,
  readDigests,
  readManifest
} from "@flyball/rules"
import { Effect } from "effect"
import { EvidenceCrypto } from "../../foundation/crypto.ts"
import { newId } from "../../foundation/ids.ts"
import { inSlices } from "../../foundation/in-slices.ts"
import type { Writer } from "../../foundation/writer.ts"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { beside } from "../../storage/commit-claim.ts"
import { commitWithRetry } from "../../storage/commit-with-retry.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi } from "../../storage/port.ts"
import type { WitnessedToolList } from "../../verdicts/capture/tool-lists.ts"
import { LISTING_SCOPE, planRecordList, type ServerAddress, type StoredServer } from "./plan-record-list.ts"

/** Pages of one listing that are put together, and how many decisions are searched for those before the last. */
const MAX_PAGES = 64
const SEARCHED = 500

/** A list as somebody sent it. */
export interface SentList extends ServerAddress {
  readonly listingId: string
  readonly agentId: string
  readonly coverage: "complete" | "partial"
  /** JSON `{instructions?, tools}`, or what was sent in its place. */
  readonly bytes: Uint8Array
}

/** The stored server; version 0 where there is none. */
export const storedServer = (storage: StorageApi, id: string): Effect.Effect<StoredServer, ReadFault> =>
  Effect.map(storage.get(MCP_SERVERS, id), (document) => ({
    version: document?.version ?? 0,
    body: (document?.body ?? null) as McpServerDocument | null
  }))

/** The list of a listing, by the parts of its record; its text is null once it was erased. */
export const readList = Effect.fnUntraced(function* (
  storage: StorageApi,
  crypto: Crypto,
  listing: string
): Effect.fn.Return<Known, ReadFault> {
  const [taken] = yield* storage.once(LISTING_SCOPE, [listing])
  const parts = taken === undefined ? [] : yield* storage.parts([taken.seq])
  const bytesOf = (name: string) => parts.find((one) => one.name === name)?.bytes ?? null
  const [kept, text] = [bytesOf("mcp_digests"), bytesOf("manifest")]
  const members = kept === null ? null : partMembers({ state: "present", bytes: kept })
  const digests = members?.state === "known" ? readDigests(members.members) : null
  if (digests === null) return yield* new StorageCorrupt({ reason: `the digests of the list ${listing} are missing` })
  return {
    digests,
    manifest: text === null ? null : yield* inSlices(readManifest(text, crypto.sha256))
  }
})

/** Records a list once; answers the id of its server, or null where its agent is gone. */
export const recordList = Effect.fnUntraced(function* (
  storage: StorageApi,
  sent: SentList,
  writer: Writer
): Effect.fn.Return<string | null, ReadFault> {
  const crypto = yield* EvidenceCrypto
  const manifest: Manifest = yield* inSlices(readManifest(sent.bytes, crypto.sha256))
  const findingId = yield* newId("fnd")
  return yield* commitWithRetry(
    storage,
    Effect.gen(function* () {
      const agent = yield* storage.get(AGENTS, sent.agentId)
      if (agent === null) return null
      const orgUnitDigest = storedAgent(agent).body.orgUnitDigest ?? null
      const serverId = mcpServerId(sent.transport, sent.addressDigest, orgUnitDigest, crypto.sha256)
      if ((yield* storage.once(LISTING_SCOPE, [sent.listingId])).length > 0) return serverId
      const server = yield* storedServer(storage, serverId)
      // A list that comes again is compared with none.
      const isKnown =
        server.body !== null && (manifest.root === server.body.last.root || isTrustedRoot(server.body, manifest.root))
      const baseline =
        server.body === null || isKnown ? null : yield* readList(storage, crypto, baselineOf(server.body).list.listing)
      const findings = yield* storage.find(FINDINGS, "list", `${serverId} ${manifest.root}`)
      const hasFinding = findings.some(({ body }) => (body as McpFindingDocument).state === "open")
      const placed = yield* inSlices(placeList(server.body, baseline, manifest, sent.coverage, hasFinding))
      const seenAt = formatInstant((yield* storage.asOf).ms)
      const change = planRecordList({ ...sent, orgUnitDigest, serverId, manifest }, server, placed, {
        findingId,
        seenAt,
        writer
      })
      yield* storage.commit({ ...change, expects: [{ collection: AGENTS, id: sent.agentId, version: agent.version }] })
      return serverId
    })
  )
})

/** Records what a witnessed decision lists. A page is recorded with those before it, once it is the last. */
export const recordWitnessed = Effect.fnUntraced(function* (
  storage: StorageApi,
  { agentId, decision, decisionId, seq }: WitnessedToolList,
  writer: Writer
): Effect.fn.Return<void, ReadFault> {
  const said = mapOf(mapOf(decision.labels)["mcp"])
  const result = decision.result
  const page = mapOf(result)
  const cursor = mapOf(decision.args)["cursor"]
  const before =
    typeof cursor === "string" && typeof page["nextCursor"] !== "string"
      ? yield* pagesBefore(storage, agentId, seq, decision.tool_server ?? null, cursor)
      : []
  const isPart = typeof page["nextCursor"] === "string" || (typeof cursor === "string" && before === null)
  const tools = [...(before ?? []).flatMap(({ tools }) => listOf(tools)), ...listOf(page["tools"])]
  const sent: SentList = {
    ...addressOf(said, decision.tool_server ?? null, agentId),
    listingId: decisionId,
    agentId,
    coverage: isPart ? "partial" : "complete",
    bytes: manifestBytes(
      result instanceof RawJson ? result : Array.isArray(page["tools"]) ? { ...page, tools } : result,
      said["instructions"]
    )
  }
  yield* beside(recordList(storage, sent, writer))
})

/**
 * The bytes of a list: `{instructions?, tools}` in the form of RFC 8785. What is no list of tools, and what has no such
 * form, stays as it was sent: the reader says that it cannot be read.
 */
export const manifestBytes = (result: unknown, instructions: unknown): Uint8Array => {
  if (result instanceof RawJson) return result.bytes.slice()
  const { tools } = mapOf(result)
  try {
    return canonicalBytes(
      tools === undefined
        ? (result ?? null)
        : { ...(typeof instructions === "string" && instructions !== "" ? { instructions } : {}), tools },
      128
    )
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error
    return utf8("null")
  }
}

/** How a server is reached, by what the client says in the label `mcp`. */
const addressOf = (said: JsonMap, toolServer: string | null, agentId: string): ServerAddress => {
  const digest = typeof said["address_digest"] === "string" ? said["address_digest"] : ""
  const transport = mcpTransports.find((one) => one !== "named" && one === said["transport"])
  return transport === undefined || !/^sha256:[0-9a-f]{64}$/.test(digest)
    ? namedAddress(toolServer, agentId)
    : { transport, addressDigest: digest.slice("sha256:".length), toolServer }
}

/** The pages of a listing before its last, first to last; null where one was not witnessed. */
const pagesBefore = Effect.fnUntraced(function* (
  storage: StorageApi,
  agentId: string,
  seq: number,
  toolServer: string | null,
  last: string
): Effect.fn.Return<ReadonlyArray<JsonMap> | null, ReadFault> {
  const records = yield* storage.records({
    agentId,
    kinds: ["decision.witnessed"],
    order: "desc",
    to: seq - 1,
    limit: SEARCHED
  })
  const pages: Array<JsonMap> = []
  let wanted = last
  for (const record of records) {
    const read = readRecord(record.bytes)
    if (!read.ok) continue
    const { kind, tool_server: server } = read.record.body
    if (kind !== "tool_list" || (server ?? null) !== toolServer || pages.length === MAX_PAGES) continue
    const parts = yield* storage.parts([record.seq])
    const valueOf = (name: string): JsonMap => {
      const part = parts.find((one) => one.name === name)?.bytes ?? null
      const members = part === null ? null : partMembers({ state: "present", bytes: part })
      return members?.state === "known" ? members.members : {}
    }
    const result = valueOf("result")
    if (result["nextCursor"] !== wanted) continue
    pages.unshift(result)
    const { cursor } = valueOf("args")
    if (typeof cursor !== "string") return pages
    wanted = cursor
  }
  return null
})

/** A server of which nobody says how it is reached: it is known by the name that its client gives it. */
export const namedAddress = (toolServer: string | null, agentId: string): ServerAddress => ({
  transport: "named" satisfies McpTransport,
  addressDigest: mcpAddressDigest(toolServer === null ? ["agent", agentId] : ["name", toolServer]),
  toolServer
})

const mapOf = (value: unknown): JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof RawJson)
    ? (value as JsonMap)
    : {}

const listOf = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? (value as ReadonlyArray<unknown>) : []
