/** Telemetry through the plain client. */
import { decode, TelemetryQuery } from "@flyball/contract"
import { Effect } from "effect"
import { Telemetry } from "../../outward/telemetry/service.ts"
import type { Client } from "./client.ts"
import { query } from "./input.ts"
import type { TelemetryClient } from "./types/telemetry-client-types.ts"

const decodeUsage = query(decode(TelemetryQuery))

/** Telemetry over a client. */
export const telemetryClient = ({ run }: Client): TelemetryClient => ({
  usage: (window = {}, options) =>
    run(
      Effect.flatMap(decodeUsage(window), (read) => Telemetry.use((telemetry) => telemetry.usage(read))),
      options
    )
})
