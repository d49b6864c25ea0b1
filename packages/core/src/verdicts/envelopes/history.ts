/** Recorded evaluations as the analysis reads them. What a record lacks is left out, never guessed. */
import { readRecord } from "@flyball/evidence"
import { Effect } from "effect"
import {
  bind,
  type Binding,
  documentSignals,
  meterKinds,
  readsArgs,
  readSide,
  type RecordedSide,
  signalsOf
} from "@flyball/rules"
import type { JsonMap } from "@flyball/rules"
import { StorageCorrupt } from "../../storage/faults.ts"
import type { ReadFault, StorageApi, StoredRecord } from "../../storage/port.ts"
import { factsOfExtraction } from "../../registry/extractions/document.ts"
import { type AgentThen, agentsThen } from "./agents-then.ts"
import type { InForceReader } from "./in-force.ts"
import { decide, TIER_FLOOR, UNKNOWN } from "@flyball/envelope"
import type { MeterReading, RecordedEvaluation, RecordedEvent, RecordedReading, Values } from "@flyball/envelope"

/**
 * Evaluations that publishing reads, newest first. Enough to see what changes; few enough that a governor does not
 * wait.
 */
export const HISTORY_LIMIT = 5_000

const PAGE = 500

/** Records that are read before others get their turn: some milliseconds of work. */
const PER_TURN = 100

/** Which evaluations. `agentIds` null: every agent's. */
export interface HistoryQuery {
  readonly agentIds: ReadonlySet<string> | null
  readonly fromSeq: number
  readonly toSeq: number
  /** True when the arguments are read too. */
  readonly withArgs: boolean
}

/** Recorded history, in the order of the chain. `fromGenesis`: it begins with record 0. */
export interface History {
  readonly events: ReadonlyArray<RecordedEvent>
  readonly evaluations: ReadonlyArray<RecordedEvaluation>
  readonly fromSeq: number
  readonly toSeq: number
  readonly fromGenesis: boolean
}

/** Reads the newest of these evaluations, `HISTORY_LIMIT` at most, with what settled and voided them. */
export const readHistory = Effect.fnUntraced(function* (
  storage: StorageApi,
  inForce: InForceReader,
  query: HistoryQuery
): Effect.fn.Return<History, ReadFault> {
  const found: Array<{ readonly record: StoredRecord; readonly body: JsonMap }> = []
  const only = query.agentIds?.size === 1 ? { agentId: [...query.agentIds][0]! } : {}
  let count = 0
  let isWhole = query.fromSeq === 0
  for (let to = query.toSeq; to >= query.fromSeq;) {
    const page = yield* storage.records({
      ...only,
      kinds: meterKinds,
      from: query.fromSeq,
      to,
      order: "desc",
      limit: PAGE
    })
    for (const record of page) {
      if (query.agentIds !== null && !query.agentIds.has(record.agentId ?? "")) continue
      const read = readRecord(record.bytes)
      if (!read.ok) return yield* new StorageCorrupt({ reason: `record ${record.seq} cannot be read (${read.code})` })
      if (count === HISTORY_LIMIT) {
        isWhole = false
        break
      }
      if (record.kind === "evaluation.made") count++
      found.push({ record, body: read.record.body as JsonMap })
    }
    if (page.length < PAGE || count === HISTORY_LIMIT) break
    to = page.at(-1)!.seq - 1
  }
  const inOrder = found.toReversed()
  const events = yield* eventsOf(storage, inForce, inOrder, query.withArgs)
  return {
    events,
    evaluations: events.flatMap((one) => (one.kind === "evaluation" ? [one.evaluation] : [])),
    fromSeq: inOrder[0]?.record.seq ?? query.fromSeq,
    toSeq: inOrder.at(-1)?.record.seq ?? Math.max(query.fromSeq, query.toSeq),
    fromGenesis: isWhole
  }
})

