/** The body of a record of an evaluation, read as it lies: no copy is made of what is compared once. */
import type { AutonomyTier } from "../agents/document.ts"
import type { Outcome } from "@flyball/envelope"
import type { JsonMap } from "../records/record.ts"

/** A meter of a side. `amount` is there where the evaluation adds to the window. */
export interface MeterBody {
  readonly after: number
  readonly amount?: number
  readonly id: string
  readonly value: number
  readonly window: string
}

/** One side of a recorded evaluation, enforced or on trial. */
export interface SideBody {
  readonly layers: ReadonlyArray<{ readonly digest: string; readonly envelope_id: string; readonly version: number }>
  readonly matched_rule: string
  readonly meters: ReadonlyArray<MeterBody>
  readonly outcome: Outcome
  readonly stopped_on?: string
  readonly trace: ReadonlyArray<number>
}

/** The members of a body that recomputation reads. */
export interface EvaluationBody extends SideBody {
  readonly action_digest?: string
  readonly activations?: ReadonlyArray<JsonMap>
  readonly agent_id: string
  readonly agent_status: string
  readonly approval_id?: string
  readonly args_redacted?: boolean
  readonly as_of_ms: number
  readonly as_of_seq: number
  readonly client_ref: string
  readonly decided_by: string
  readonly effective_tier?: AutonomyTier
  readonly evaluation_id: string
  readonly latches?: ReadonlyArray<string>
  readonly mode: string
  readonly review_id?: string
  readonly rules?: number
  readonly run_id?: string
  readonly shadow?: SideBody
  readonly standing_approval_id?: string
  readonly tier: AutonomyTier
  readonly waivers?: ReadonlyArray<string>
  readonly writer: string
}

/** A body of `evaluation.made` that the catalogue found in order: it has these members, of these types. */
export const evaluationBody = (body: JsonMap): EvaluationBody => body as unknown as EvaluationBody

/** The sides of a body. */
export const sidesOf = (body: EvaluationBody): ReadonlyArray<SideBody> =>
  body.shadow === undefined ? [body] : [body, body.shadow]
