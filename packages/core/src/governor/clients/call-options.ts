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
  /** Roles of the person by org unit. Left out, the host is responsible for the person's right to act. */
  readonly grants?: ReadonlyArray<{ readonly role: string; readonly orgUnit: string }> | undefined
  /** The person's address: with `two_person` the agent's owner does not answer a review. */
  readonly email?: string | undefined
}
