/** Folds a breaker's records into the document they say there is. */
import type { ExpectedDocument, JsonMap, ReplayRecord } from "../records/record.ts"
import { type BreakerDocument, type BreakerMode, BREAKERS, type BreakerTrip, breakerUnique } from "./document.ts"
import type { KillResponse } from "../kill/response.ts"
import { paramsOfBody } from "./params.ts"

type Body = ReplayRecord["body"]

/** A breaker after `breaker.armed` or `breaker.changed`: both say all of it. `before`: the breaker that was changed. */
export const breakerOfBody = (body: Body, before: BreakerDocument | null): BreakerDocument => ({
  agentId: String(body["agent_id"]),
  name: String(body["name"]),
  metric: String(body["metric"]),
  params: paramsOfBody(body["params"]),
  enabled: body["enabled"] === true,
  mode: body["mode"] as BreakerMode,
  confidenceBp: Number(body["confidence_bp"]),
  ...calibrationOfBody(body),
  response: (body["response"] ?? null) as KillResponse | null,
  createdBy: before?.createdBy ?? String(body["writer"]),
  sinceSeq: Number(body["as_of_seq"]),
  trip: before?.trip ?? null,
  lastActivationId: before?.lastActivationId ?? null
})

const calibrationOfBody = (body: Body): Pick<BreakerDocument, "goodRuns" | "maxFalseStopBp"> => {
  const { good_runs: good, max_false_stop_bp: bound } = body as JsonMap
  if (typeof bound !== "number" || typeof good !== "object" || good === null) return {}
  const { from_seq: fromSeq, runs, to_seq: toSeq } = good as JsonMap
  return {
    maxFalseStopBp: bound,
    goodRuns: { fromSeq: Number(fromSeq), toSeq: Number(toSeq), runs: Number(runs) }
  }
}

/** A breaker after `breaker.tripped`. */
export const trippedByBody = (breaker: BreakerDocument, body: Body): BreakerDocument => ({
  ...breaker,
  trip: {
    atMs: Number(body["as_of_ms"]),
    asOfSeq: Number(body["as_of_seq"]),
    value: String(body["value"]),
    samples: Number(body["samples"]),
    mode: body["mode"] as BreakerMode,
    response: (body["response"] ?? null) as KillResponse | null,
    activationId: typeof body["activation_id"] === "string" ? body["activation_id"] : null
  } satisfies BreakerTrip,
  lastActivationId: typeof body["activation_id"] === "string" ? body["activation_id"] : breaker.lastActivationId
})

/** A breaker after `breaker.released`: armed again, with a window that begins there. */
export const releasedByBody = (breaker: BreakerDocument, body: Body): BreakerDocument => ({
  ...breaker,
  trip: null,
  sinceSeq: Number(body["as_of_seq"])
})

/** A breaker after one of its records. `before` is null for the first. */
export const breakerAfter = (before: BreakerDocument | null, { body, kind }: Pick<ReplayRecord, "body" | "kind">) => {
  if (kind === "breaker.armed" || before === null) return breakerOfBody(body, null)
  if (kind === "breaker.changed") return breakerOfBody(body, before)
  return kind === "breaker.tripped" ? trippedByBody(before, body) : releasedByBody(before, body)
}

/** The document of a breaker as replay compares it. */
export const foldBreaker = (before: ExpectedDocument | null, record: ReplayRecord): ExpectedDocument => {
  const breaker = breakerAfter((before?.body ?? null) as unknown as BreakerDocument | null, record)
  return {
    collection: BREAKERS,
    id: String(record.body["breaker_id"]),
    body: breaker as unknown as JsonMap,
    unique: breakerUnique(breaker),
    unknown: [],
    erased: [],
    personal: []
  }
}