const eventsOf = Effect.fnUntraced(function* (
  storage: StorageApi,
  inForce: InForceReader,
  found: ReadonlyArray<{ readonly record: StoredRecord; readonly body: JsonMap }>,
  withArgs: boolean
) {
  const bindings = new Map<string, Binding>()
  const made = found.filter(({ record }) => record.kind === "evaluation.made")
  const reading = new Set<number>()
  for (const { body, record } of made)
    if (withArgs || readsArgs((yield* bindingOf(inForce, body, bindings)).ready)) reading.add(record.seq)
  const { args, signals } = yield* partsBySeq(
    storage,
    made.map(({ record }) => record.seq),
    reading
  )
  const agentAt = agentsThen(storage)
  const latches = new Map<string, Set<string>>()
  const idOf = new Map<number, string>()
  const events: Array<RecordedEvent> = []
  let read = 0
  for (const { body, record } of found) {
    if (++read % PER_TURN === 0) yield* Effect.yieldNow
    if (record.kind === "meter.voided") events.push({ kind: "voided", evaluationId: String(body["evaluation_id"]) })
    else if (record.kind === "decision.settled") {
      const evaluationId = idOf.get(Number(body["evaluation_seq"]))
      const actual = (body["actual"] ?? []) as ReadonlyArray<{ readonly meter: string; readonly amount: number }>
      if (evaluationId !== undefined)
        events.push({
          kind: "settled",
          evaluationId,
          actual: Object.fromEntries(actual.map(({ amount, meter }) => [meter, amount]))
        })
    } else {
      const agentId = String(body["agent_id"])
      const agent = yield* agentAt(agentId, record.seq)
      const extractionId = body["extraction_id"]
      const facts =
        typeof extractionId === "string" ? yield* factsOfExtraction(storage, extractionId, agent.orgUnit) : null
      const binding = yield* bindingOf(inForce, body, bindings)
      const evaluationId = String(body["evaluation_id"])
      idOf.set(record.seq, evaluationId)
      const run = `${agentId} ${String(body["run_id"] ?? "")}`
      const set = latches.get(run) ?? new Set<string>()
      events.push({
        kind: "evaluation",
        evaluation: recorded(
          evaluationId,
          body,
          signals.get(record.seq) ?? null,
          args.get(record.seq) ?? (typeof body["action_digest"] === "string" ? null : undefined),
          asRecorded(agent, body, facts === null ? {} : documentSignals(facts)),
          new Set(set),
          binding
        )
      })
      for (const name of (body["latches"] ?? []) as ReadonlyArray<string>) set.add(name)
      latches.set(run, set)
    }
  }
  return events
})

/** Reserved rules that end an evaluation whatever the envelope is. */
const stopping: ReadonlySet<string> = new Set(["@killed", "@suspended", "@not_active"])

/** Tier and status are in the evaluation's own record. */
const asRecorded = ({ orgUnit, server, unreported }: AgentThen, body: JsonMap, document: Values): AgentThen => ({
  orgUnit,
  server: {
    ...server,
    ...document,
    tier: Number(String(body["effective_tier"] ?? body["tier"]).slice(1)),
    agent_status: String(body["agent_status"])
  },
  unreported: unreported.filter((name) => name !== "tier" && name !== "agent_status")
})

