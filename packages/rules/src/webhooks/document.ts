/** The webhook as state. Plain data. */
import { namesOf } from "../records/part-members.ts"
import type { EndpointStatus } from "./endpoint-states.ts"

/** Why a webhook was changed, as its record says. */
export type ChangeCause = "owner" | "seventh_failure" | "secret_rotated" | "enabled"

/** Address and description of a webhook: the members of the part `endpoint`. */
export type EndpointPart = {
  /** Null once the part was erased; nothing is sent then. */
  readonly url: string | null
  readonly description: string | null
  /** Address that is notified when it fails. */
  readonly notifyEmail: string | null
}

/** The remainder after the part was erased. Spec: decision 0006. */
export const erasedEndpoint: EndpointPart = { url: null, description: null, notifyEmail: null }

/** Members that come from the part `endpoint`. */
export const endpointMembers = namesOf(erasedEndpoint)

/**
 * A webhook's document. Its id begins with the time of its creation; its secret is elsewhere.
 *
 * Spec: document 2 section 2, "Webhook endpoint"; api "agents and registry", `/webhooks`.
 */
export type WebhookDocument = EndpointPart & {
  readonly events: ReadonlyArray<string>
  /** Whose events it gets: see {@link ownerOf}; null: those of the governance, which have no owner. */
  readonly owner: string | null
  readonly status: EndpointStatus
  /** Cause of its status; null before its first transition. */
  readonly cause: ChangeCause | null
  /** Writer who made it. */
  readonly createdBy: string
}

/**
 * The owner of events and webhooks that an org unit's digest stands for. The records have the whole digest.
 *
 * - Shape: 16 lower-case hex digits, the first of SHA-256 over the org unit's name.
 * - Spec: document 2 section 6.
 */
export const ownerOf = (orgUnitDigest: string): string => orgUnitDigest.slice(0, 16)

/** The look-up keys by which storage finds who wants an event: an endpoint that is not active wants none. */
export const webhookKeys = ({
  events,
  owner,
  status
}: Pick<WebhookDocument, "events" | "owner" | "status">): { readonly [key: string]: string } =>
  status === "active"
    ? Object.fromEntries(events.map((type) => [owner === null ? `on:${type}` : `on:${type}:${owner}`, "yes"]))
    : {}
