/** Plans the setting of the response policy. Pure. */
import { autonomyTiers, detailItem, type DetailItem, InvalidInput } from "@flyball/contract"
import { canonicalBytes, MAX_PART_BYTES } from "@flyball/evidence"
import {
  besideSuspension,
  type PolicyRow,
  RESPONSE_POLICY,
  RESPONSE_POLICY_ID,
  type ResponsePolicyDocument,
  suspendingTriggers
} from "@flyball/rules"
import { Result } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import type { ChangeSet } from "../../storage/port.ts"
import { policyRowOut, type StoredPolicy } from "./document.ts"

/** The policy there will be, and the change that makes it. */
export interface PolicyPlan {
  readonly policy: ResponsePolicyDocument
  readonly change: ChangeSet
}

/**
 * Decides what setting the response policy would change: all of it, in one record.
 *
 * An org unit may have no agents yet. `agents`: the targets of rows that are agents.
 *
 * - Fails: `InvalidInput` for a second row of one scope, target and trigger; for a target that is no agent or tier or
 *   does not belong to the scope, since such a row would silently never count; for an orphan's or a recertification's
 *   row that is less than the suspension which comes anyway.
 * - Spec: api.md "bounded autonomy" and "Small things decided"; decision 0046.
 */
export const planSetPolicy = (
  stored: StoredPolicy,
  rows: ReadonlyArray<PolicyRow>,
  agents: ReadonlySet<string>,
  writer: Writer
): Result.Result<PolicyPlan, InvalidInput> => {
  const detail = [...rows.flatMap((row, index) => problemsOf(row, index, agents)), ...repeated(rows)]
  if (detail.length > 0) return Result.fail(new InvalidInput({ detail }))
  const policy: ResponsePolicyDocument = { rows }
  const bytes = canonicalBytes({ rows: rows.map(policyRowOut) })
  if (bytes.length > MAX_PART_BYTES)
    return Result.fail(
      new InvalidInput({
        detail: [detailItem(["body"], "value_error", `Expected rows of up to ${MAX_PART_BYTES} bytes as JSON`)]
      })
    )
  return Result.succeed({
    policy,
    change: {
      puts: [{ collection: RESPONSE_POLICY, id: RESPONSE_POLICY_ID, expectedVersion: stored.version, body: policy }],
      records: [
        {
          kind: "response_policy.changed",
          agentId: null,
          body: { rows: rows.length, writer: writer.id },
          parts: [{ name: "policy", bytes }]
        }
      ]
    }
  })
}

const problemsOf = (row: PolicyRow, index: number, agents: ReadonlySet<string>): ReadonlyArray<DetailItem> => {
  const at = (member: string, msg: string, input: unknown) =>
    detailItem(["body", String(index), member], "value_error", msg, input)
  const wrongTarget = targetProblem(row, agents)
  return [
    ...(wrongTarget === null ? [] : [at("target", wrongTarget, row.target)]),
    ...(suspendingTriggers.has(row.trigger) && !besideSuspension.has(row.response)
      ? [
          at(
            "response",
            `At ${row.trigger} the agent is suspended anyway: expected notify, halt or quarantine`,
            row.response
          )
        ]
      : []),
    ...(row.trigger === "review" && row.response !== "notify"
      ? [at("response", "A review is answered by people: expected notify", row.response)]
      : [])
  ]
}

/** Why a row's target is not one of its scope; null where it is. */
const targetProblem = ({ scope, target }: PolicyRow, agents: ReadonlySet<string>): string | null => {
  if (scope === "default") return target === null ? null : "A default row is for every agent: it has no target"
  if (target === null) return `A row of scope ${scope} needs a target`
  switch (scope) {
    case "tier":
      return (autonomyTiers as ReadonlyArray<string>).includes(target) ? null : "There is no such tier"
    case "org_unit":
      return null
    case "agent":
      return agents.has(target) ? null : "There is no such agent"
  }
}

const repeated = (rows: ReadonlyArray<PolicyRow>): ReadonlyArray<DetailItem> => {
  const seen = new Map<string, number>()
  return rows.flatMap(({ scope, target, trigger }, index) => {
    const key = JSON.stringify([scope, target, trigger])
    const first = seen.get(key)
    if (first === undefined) seen.set(key, index)
    return first === undefined
      ? []
      : [
          detailItem(
            ["body", String(index)],
            "value_error",
            `Row ${first} has the same scope, target and trigger: remove one of the two`
          )
        ]
  })
}
