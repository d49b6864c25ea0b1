/** Liveness. Spec: document 1 section 4, `/healthz`, `/status`. */
import { Schema } from "effect"

/** Answer of GET /healthz: storage answers. Spec: document 1 section 4, GET /healthz; decision 0023. */
export const HealthOut = Schema.Struct({ status: Schema.Literal("ok") })

/**
 * Answer of GET /status: the process lives, and which version it is. It never touches the database. Spec: document 1
 * section 4, GET /status.
 */
export const StatusOut = Schema.Struct({ status: Schema.Literal("live"), version: Schema.String })
