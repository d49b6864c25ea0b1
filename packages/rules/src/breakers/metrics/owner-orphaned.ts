/** `owner_orphaned`: how long nobody has answered for an agent. */
import type { Metric } from "../metric.ts"

/** The metric. */
export const ownerOrphaned: Metric = {
  name: "owner_orphaned",
  about: "Milliseconds since the agent lost its owner, or since the window began if that is later; 0 with an owner.",
  trips: "above `grace_ms`",
  params: { grace_ms: { type: "integer", min: 1_000, max: 31_622_400_000, default: 604_800_000 } },
  kinds: [],
  isAbsence: true,
  reachMs: () => 0,
  start: (params, start) => ({
    add: () => {},
    read: ({ ms }, { orphanedSinceMs }) => {
      const age = orphanedSinceMs === null ? 0 : Math.max(0, ms - Math.max(orphanedSinceMs, start.atMs))
      return {
        value: String(age),
        samples: orphanedSinceMs === null ? 0 : 1,
        tripped: age > Number(params["grace_ms"]),
        fromSeq: null,
        toSeq: null
      }
    },
    forget: () => {}
  })
}
