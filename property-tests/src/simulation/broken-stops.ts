/** Worlds in which the operator alters what is recorded of stops and of agents: recomputation must name it. */
import type { RecordDraft } from "@flyball/core/storage"
import { RESPONSE_POLICY } from "../../../packages/rules/src/index.ts"
import { type BrokenWorld, withCommit } from "./broken-world.ts"
import { answered, broken, stopped } from "./options.ts"

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
  },
  {
    what: "a store that seals decisions of an active agent as those of a suspended one",
    foundBy: "evaluations",
    says: /"tier_mismatch".*the record says suspended/,
    options: broken,
    ports: () => withBodies("decision.witnessed", (body) => ({ ...body, agent_status: "suspended" }))
  },
  {
    what: "a store that seals each activation as one by a rule that activates nothing",
    foundBy: "evaluations",
    says: /"response_mismatch".*policy:drift/,
    options: stopped,
    ports: () => withBodies("kill.activated", (body) => ({ ...body, writer: "policy:drift" }))
  },
  {
    what: "a store that seals every answer to a request as a mere notice",
    foundBy: "evaluations",
    says: /"response_mismatch".*answers with/,
    options: answered,
    ports: () =>
      withBodies("kill.activated", (body) =>
        body["writer"] === "policy:agent_request" ? { ...body, response: "notify" } : body
      )
  },
  {
    what: "a store that seals requests without what they activate",
    foundBy: "evaluations",
    says: /"response_mismatch".*nothing was activated/,
    options: answered,
    ports: () => withBodies("kill.requested", ({ activation_id: _, ...body }) => body)
  },
  {
    what: "a store that answers requests by a policy that was replaced meanwhile",
    foundBy: "evaluations",
    says: /"response_mismatch"/,
    options: answered,
    ports: () =>
      withCommit("kill.requested", (storage, { expects = [], ...change }) =>
        storage.commit({ ...change, expects: expects.filter(({ collection }) => collection !== RESPONSE_POLICY) })
      )
  }
]
