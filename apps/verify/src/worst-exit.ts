/** Which of two exit statuses a report has. */
import type { ExitStatus } from "@flyball/evidence"

/** Spec: format 1 section 6, "the order of precedence is 4, 3, 1, 2, 0". */
export const worstExit = (a: ExitStatus, b: ExitStatus): ExitStatus =>
  ([3, 1, 2, 0] as const).find((status) => status === a || status === b)!
