/** Plans the record of a fairness screen. Pure. Spec: decision 0074. */
import { canonicalBytes } from "@flyball/evidence"
import type { Screened, ScreenQuestion } from "@flyball/rules"
import { omitNullish } from "../../foundation/omit-nullish.ts"
import type { Writer } from "../../foundation/writer.ts"
import { event } from "../../storage/event.ts"
import type { ChangeSet, JsonObject } from "../../storage/port.ts"

/** The decisions of a screen: of one agent, or of the agents of an org unit, in these records. */
export interface ScreenWindow {
  readonly agentIds: ReadonlyArray<string>
  /** Null for a screen of one agent. */
  readonly orgUnitDigest: string | null
  readonly action: string | null
  readonly fromSeq: number
  readonly toSeq: number
  readonly asOfSeq: number
}

/** Decides what a screen changes: one record, and an event where a rate is demonstrated to be too low. */
export const planScreen = (
  screenId: string,
  question: ScreenQuestion,
  window: ScreenWindow,
  { counts, values }: Screened,
  writer: Writer
): ChangeSet => {
  const { group, path, positive, source } = question
  const { action, agentIds, asOfSeq, fromSeq, orgUnitDigest, toSeq } = window
  const agentId = orgUnitDigest === null ? agentIds[0]! : null
  const body = omitNullish({
    ...counts,
    action,
    agent_id: agentId,
    agent_ids: agentId === null ? agentIds : null,
    as_of_seq: asOfSeq,
    from_seq: fromSeq,
    org_unit_digest: orgUnitDigest,
    screen_id: screenId,
    source,
    to_seq: toSeq,
    writer: writer.id
  })
  return {
    records: [
      {
        kind: "fairness.screened",
        agentId,
        body: body as JsonObject,
        parts: [{ name: "screen", bytes: canonicalBytes(omitNullish({ group, path, positive, values })) }]
      }
    ],
    events:
      counts.verdict === "demonstrated"
        ? [
            event("fairness.flagged", {
              screen_id: screenId,
              agent_id: agentId,
              decisions: counts.decisions,
              groups: values.length,
              writer: writer.id
            })
          ]
        : []
  }
}
