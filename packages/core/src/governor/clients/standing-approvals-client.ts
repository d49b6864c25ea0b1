/** Standing approvals through the plain client. */
import { decode, StandingApprovalCreate, StandingApprovalListQuery, StandingApprovalRevokeIn } from "@flyball/contract"
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { StandingApprovals } from "../../verdicts/standing-approvals/service.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded, query } from "./input.ts"
import type { StandingApprovalsClient } from "./types/standing-approvals-client-types.ts"

const decodeCreate = decode(StandingApprovalCreate)
const decodeList = query(decode(StandingApprovalListQuery))
const decodeRevoke = decode(StandingApprovalRevokeIn)

/** Standing approvals over a client. */
export const standingApprovalsClient = (client: Client, own: Writer): StandingApprovalsClient => {
  const act = acting(client, own)
  return {
    propose: (proposal, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeCreate, proposal), (read) =>
            StandingApprovals.use((approvals) => approvals.propose(read, writer))
          ),
        options
      ),
    get: (id, options) =>
      client.run(
        StandingApprovals.use((approvals) => approvals.get(id)),
        options
      ),
    list: (filter = {}, options) =>
      client.run(
        Effect.flatMap(decodeList(filter), (read) => StandingApprovals.use((approvals) => approvals.list(read))),
        options
      ),
    grant: (id, options) => act((writer) => StandingApprovals.use((approvals) => approvals.grant(id, writer)), options),
    revoke: (id, why = {}, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeRevoke, why), (read) =>
            StandingApprovals.use((approvals) => approvals.revoke(id, read, writer))
          ),
        options
      )
  }
}
