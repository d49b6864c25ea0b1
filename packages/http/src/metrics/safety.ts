/** Metrics of agents and of the kill switch's readiness, read from the store when the metrics are read. */
import { type MetricFamily, Safety } from "@flyball/core"
import { Effect } from "effect"
import { gauge } from "./exposition.ts"

/** A store that takes longer says nothing of them. */
const READ_TIMEOUT = "2 seconds"

/** Agents, overdue drills and the last check of the channel; without samples where the store does not answer. */
export const safetyFamilies: Effect.Effect<ReadonlyArray<MetricFamily>, never, Safety> = Effect.gen(function* () {
  const health = yield* Safety.use((safety) => safety.health).pipe(
    Effect.timeoutOption(READ_TIMEOUT),
    Effect.map((read) => (read._tag === "Some" ? read.value : null)),
    Effect.catch(() => Effect.succeed(null))
  )
  const armed = health?.channelArmed ?? null
  const ageMs = health?.channelAgeMs ?? null
  return [
    {
      name: "flyball_agents",
      type: "gauge",
      help:
        "Agents by status and org unit, counted once a minute. The unit without a name has those of further and of " +
        "erased units.",
      samples: (health?.agents ?? []).map(({ count, orgUnit, status }) => ({
        labels: { status, org_unit: orgUnit },
        value: count
      }))
    },
    gauge(
      "flyball_drills_overdue_agents",
      "Agents whose tier needs a drill attested within 30 days, and that have none. Counted once a minute.",
      health?.overdueDrills ?? null
    ),
    gauge(
      "flyball_channel_check_age_seconds",
      "Age of the last check of the kill switch's channel. More than twice its period: nobody checks.",
      ageMs === null ? null : ageMs / 1_000
    ),
    gauge(
      "flyball_channel_up",
      "1 when the last check showed in the kill status, else 0.",
      armed === null ? null : Number(armed)
    )
  ]
})
