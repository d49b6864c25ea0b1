/** Plans the attestation of a drill. Pure. */
import { DrillNotAttestable, SecondApproverRequired } from "@flyball/contract"
import { formatInstant } from "@flyball/evidence"
import { attestProblem, type DrillDocument } from "@flyball/rules"
import { Result } from "effect"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { StoredAgent } from "../../registry/agents/document.ts"
import { ERASED_AUTHOR, type SecondPerson } from "../../registry/principals/second-person.ts"
import { event } from "../../storage/event.ts"
import type { AsOf, JsonObject } from "../../storage/port.ts"
import { putDrill, type StoredDrill, type DrillPlan, putAgent, agentOf } from "./document.ts"

/**
 * Decides what attesting a drill changes. One that was met then counts for the tier of the agent that it is aimed at.
 *
 * - Fails: `DrillNotAttestable` where nobody can vouch for it; `SecondApproverRequired` for its
 *   starter, or who may be.
 * - Spec: decision 0048.
 */
export const planAttest = (
  { body, id, version }: StoredDrill,
  agent: StoredAgent | null,
  person: SecondPerson,
  writer: Writer,
  asOf: AsOf
): Result.Result<DrillPlan, DrillNotAttestable | SecondApproverRequired> => {
  const problem = attestProblem(body, asOf.ms)
  if (problem !== null) return Result.fail(new DrillNotAttestable({ why: problem }))
  if (person !== "another")
    return Result.fail(
      new SecondApproverRequired({
        change: "attest",
        sentence: person === "perhaps_them" ? ERASED_AUTHOR : "The person who started the drill cannot attest it."
      })
    )
  const met = body.result?.met === true
  const drill: DrillDocument = { ...body, attestedBy: writer.id, attestedAtMs: asOf.ms }
  return Result.succeed({
    drill,
    change: {
      puts: [
        putDrill(id, version, drill),
        ...(agent === null || !met ? [] : [putAgent(agent, { ...agent.body, drillAttestedAtMs: asOf.ms })])
      ],
      records: [
        {
          kind: "drill.attested",
          agentId: agentOf(body),
          body: omitNullish({
            agent_id: agentOf(body),
            attested_at: formatInstant(asOf.ms),
            drill_id: id,
            met,
            writer: writer.id
          }) as JsonObject,
          parts: []
        }
      ],
      events: [
        event("drill.attested", {
          drill_id: id,
          target_type: body.targetType,
          target_id: body.targetId,
          mode: body.mode,
          writer: writer.id
        })
      ]
    }
  })
}
