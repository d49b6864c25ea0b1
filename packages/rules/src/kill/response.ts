/** The words of the kill switch: responses, targets, and how an agent is reached. */

import { killResponses, killTargetTypes } from "@flyball/evidence/words"

export { killResponses, killTargetTypes }

/** Effect of an activation on the agents that it reaches. Spec: document 1 section 2 shows `halt`; decision 0047. */
export type KillResponse = (typeof killResponses)[number]

/** Responses under which nothing is allowed. */
export const denyingResponses: ReadonlySet<unknown> = new Set<KillResponse>(["drain", "halt", "quarantine"])

/** Type of an activation's target. */
export type KillTargetType = (typeof killTargetTypes)[number]

/** Ways in which a target reaches an agent, nearest first. Spec: decision 0047. */
export const killVias = ["agent", "parent", "model", "org_unit", "deployment"] as const
/** The way in which an activation reaches an agent. */
export type KillVia = (typeof killVias)[number]

/** Modes of a drill: `shadow` changes no verdict, `live` halts. Spec: decision 0048. */
export const drillModes = ["shadow", "live"] as const
/** Mode of a drill. */
export type DrillMode = (typeof drillModes)[number]

/** The place of a response: a higher one is more restrictive. Spec: decision 0047. */
export const severityOfResponse = (response: KillResponse): number => killResponses.indexOf(response)

/**
 * True for a response that forbids new side effects: the status then says `halted`. Spec: document 1 section 3, kill
 * state; `envelope/1` section 11, step 1.
 */
export const halts = (response: KillResponse): boolean => response === "halt" || response === "quarantine"

/**
 * The target of the channel check. It is not an agent, and reaches none. Spec: format 1 section 8, `channel.checked`;
 * decision 0048.
 */
export const CHANNEL_TARGET = "flyball:channel"

/** The id of the target of type `deployment`. Spec: decision 0047. */
export const DEPLOYMENT_TARGET = "deployment"
