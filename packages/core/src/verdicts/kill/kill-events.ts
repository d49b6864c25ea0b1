/** The log of the kill switch: its records, newest first. Spec: document 1 section 4, `/kill/events`. */
import {
  DEFAULT_PAGE,
  type InvalidInput,
  type KillEvent,
  killEventKinds,
  type KillEventsQuery
} from "@flyball/contract"
import { fromUtf8, readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import { CHANNEL_TARGET, DRILLS, KILL_ACTIVATIONS } from "@flyball/rules"
import { recordHash } from "../../foundation/ids.ts"
import type { Scope } from "../../foundation/scope.ts"
import { agentInScope } from "../../registry/agents/read-agent.ts"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { JsonObject, ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"
import { continueBefore } from "../continue-before.ts"

/** Records read at a time, where some are of other org units. */
const PAGE = 500
/** Records that one request reads: a page may be shorter than its limit. */
const MOST = 20_000

/** Target of a record: null where it names neither an activation nor a drill. */
type Target = Pick<KillEvent, "target_type" | "target_id">

/**
 * Lists entries. With a scope of some org units those about their agents, and none of models, units and the deployment;
 * the channel check is left out.
 *
 * - Fails: `InvalidInput` where none of the records that one page reads is to be shown, and more may follow.
 */
export const listKillEvents = Effect.fnUntraced(function* (
  storage: StorageApi,
  query: KillEventsQuery,
  scope: Scope,
  mostRead = MOST
): Effect.fn.Return<ReadonlyArray<KillEvent>, InvalidInput | ReadFault> {
  const { before, kind, limit = DEFAULT_PAGE } = query
  const since = query.since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(query.since)
  const found: Array<KillEvent> = []
  const isReadable = agentInScope(storage, scope)
  const targets = new Map<string, Target>()
  let to = before === undefined ? undefined : before - 1
  let read = 0
  while (read < mostRead && (to === undefined || to >= 0)) {
    const page = yield* storage.records({
      kinds: kind === undefined ? killEventKinds : [kind],
      order: "desc",
      limit: PAGE,
      ...(to === undefined ? {} : { to })
    })
    const shown: Array<KillEvent> = []
    for (const record of page) {
      if (found.length + shown.length === limit || record.atMs < since) break
      const entry = yield* entryOf(storage, record, targets)
      if (entry.target_id !== CHANNEL_TARGET && isOf(query, entry) && (yield* isReadable(agentOf(entry))))
        shown.push(entry)
    }
    found.push(...(yield* withReasons(storage, shown)))
    // Times never decrease along the chain: what follows is older still.
    if (page.length < PAGE || found.length === limit || page.at(-1)!.atMs < since) return found
    read += page.length
    to = page.at(-1)!.seq - 1
  }
  return found.length === 0 && to !== undefined && to >= 0
    ? yield* continueBefore("an event", read, { before, next: to + 1 })
    : found
})

/** The agent that an entry is about; null where it is about a model. */
const agentOf = (entry: KillEvent): string | null =>
  entry.agent_id ?? (entry.target_type === "agent" ? entry.target_id : null)

const isOf = ({ agent_id: agentId }: KillEventsQuery, entry: KillEvent): boolean =>
  agentId === undefined || agentId === entry.agent_id || (entry.target_type === "agent" && agentId === entry.target_id)

/** The target of the activation or drill that a record is about, which only the first record of each names. */
const targetOf = Effect.fnUntraced(function* (storage: StorageApi, body: JsonObject, known: Map<string, Target>) {
  const named = { target_type: text(body["target_type"]), target_id: text(body["target_id"]) } as Target
  const [collection, id] =
    text(body["activation_id"]) === null
      ? [DRILLS, text(body["drill_id"])]
      : [KILL_ACTIVATIONS, text(body["activation_id"])]
  if (named.target_id !== null || id === null) return named
  const found = known.get(id)
  if (found !== undefined) return found
  const document = yield* storage.get(collection, id)
  const target = {
    target_type: text(document?.body["targetType"]),
    target_id: text(document?.body["targetId"])
  } as Target
  known.set(id, target)
  return target
})

const entryOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  { bytes, hash, kind, seq }: StoredRecord,
  targets: Map<string, Target>
) {
  const read = readRecord(bytes)
  if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${seq} cannot be read (${read.code})` })
  const { at, body } = read.record
  return {
    seq,
    record_hash: recordHash(hash),
    at,
    kind: kind as KillEvent["kind"],
    activation_event: text(body["activation_id"]),
    ...(yield* targetOf(storage, body, targets)),
    response: text(body["response"]) as KillEvent["response"],
    drill: (body["drill"] ?? null) as KillEvent["drill"],
    epoch: integer(body["epoch"]),
    drill_id: text(body["drill_id"]),
    breaker_id: text(body["breaker_id"]),
    mode: text(body["mode"]),
    metric: text(body["metric"]),
    value: text(body["value"]),
    met: typeof body["met"] === "boolean" ? body["met"] : null,
    agent_id: text(body["agent_id"]),
    instance_id: text(body["instance_id"]),
    in_flight: integer(body["in_flight"]),
    instances: integer(body["expected"]) ?? integer(body["instances"]),
    actor: String(body["writer"]),
    requested_by: text(body["requested_by"]),
    reason: null
  } satisfies KillEvent
})

/** The same entries with their reasons, which are parts: one read for all that are shown. */
const withReasons = Effect.fnUntraced(function* (storage: StorageApi, entries: ReadonlyArray<KillEvent>) {
  const reasons = new Map<number, string | null>()
  const parts = entries.length === 0 ? [] : yield* storage.parts(entries.map(({ seq }) => seq))
  for (const { bytes, name, seq } of parts) if (name === "reason" && bytes !== null) reasons.set(seq, reasonIn(bytes))
  return entries.map((entry) => ({ ...entry, reason: reasons.get(entry.seq) ?? null }))
})

const reasonIn = (bytes: Uint8Array): string | null => text(JSON.parse(fromUtf8(bytes) ?? "null") as JsonObject[string])
const text = (value: JsonObject[string] | undefined): string | null => (typeof value === "string" ? value : null)
const integer = (value: JsonObject[string] | undefined): number | null => (typeof value === "number" ? value : null)