const recorded = (
  evaluationId: string,
  body: JsonMap,
  signals: Values | null,
  args: unknown,
  { orgUnit, server, unreported }: AgentThen,
  latches: ReadonlySet<string>,
  { ready }: Binding
): RecordedEvaluation => {
  const side = readSide(body)
  const actor = {
    agentId: String(body["agent_id"]),
    orgUnit,
    runId: typeof body["run_id"] === "string" ? body["run_id"] : null
  }
  let readings: ReadonlyArray<MeterReading> = []
  // The record names windows, not keys; which keys they are of follows from the signals.
  if (ready !== null && signals !== null && side.meters.length > 0) {
    readings = decide(
      ready,
      { signals, args: args ?? UNKNOWN, runId: actor.runId },
      {
        kill: "none",
        agent: { id: actor.agentId, orgUnit, isActive: true },
        server,
        latches,
        approved: false,
        windows: ({ id }) => ({ value: side.meters.find((one) => one.id === id)?.value ?? 0, count: 0 })
      }
    ).meters
  }
  const meters = ready?.combination.meters ?? []
  return {
    evaluationId,
    atMs: Number(body["as_of_ms"]),
    actor,
    signals,
    ...(args === undefined ? {} : { args }),
    server,
    unreported,
    latches,
    outcome: side.outcome,
    stoppedBy: stopping.has(side.matchedRule) ? side.matchedRule : null,
    // Whether the approval turned this verdict, another version decides by itself.
    approved: side.outcome === "allow" && typeof body["approval_id"] === "string",
    meters: readings.flatMap((reading, place) =>
      side.meters.some(({ id }) => id === reading.id)
        ? [
            {
              id: reading.id,
              key: reading.key,
              value: reading.value,
              count: countOf(side, readings, place, meters[place]!.max)
            }
          ]
        : []
    ),
    declared: ready === null ? null : { signals: new Set(ready.combination.signals.map(({ name }) => name)), meters }
  }
}

/**
 * How many contributions a window held, as far as a verdict implies it. Meters are checked in their order, and the
 * first that is over decides where no halt and no denial by the tier floor did. So the meters before it were not over,
 * those after it are unknown, and where no meter decided none was over. Spec: `envelope/1` section 11, step 7.
 */
const countOf = (
  { matchedRule, outcome }: RecordedSide,
  readings: ReadonlyArray<MeterReading>,
  place: number,
  max: number
): RecordedReading["count"] => {
  const { after, contributes } = readings[place]!
  if (!contributes || outcome === "halt" || (outcome === "deny" && matchedRule === TIER_FLOOR)) return "unknown"
  const full = readings.findIndex(({ id }) => matchedRule === `@budget:${id}`)
  if (full === -1 || place < full) return "below"
  return place === full && after <= max ? "full" : "unknown"
}

const bindingOf = Effect.fnUntraced(function* (inForce: InForceReader, body: JsonMap, known: Map<string, Binding>) {
  const { layers } = readSide(body)
  const key = layers.map(({ envelopeId, version }) => `${envelopeId}.${version}`).join(" ")
  const before = known.get(key)
  if (before !== undefined) return before
  const found = []
  for (const { envelopeId, version } of layers)
    found.push(
      (yield* inForce.layer(envelopeId, version, [])) ?? {
        envelopeId,
        version,
        digest: "",
        envelope: null,
        waivers: []
      }
    )
  const made = bind(found)
  known.set(key, made)
  return made
})

const partsBySeq = Effect.fnUntraced(function* (
  storage: StorageApi,
  seqs: ReadonlyArray<number>,
  reading: ReadonlySet<number>
) {
  const args = new Map<number, unknown>()
  const signals = new Map<number, Values>()
  for (let from = 0; from < seqs.length; from += PAGE) {
    for (const { bytes, name, seq } of yield* storage.parts(seqs.slice(from, from + PAGE))) {
      const value = bytes !== null && (name === "signals" || reading.has(seq)) ? signalsOf(bytes) : null
      if (name === "args" && value !== null) args.set(seq, shortened(value))
      if (name === "signals" && typeof value === "object" && value !== null && !Array.isArray(value))
        signals.set(seq, value as Values)
    }
  }
  return { args, signals }
})

/** Code units of a text that are kept: more than the code points of the longest text that a signal can have. */
const KEPT = 8_200

/** Arguments without the end of texts that are too long for any signal: five thousand evaluations have many. */
const shortened = (value: unknown): unknown => {
  if (typeof value === "string") return value.slice(0, KEPT)
  if (typeof value !== "object" || value === null) return value
  return Array.isArray(value)
    ? value.map(shortened)
    : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shortened(member)]))
}
