/** Bounds that more than one shape shares. */

/**
 * Bytes of `args`, `result` or `labels` of one decision.
 *
 * - Unit: bytes, 1 MiB. Far above what a model is given at once; larger content belongs in a store of its own, with its
 *   digest here.
 */
export const PART_LIMIT_BYTES = 1_048_576

/** Most decisions in one batch. Spec: api.md, POST /agents/{id}/decisions. */
export const MAX_BATCH = 1_000

/** Most items of one page. Spec: api.md, Conventions. */
export const MAX_PAGE = 1_000

/** Default number of items of a page, in the lists that are not complete without a limit: they grow with every act. */
export const DEFAULT_PAGE = 100

/** Bytes of a request body. Enough for every shape but a batch. Spec: api.md, Conventions. */
export const BODY_LIMIT_BYTES = 1_048_576

/** Bytes of a body that carries a batch of decisions. Spec: api.md, Conventions. */
export const BATCH_LIMIT_BYTES = 16 * 1_048_576

/** Largest integer that every JSON reader keeps exactly. */
export const MAX_INTEGER = Number.MAX_SAFE_INTEGER

/**
 * Values in a request body.
 *
 * - Unit: commas and opening brackets outside strings, about one for each value. A full batch of the shortest members
 *   has fewer. It bounds the memory of one request. A body with more is `json_invalid`: decision 0036.
 * - Spec: decision 0036.
 */
export const MAX_BODY_VALUES = 3_000_000

/**
 * Members of one JSON object of a body, outside of what is taken as any JSON.
 *
 * No shape has room for more: a free object ends at 65,536 characters. Spec: decision 0036.
 */
export const MAX_BODY_MEMBERS = 16_384

/** Most members of one JSON object in `args`, `result`, `labels` and signals. Hardly more fit into 1 MiB. */
export const MAX_FREE_MEMBERS = 100_000
