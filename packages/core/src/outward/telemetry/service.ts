/**
 * Service that reports the usage of agents, and figures of incidents and reviews. Spec: document 1 section 4, GET
 * /bound/telemetry/usage.
 */
import { detailItem, InvalidInput, TelemetryBehind, type TelemetryOut, type TelemetryQuery } from "@flyball/contract"
import { formatInstant, parseInstant } from "@flyball/evidence"
import { onsetSeqs, usageReport } from "@flyball/rules"
import { Context, Effect, Layer, Semaphore } from "effect"
import { Chain } from "../../chain/chain.ts"
import { covers, everyUnit, type Scope } from "../../foundation/scope.ts"
import { AGENTS, storedAgent } from "../../registry/agents/document.ts"
import { type ReadFault, Storage, type StorageApi } from "../../storage/port.ts"
import { inSlices } from "../../foundation/in-slices.ts"
import { seqsBetween } from "../packs/seqs-between.ts"
import { type FoldedUsage, usageSegments } from "./usage-segments.ts"

/** The window where a query leaves `from` out. Unit: milliseconds. */
export const DEFAULT_WINDOW_MS = 30 * 24 * 60 * 60 * 1000
/** Segments that one request folds where the job has not; more are refused. */
const MOST_SEGMENTS = 4

/**
 * Reads of usage, cost, reviews and incidents in a window. Spec: document 1 section 4, GET /bound/telemetry/usage;
 * decision 0051.
 */
export interface TelemetryApi {
  /**
   * The figures of a window for the agents in scope. Incidents of models, org units and the deployment are shown to a
   * scope of every unit alone.
   *
   * - Fails: `InvalidInput` where `from` is not before `to`; `TelemetryBehind` while earlier records are not folded.
   */
  readonly usage: (
    query?: TelemetryQuery,
    scope?: Scope
  ) => Effect.Effect<TelemetryOut, InvalidInput | TelemetryBehind | ReadFault>
  /**
   * Folds up to so many segments that are complete and not kept yet, and joins as many of higher levels once none of
   * the first is missing; answers how many are still missing.
   */
  readonly rollUp: (most: number) => Effect.Effect<number, ReadFault>
}

/** Service of usage telemetry. Spec: document 1 section 4, GET /bound/telemetry/usage; decision 0051. */
export class Telemetry extends Context.Service<Telemetry, TelemetryApi>()("flyball/core/Telemetry") {
  static readonly layer: Layer.Layer<Telemetry, never, Chain | Storage> = Layer.effect(
    Telemetry,
    Effect.gen(function* () {
      const storage = yield* Storage
      const { originTag } = yield* Chain
      return telemetryOver(storage, usageSegments(storage, originTag))
    })
  )
}

/** Telemetry over a store and its segments. */
export const telemetryOver = (
  storage: StorageApi,
  segments: ReturnType<typeof usageSegments>,
  mostSegments = MOST_SEGMENTS
): TelemetryApi => {
  const turn = Semaphore.makeUnsafe(1)
  return Telemetry.of({
    usage: Effect.fnUntraced(function* (query = {}, scope = everyUnit) {
      const { ms, seq } = yield* storage.asOf
      const size = seq + 1
      const head = yield* storage.head
      // A record of this very millisecond counts.
      const nowMs = Math.max(ms, head?.atMs ?? 0) + 1
      const toMs = Math.min(query.to === undefined ? nowMs : parseInstant(query.to)!, nowMs)
      const fromMs = query.from === undefined ? Math.max(0, toMs - DEFAULT_WINDOW_MS) : parseInstant(query.from)!
      if (fromMs >= toMs) return yield* notBefore(query, toMs)
      const { end, first } = yield* seqsBetween(
        storage,
        { since: formatInstant(fromMs), until: formatInstant(toMs) },
        size
      )
      const folded = yield* turn.withPermits(1)(
        Effect.gen(function* () {
          const missing = yield* segments.rollUp(end, mostSegments)
          return missing > 0 ? yield* new TelemetryBehind({ segments: missing }) : yield* segments.between(first, end)
        })
      )
      const times = new Map<number, number>()
      for (const onset of onsetSeqs(folded)) {
        const record = yield* storage.record(onset)
        if (record !== null) times.set(onset, record.atMs)
      }
      const visible = yield* visibleAgents(storage, folded, scope)
      return yield* inSlices(
        usageReport({
          fromMs,
          toMs,
          asOfSeq: end === 0 ? null : end - 1,
          ...folded,
          showsAgent: (id) => visible === null || visible.has(id),
          showsTarget: ({ targetId, targetType }) =>
            visible === null || (targetType === "agent" && visible.has(targetId)),
          atMsOf: (onset) => times.get(onset)
        })
      )
    }),
    rollUp: Effect.fnUntraced(function* (most) {
      const { seq } = yield* storage.asOf
      return yield* turn.withPermits(1)(
        Effect.flatMap(segments.rollUp(seq + 1, most), (missing) =>
          missing > 0 ? Effect.succeed(missing) : segments.join(most)
        )
      )
    })
  })
}

/** The agents of the scope that the figures are about; null where it covers all. */
const visibleAgents = Effect.fnUntraced(function* (
  storage: StorageApi,
  { state, totals }: FoldedUsage,
  scope: Scope
): Effect.fn.Return<ReadonlySet<string> | null, ReadFault> {
  if (scope.orgUnits === "*") return null
  const ids = new Set([
    ...totals.agents().map(([id]) => id),
    ...state.reviews.list().map(({ agentId }) => agentId),
    ...[...totals.ended(), ...state.incidents.list()].flatMap(({ targetId, targetType }) =>
      targetType === "agent" ? [targetId] : []
    )
  ])
  const visible = new Set<string>()
  for (const id of ids) {
    const document = yield* storage.get(AGENTS, id)
    if (document !== null && covers(scope, storedAgent(document).body.orgUnit)) visible.add(id)
  }
  return visible
})

const notBefore = ({ from, to }: TelemetryQuery, toMs: number) =>
  new InvalidInput({
    detail: [
      detailItem(
        ["query", "from"],
        "value_error",
        `The window begins before it ends, at ${formatInstant(toMs)}${to === undefined ? "" : " at the latest"}`,
        from ?? null
      )
    ]
  })
