/** Ends a call early. */
export interface CallOptions {
  readonly signal?: AbortSignal
}
