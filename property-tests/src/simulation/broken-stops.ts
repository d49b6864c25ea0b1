/** Worlds in which the operator alters what is recorded of stops: recomputation must name it. */
import type { RecordDraft } from "@flyball/core/storage"
import { type BrokenWorld, withCommit } from "./broken-world.ts"
import { stopped } from "./options.ts"

/** A store that seals other bodies of a kind. The documents beside them stay as they were planned. */
const withBodies = (kind: string, change: (body: RecordDraft["body"]) => RecordDraft["body"]) =>
  withCommit(kind, (storage, { records = [], ...rest }) =>
    storage.commit({
      ...rest,
      records: records.map((record) => (record.kind === kind ? { ...record, body: change(record.body) } : record))
    })
  )

/** The worlds. */
export const brokenStops: ReadonlyArray<BrokenWorld> = [
  {
    what: "a store that seals acknowledgements of an activation that never was",
    foundBy: "evaluations",
    says: /"reference_mismatch"/,
    options: stopped,
    ports: () => withBodies("kill.acknowledged", (body) => ({ ...body, activation_id: `kil_${"0".repeat(26)}` }))
  },
  {
    what: "a store that seals every stop as one of the same instance",
    foundBy: "evaluations",
    says: /"acknowledgement_mismatch"/,
    options: stopped,
    ports: () => withBodies("kill.stopped", (body) => ({ ...body, instance_id: "silent" }))
  }
]
