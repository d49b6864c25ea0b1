/** Ends a call early. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Who does it. Some acts need two people, and a history says who did what, so a host says who calls; left out, it is
 * the governor's own writer.
 */
export interface ActOptions extends CallOptions {
  /** `usr_…`, `key_…` or `system:<name>`. */
  readonly writer?: string | undefined
}
