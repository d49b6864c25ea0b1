/** A store as rules 1 wrote it, for tests of what a later version makes of it. */
import type { ChangeSet, DocumentPut, JsonObject, RecordDraft, StorageApi } from "../storage/port.ts"

const withoutMember = <A extends { readonly [name: string]: unknown }>(
  members: A,
  ...names: ReadonlyArray<string>
): A => Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name))) as A

/** Members that bodies of agents' records have had since. */
const laterBody = ["model_ids", "org_unit_digest", "owner_complete", "parent_agent_id"]
/** Members that documents of agents have had since. */
const laterDocument = ["orgUnitDigest", "parentAgentId", "sealedModelIds"]

const olderRecord = (record: RecordDraft): RecordDraft =>
  ["agent.registered", "agent.updated", "agent.owner_transferred"].includes(record.kind)
    ? { ...record, body: withoutMember(record.body as JsonObject, ...laterBody) }
    : record.kind === "agent.activated"
      ? { ...record, body: withoutMember(record.body as JsonObject, "rules") }
      : record

const olderPut = (put: DocumentPut): DocumentPut =>
  put.collection === "agents"
    ? {
        ...put,
        body: withoutMember(put.body, ...laterDocument, ...(put.expectedVersion === 0 ? ["ownerComplete"] : []))
      }
    : put

/** Converts a change of agents to what rules 1 would have written. */
export const asRules1 = (change: ChangeSet): ChangeSet => ({
  ...change,
  ...(change.records === undefined ? {} : { records: change.records.map(olderRecord) }),
  ...(change.puts === undefined ? {} : { puts: change.puts.map(olderPut) })
})

/** A store whose commits are those of rules 1 while `isOld` says so. */
export const storeOfRules1 =
  (isOld: () => boolean) =>
  (storage: StorageApi): StorageApi => ({
    ...storage,
    commit: (change) => storage.commit(isOld() ? asRules1(change) : change)
  })
