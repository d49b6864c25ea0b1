/** Derives, from the records alone, what each webhook subscribed to and since when. */
import type { ReadRecord } from "./checked.ts"

/** A webhook's subscription from the record at `seq` on. */
export interface Wants {
  readonly seq: number
  readonly active: boolean
  readonly types: ReadonlyArray<string>
}

/** By webhook, oldest first. */
export const wantedBy = (records: ReadonlyArray<ReadRecord>): ReadonlyMap<string, ReadonlyArray<Wants>> => {
  const found = new Map<string, Array<Wants>>()
  for (const { body, kind, seq } of records) {
    if (!kind.startsWith("webhook.")) continue
    const wants = found.get(String(body["webhook_id"])) ?? []
    const last = wants.at(-1)
    const types = Array.isArray(body["events"]) ? body["events"].map(String) : (last?.types ?? [])
    const status = kind === "webhook.created" ? "active" : kind === "webhook.revoked" ? "revoked" : body["status"]
    wants.push({ seq, types, active: status === undefined ? last?.active === true : status === "active" })
    found.set(String(body["webhook_id"]), wants)
  }
  return found
}
