/** Standing approvals as a host without Effect sees them. */
import type {
  StandingApproval,
  StandingApprovalCreate,
  StandingApprovalListQuery,
  StandingApprovalRevokeIn
} from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"
import type { Filter, Info, Input } from "@flyball/contract"

/** Input of a proposal. Spec: decision 0050. */
export interface StandingApprovalInput extends Input<typeof StandingApprovalCreate> {}

/** A standing approval with its remaining uses. Spec: decision 0050. */
export interface StandingApprovalInfo extends Info<typeof StandingApproval> {}

/** Standing approvals: approvals in advance, of a box of inputs. Spec: decision 0050. */
export interface StandingApprovalsClient {
  /** Proposes one from a review that the writer approved. It approves nothing before another writer grants it. */
  propose(proposal: StandingApprovalInput, options?: ActOptions): Promise<StandingApprovalInfo>
  get(id: string, options?: CallOptions): Promise<StandingApprovalInfo>
  /** Oldest first. */
  list(
    filter?: Filter<typeof StandingApprovalListQuery>,
    options?: CallOptions
  ): Promise<ReadonlyArray<StandingApprovalInfo>>
  /** Puts it in force. Another writer than its proposer's: else `second_approver_required`. */
  grant(id: string, options?: ActOptions): Promise<StandingApprovalInfo>
  /** Ends it at once. */
  revoke(id: string, why?: Input<typeof StandingApprovalRevokeIn>, options?: ActOptions): Promise<StandingApprovalInfo>
}
