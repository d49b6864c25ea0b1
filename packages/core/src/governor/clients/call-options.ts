/** Aborts a call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * The writer of an act: some acts need two people, records name the author, and queues take writers in turn. Default:
 * the governor's own writer.
 */
export interface ActOptions extends CallOptions {
  /** `usr_…`, `key_…` or `system:<name>`. */
  readonly writer?: string | undefined
}
