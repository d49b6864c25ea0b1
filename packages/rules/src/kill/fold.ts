/** Folds the records of the kill switch into the documents that they say there are. */
import { parseInstant } from "@flyball/evidence"
import type { AutonomyTier } from "../agents/document.ts"
import type { ExpectedDocument, Json, JsonMap, PartContent, ReplayRecord } from "../records/record.ts"
import { partValue } from "../records/part-json.ts"
import {
  type AckDocument,
  ackId,
  type ActivationDocument,
  KILL_ACKS,
  KILL_ACTIVATIONS,
  KILL_EPOCH,
  type KillInstance
} from "./document.ts"
import { CHANNEL_TARGET, type DrillMode, type KillResponse, type KillTargetType } from "./response.ts"

/** Kinds of records whose parts the fold reads. */
export const killKindsWithParts: ReadonlyArray<string> = ["kill.activated", "kill.expected", "kill.released"]

/** Collections that these folds make. */
export const killCollections = [KILL_ACKS, KILL_ACTIVATIONS, KILL_EPOCH.collection] as const

/** The activation of a record `kill.activated`. */
export const foldActivated = ({ body, parts }: ReplayRecord): ExpectedDocument => {
  const reason = textIn(parts.get("reason"))
  const drill = body["drill"] as JsonMap | undefined
  const activation: ActivationDocument = {
    targetType: String(body["target_type"]) as KillTargetType,
    targetId: String(body["target_id"]),
    response: String(body["response"]) as KillResponse,
    drill:
      drill === undefined ? null : { drillId: String(drill["drill_id"]), mode: String(drill["mode"]) as DrillMode },
    breakerId: text(body["breaker_id"]),
    actor: String(body["writer"]),
    requestedBy: text(body["requested_by"]),
    reason: reason.value,
    activatedAtMs: instant(body["activated_at"]) ?? 0,
    epoch: Number(body["epoch"]),
    highestTier: text(body["highest_tier"]) as AutonomyTier | null,
    expectedInstances: body["target_id"] === CHANNEL_TARGET ? [] : null,
    unlisted: 0,
    unconfirmedAtMs: null,
    releasedAtMs: null,
    releasedBy: null,
    releaseEpoch: null,
    releaseReason: null
  }
  return {
    collection: KILL_ACTIVATIONS,
    id: String(body["activation_id"]),
    body: activation as unknown as JsonMap,
    unique: {},
    unknown: reason.isLost ? ["reason"] : [],
    erased: reason.isErased ? ["reason"] : [],
    personal: ["reason", "releaseReason"]
  }
}

/** The activation after `kill.expected`. */
export const foldExpected = (document: ExpectedDocument, { body, parts }: ReplayRecord): ExpectedDocument => {
  const expected = instancesIn(parts.get("expected"))
  return {
    ...document,
    body: {
      ...document.body,
      expectedInstances: (expected ?? []) as unknown as ReadonlyArray<JsonMap>,
      unlisted: Number(body["unlisted"] ?? 0)
    },
    unknown: [...document.unknown, ...(expected === null ? ["expectedInstances"] : [])]
  }
}

/** The activation after `kill.released`. */
export const foldReleased = (document: ExpectedDocument, { body, parts }: ReplayRecord): ExpectedDocument => {
  const reason = textIn(parts.get("reason"))
  return {
    ...document,
    body: {
      ...document.body,
      releasedAtMs: instant(body["released_at"]),
      releasedBy: String(body["writer"]),
      releaseEpoch: Number(body["epoch"]),
      releaseReason: reason.value
    },
    unknown: [...document.unknown, ...(reason.isLost ? ["releaseReason"] : [])],
    erased: [...document.erased, ...(reason.isErased ? ["releaseReason"] : [])]
  }
}

/** The activation after `kill.unconfirmed`. */
export const foldUnconfirmed = (document: ExpectedDocument, { body }: ReplayRecord): ExpectedDocument => ({
  ...document,
  body: { ...document.body, unconfirmedAtMs: instant(body["unconfirmed_at"]) }
})

/** Folds `kill.acknowledged`: the acknowledgement of an instance. */
export const foldAcknowledged = ({ body }: ReplayRecord): ExpectedDocument => {
  const ack: AckDocument = {
    activationId: String(body["activation_id"]),
    agentId: String(body["agent_id"]),
    instanceId: String(body["instance_id"]),
    observedAtMs: instant(body["observed_at"]),
    acknowledgedAtMs: instant(body["acknowledged_at"]) ?? 0,
    inFlight: Number(body["in_flight"]),
    stoppedAtMs: null
  }
  return {
    collection: KILL_ACKS,
    id: ackIdOf(body),
    body: ack,
    unique: {},
    unknown: [],
    erased: [],
    personal: []
  }
}

/** Folds `kill.stopped` into the acknowledgement of an instance. */
export const foldStopped = (document: ExpectedDocument, { body }: ReplayRecord): ExpectedDocument => ({
  ...document,
  body: { ...document.body, stoppedAtMs: instant(body["stopped_at"]) }
})

/** Id of the document of the instance that a record is about. */
export const ackIdOf = (body: JsonMap): string =>
  ackId(String(body["activation_id"]), {
    agentId: String(body["agent_id"]),
    instanceId: String(body["instance_id"])
  })

/** The epoch that a record begins. */
export const foldEpoch = ({ body }: ReplayRecord): ExpectedDocument => ({
  collection: KILL_EPOCH.collection,
  id: KILL_EPOCH.id,
  body: { epoch: Number(body["epoch"]) },
  unique: {},
  unknown: [],
  erased: [],
  personal: []
})

/** The instances that a part lists; null where it is not known here. A record without the part lists none. */
export const instancesIn = (part: PartContent | undefined): ReadonlyArray<KillInstance> | null => {
  const read = partValue(part)
  if (read.state === "absent") return []
  return read.state === "known" && Array.isArray(read.value)
    ? (read.value as ReadonlyArray<JsonMap>).map((one) => ({
        agentId: String(one?.["agent_id"]),
        instanceId: String(one?.["instance_id"])
      }))
    : null
}

interface PartText {
  readonly value: string | null
  readonly isLost: boolean
  readonly isErased: boolean
}

const textIn = (part: PartContent | undefined): PartText => {
  const read = partValue(part)
  return {
    value: read.state === "known" ? text(read.value) : null,
    isLost: read.state === "withheld" || read.state === "missing" || read.state === "unreadable",
    isErased: read.state === "erased"
  }
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null)

const instant = (value: Json | undefined): number | null => (typeof value === "string" ? parseInstant(value) : null)
