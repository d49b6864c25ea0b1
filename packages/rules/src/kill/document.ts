/** The kill switch as state: activations, what instances said of them, and the epoch. Plain data. */
import type { AutonomyTier } from "../agents/document.ts"
import type { DrillMode, KillResponse, KillTargetType } from "./response.ts"

/** Collection of the activations: one document each, under its id `kil_…`. */
export const KILL_ACTIVATIONS = "kill_activations"

/** Collection of acknowledgements, each under its {@link ackId}. */
export const KILL_ACKS = "kill_acks"

/**
 * The one document that every change of any target's state puts, at the version that its plan read: changes conflict
 * with each other, and each evaluation expects it unchanged. Its body is `{epoch}`. Spec: decision 0047.
 */
export const KILL_EPOCH = { collection: "kill_epoch", id: "deployment" } as const

/**
 * Working state, `{}`: put where an agent's provenance names another model. Evaluations expect it unchanged while an
 * activation is aimed at a model, since none of the documents that they read says that a piece is missing. Spec:
 * decision 0047.
 */
export const KILL_REACH = { collection: "kill_reach", id: "deployment" } as const

/**
 * How long an instance has to acknowledge. Unit: milliseconds. By then its last status, which counts for half of this,
 * counts no more, so it begins nothing; and a client that polls had time to say so. Spec: envelopes.md 3.10,
 * `unconfirmed`.
 */
export const CONFIRM_MS = 30_000

/**
 * How long before an activation an instance counts as running. Unit: milliseconds. Spec: format 1 section 8,
 * `kill.expected`.
 */
export const SEEN_MS = 3_600_000

/** Writer of what the service records of an activation by itself. Spec: format 1 section 8, `kill.expected`. */
export const KILL_WRITER = "system:kill"

/** Instances that one record lists. The rest are counted. Spec: format 1 section 8, `kill.expected`. */
export const MAX_EXPECTED = 4_096

/**
 * Target of an activation. The id of an org unit is its digest, that of the deployment `deployment`. Spec: document 1
 * section 2, "Kill status"; decision 0047.
 */
export interface KillTarget {
  readonly type: KillTargetType
  readonly id: string
}

/** One running process of an agent, as its records name it. */
export interface KillInstance {
  readonly agentId: string
  readonly instanceId: string
}

/**
 * An activation. It is active while `releasedAtMs` is null. Times in milliseconds since 1970 UTC. Spec: format 1
 * section 8, `kill.activated`; decision 0047.
 */
export type ActivationDocument = {
  readonly targetType: KillTargetType
  readonly targetId: string
  readonly response: KillResponse
  readonly drill: { readonly drillId: string; readonly mode: DrillMode } | null
  readonly breakerId: string | null
  /** The writer of its record: a person, `breaker:<name>`, `policy:<trigger>` or the host. */
  readonly actor: string
  /** The ingest key that requested it; null where nobody did. */
  readonly requestedBy: string | null
  /** Null where none was given, or once its part was erased. */
  readonly reason: string | null
  readonly activatedAtMs: number
  /** The epoch that began with it. */
  readonly epoch: number
  /** The highest tier of the agents that it reached when it was made; null where it reached none. */
  readonly highestTier: AutonomyTier | null
  /** Null until they were read: see `kill.expected`. */
  readonly expectedInstances: ReadonlyArray<KillInstance> | null
  /** Instances beyond those that are listed. */
  readonly unlisted: number
  /** When the expected instances that were still silent were recorded; null before. */
  readonly unconfirmedAtMs: number | null
  readonly releasedAtMs: number | null
  readonly releasedBy: string | null
  /** The epoch that began with the release. */
  readonly releaseEpoch: number | null
  readonly releaseReason: string | null
}

/** Acknowledgement of an activation by an instance. Spec: format 1 section 8, `kill.acknowledged`; decision 0047. */
export type AckDocument = {
  readonly activationId: string
  readonly agentId: string
  readonly instanceId: string
  readonly observedAtMs: number | null
  readonly acknowledgedAtMs: number
  readonly inFlight: number
  readonly stoppedAtMs: number | null
}

/** Id of an instance's document of one activation. */
export const ackId = (activationId: string, { agentId, instanceId }: KillInstance): string =>
  `${activationId}/${agentId}/${instanceId}`

/** Look-up keys of an activation: by `state` while it is active, by `expected` until its instances are read. */
export const activationKeys = ({
  expectedInstances,
  releasedAtMs,
  targetId,
  targetType
}: ActivationDocument): { readonly [key: string]: string } => ({
  target: `${targetType}:${targetId}`,
  ...(releasedAtMs === null ? { state: "live" } : {}),
  ...(expectedInstances === null ? { expected: "unread" } : {})
})

/** Look-up keys of an acknowledgement. */
export const ackKeys = ({ activationId }: AckDocument): { readonly [key: string]: string } => ({
  activation: activationId
})

/** Instances by agent. */
export const instancesByAgent = (expected: ReadonlyArray<KillInstance>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const byAgent = new Map<string, Array<string>>()
  for (const { agentId, instanceId } of expected) {
    const known = byAgent.get(agentId)
    if (known === undefined) byAgent.set(agentId, [instanceId])
    else known.push(instanceId)
  }
  return byAgent
}
