/** Ends a call early. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Who does it. Some acts need two people, a history says who did what, and writers take turns where there is a queue,
 * so a host says who calls; left out, it is the governor's own writer.
 */
export interface ActOptions extends CallOptions {
  /** `usr_…`, `key_…` or `system:<name>`. */
  readonly writer?: string | undefined
}
