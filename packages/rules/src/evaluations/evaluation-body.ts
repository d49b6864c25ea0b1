/** The body of a record of an evaluation, read as it lies: no copy is made of what is compared once. */
import type { EvaluationBody } from "@flyball/evidence"
import type { JsonMap } from "../records/record.ts"

export type { EvaluationBody }

/** One side of a recorded evaluation, enforced or on trial. */
export type SideBody = NonNullable<EvaluationBody["shadow"]>

/** A meter of a side. `amount` is there where the evaluation adds to the window. */
export type MeterBody = SideBody["meters"][number]

/** A body of `evaluation.made` that the catalogue found in order: it has these members, of these types. */
export const evaluationBody = (body: JsonMap): EvaluationBody => body as EvaluationBody

/** The sides of a body. */
export const sidesOf = (body: EvaluationBody): ReadonlyArray<SideBody> =>
  body.shadow === undefined ? [body] : [body, body.shadow]
