/** Telemetry. */
import type { telemetry } from "@flyball/contract/http"
import { Telemetry } from "@flyball/core"
import { Effect } from "effect"
import { json } from "../answer/answer.ts"
import type { HandlersOf } from "../request/call.ts"
import { scopeOf } from "../request/caller.ts"

/** Handlers of the group `telemetry`. */
export const telemetryHandlers: HandlersOf<typeof telemetry> = {
  usage: ({ caller, query }) =>
    Effect.map(
      Telemetry.use((service) => service.usage(query, scopeOf(caller))),
      json
    )
}
