/** Messages between the host and the thread that answers questions about envelopes and behaviour. */
import type { Answers, Kind, Limits, Questions, Rows } from "@flyball/core/examination"

/**
 * A question comes without its long part, which went before it in slices: writing thousands of rows at once would hold
 * up the host.
 */
export type Requested =
  | { readonly op: "rows"; readonly rows: Rows }
  | { readonly op: "ask"; readonly kind: Kind; readonly about: Questions[Kind]; readonly limits: Limits }

/** Its answer; or why there is none, which is a fault of ours. */
export type Replied =
  | { readonly ok: true; readonly answer: Answers[Kind] }
  | { readonly ok: false; readonly reason: string }
