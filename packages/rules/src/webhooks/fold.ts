/** Folds a webhook's records into the document they say there is. */
import { partMembers } from "../records/part-json.ts"
import { readMembers } from "../records/part-members.ts"
import type { ExpectedDocument, Json, ReplayRecord } from "../records/record.ts"
import { type ChangeCause, endpointMembers, erasedEndpoint, ownerOf, type WebhookDocument } from "./document.ts"
import type { EndpointStatus } from "./endpoint-states.ts"

/** The document after `webhook.created`. */
export const foldWebhookCreated = (record: ReplayRecord): ExpectedDocument => {
  const { body } = record
  const webhook: WebhookDocument = {
    ...erasedEndpoint,
    events: typesOf(body["events"]),
    owner: typeof body["owner_digest"] === "string" ? ownerOf(body["owner_digest"]) : null,
    status: "active",
    cause: null,
    createdBy: String(body["writer"])
  }
  return withEndpoint(
    {
      collection: "webhooks",
      id: String(body["webhook_id"]),
      body: webhook,
      unique: {},
      unknown: [],
      erased: [],
      personal: endpointMembers
    },
    record
  )
}

/** The document after `webhook.changed`: what the record does not name stays. */
export const foldWebhookChanged = (webhook: ExpectedDocument, record: ReplayRecord): ExpectedDocument => {
  const { cause, events, status } = record.body
  const body = {
    ...webhook.body,
    ...(events === undefined ? {} : { events: typesOf(events) }),
    ...(status === undefined ? {} : { status: String(status) as EndpointStatus, cause: String(cause) as ChangeCause })
  }
  return record.parts.has("endpoint") ? withEndpoint({ ...webhook, body }, record) : { ...webhook, body }
}

/** The document after `webhook.revoked`. */
export const foldWebhookRevoked = (webhook: ExpectedDocument): ExpectedDocument => ({
  ...webhook,
  body: { ...webhook.body, status: "revoked", cause: "owner" }
})

const withEndpoint = (webhook: ExpectedDocument, record: ReplayRecord): ExpectedDocument => {
  const part = partMembers(record.parts.get("endpoint"))
  return {
    ...webhook,
    body: { ...webhook.body, ...readMembers(part.state === "known" ? part.members : {}, erasedEndpoint) },
    unknown: part.state === "known" || part.state === "erased" ? [] : endpointMembers,
    erased: part.state === "erased" ? endpointMembers : []
  }
}

const typesOf = (value: Json | undefined): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])
