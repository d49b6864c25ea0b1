/** Folds the records of drills into the documents that they say there are. */
import { parseInstant } from "@flyball/evidence"
import type { DrillMode, KillTargetType } from "../kill/response.ts"
import type { KillInstance } from "../kill/document.ts"
import { partValue } from "../records/part-json.ts"
import type { ExpectedDocument, Json, JsonMap, PartContent, ReplayRecord } from "../records/record.ts"
import { type DrillDocument, DRILLS } from "./document.ts"
import type { DrillResult } from "./result.ts"

/** Kinds of drills' records whose parts the fold reads. */
export const drillKindsWithParts: ReadonlyArray<string> = ["drill.started", "drill.completed"]

/** The drill of a record `drill.started`. */
export const foldDrillStarted = ({ body, parts }: ReplayRecord): ExpectedDocument => {
  const scenario = partValue(parts.get("scenario"))
  const drill: DrillDocument = {
    targetType: String(body["target_type"]) as KillTargetType,
    targetId: String(body["target_id"]),
    mode: String(body["mode"]) as DrillMode,
    scenario: scenario.state === "known" ? text(scenario.value) : null,
    sloMs: Number(body["slo_ms"]),
    maxDurationMs: Number(body["max_duration_ms"]),
    startedBy: String(body["writer"]),
    startedAtMs: instant(body["started_at"]) ?? 0,
    activationId: String(body["activation_id"]),
    completedBy: null,
    completedAtMs: null,
    result: null,
    attestedBy: null,
    attestedAtMs: null
  }
  const isLost = scenario.state === "withheld" || scenario.state === "missing" || scenario.state === "unreadable"
  return {
    collection: DRILLS,
    id: String(body["drill_id"]),
    body: drill as unknown as JsonMap,
    unique: {},
    unknown: isLost ? ["scenario"] : [],
    erased: scenario.state === "erased" ? ["scenario"] : [],
    personal: ["scenario"]
  }
}

/** The drill after `drill.completed`. */
export const foldDrillCompleted = (document: ExpectedDocument, { body, parts }: ReplayRecord): ExpectedDocument => {
  const missed = missedIn(parts.get("missed"))
  const result: DrillResult = {
    expected: Number(body["expected"]),
    acknowledged: Number(body["acknowledged"]),
    missed: missed ?? [],
    unlisted: Number(body["unlisted"] ?? 0),
    p50Ms: number(body["p50_ms"]),
    p95Ms: number(body["p95_ms"]),
    maxMs: number(body["max_ms"]),
    met: body["met"] === true
  }
  return {
    ...document,
    body: {
      ...document.body,
      completedBy: String(body["writer"]),
      completedAtMs: instant(body["completed_at"]),
      result: result as unknown as JsonMap
    },
    unknown: [...document.unknown, ...(missed === null ? ["result"] : [])]
  }
}

/** The drill after `drill.attested`. */
export const foldDrillAttested = (document: ExpectedDocument, { body }: ReplayRecord): ExpectedDocument => ({
  ...document,
  body: { ...document.body, attestedBy: String(body["writer"]), attestedAtMs: instant(body["attested_at"]) }
})

/** The instances that the part lists; null where it is not known here. A record without the part lists none. */
export const missedIn = (part: PartContent | undefined): ReadonlyArray<KillInstance> | null => {
  const read = partValue(part)
  if (read.state === "absent") return []
  return read.state === "known" && Array.isArray(read.value)
    ? (read.value as ReadonlyArray<JsonMap>).map((one) => ({
        agentId: String(one?.["agent_id"]),
        instanceId: String(one?.["instance_id"])
      }))
    : null
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)

const number = (value: Json | undefined): number | null => (typeof value === "number" ? value : null)

const instant = (value: Json | undefined): number | null => (typeof value === "string" ? parseInstant(value) : null)
