/** Rows of the catalogue: exercises of the kill switch, and the check of its channel. */
import {
  agentId,
  choice,
  count,
  id,
  instant,
  type KindRow,
  keptPart,
  may,
  MIB,
  must,
  name,
  part,
  writer
} from "./row.ts"

const drillId = must("drill_id", id("drl_"))
const activationId = must("activation_id", id("kil_"))
/** There where the drill is aimed at an agent: its tier gate asks for one. */
const ofAgent = may(agentId.name, agentId.type)

/** The rows, in the order of the specification's table. */
export const drillKinds: ReadonlyArray<KindRow> = [
  {
    kind: "drill.started",
    about:
      "An exercise of the kill switch begins, with `kill.activated` in the same commit. The hypothesis: every " +
      "instance acknowledges within `slo_ms`. A live one is released after `max_duration_ms`.",
    body: [
      activationId,
      ofAgent,
      drillId,
      must("max_duration_ms", count),
      must("mode", choice("shadow", "live")),
      must("slo_ms", count),
      must("started_at", instant),
      must("target_id", name(200)),
      must("target_type", choice("agent", "model", "org_unit", "deployment")),
      writer
    ],
    parts: [part("scenario", 16_384, "any text as JSON: what is exercised")]
  },
  {
    kind: "drill.completed",
    about:
      "What the drill came to, by the acknowledgements up to the record `as_of_seq`. `expected` counts the " +
      "instances that were expected or acknowledged, `missed` in the part of that name those that never answered, " +
      "`unlisted` those in no list. The times from activation to acknowledgement are nearest-rank percentiles and " +
      "the longest. `met`: the hypothesis held.",
    body: [
      must("acknowledged", count),
      ofAgent,
      must("as_of_seq", count),
      must("completed_at", instant),
      drillId,
      must("expected", count),
      may("max_ms", count),
      must("met", { type: "boolean" }),
      may("p50_ms", count),
      may("p95_ms", count),
      may("unlisted", count),
      writer
    ],
    parts: [
      keptPart(
        "missed",
        MIB,
        "`[{agent_id, instance_id}]`, by name: the instances that never answered; left out where there is none; " +
          "never erased"
      )
    ]
  },
  {
    kind: "drill.attested",
    about: "A person other than the one who started it vouches for the result of a drill.",
    body: [ofAgent, must("attested_at", instant), drillId, writer],
    parts: []
  },
  {
    kind: "channel.checked",
    about:
      "A shadow drill on the reserved target `flyball:channel` went the way of a real halt. `armed`: its activation " +
      "and its release showed in the status. `latency_ms`: from the activation until it did.",
    body: [
      activationId,
      must("armed", { type: "boolean" }),
      must("checked_at", instant),
      may("latency_ms", count),
      writer
    ],
    parts: []
  }
]
