/** The one kind of error that a host without Effect sees. */

/**
 * The error that a governor's promise rejects with.
 *
 * `code` is the refusal's tag in snake_case, as on the wire (`agent_not_found`, `client_ref_reused` …), a fault
 * (`storage_unavailable`, `storage_conflict`, `storage_corrupt`),
 * `aborted`, `closed`, or `internal_error`. `detail` is what the caller needs to act: the indexes of a batch, the list
 * of an `invalid_input`.
 */
export class GovernorError extends Error {
  override readonly name = "GovernorError"
  readonly code: string
  readonly detail: unknown

  constructor(code: string, message: string, options: { readonly detail?: unknown; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.code = code
    this.detail = options.detail ?? null
  }
}
