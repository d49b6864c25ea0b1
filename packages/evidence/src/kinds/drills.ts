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
  foreignName,
  part,
  writer
} from "./row.ts"

const drillId = must("drill_id", id("drl_"))
const activationId = must("activation_id", id("kil_"))
/** Present where the target of the drill is an agent: its tier gate needs one. */
const ofAgent = may(agentId.name, agentId.type)

/** The rows, in the order of the specification's table. */
export const drillKinds: ReadonlyArray<KindRow> = [
  {
    kind: "drill.started",
    about:
      "A drill of the kill switch begins, with `kill.activated` in the same commit. Its hypothesis: every instance " +
      "acknowledges within `slo_ms`. A `live` drill is released after `max_duration_ms`.",
    body: [
      activationId,
      ofAgent,
      drillId,
      must("max_duration_ms", count),
      must("mode", choice("shadow", "live")),
      must("slo_ms", count),
      must("started_at", instant),
      must("target_id", foreignName(200)),
      must("target_type", choice("agent", "model", "org_unit", "deployment")),
      writer
    ],
    parts: [part("scenario", 16_384, "a JSON string: what is exercised")]
  },
  {
    kind: "drill.completed",
    about:
      "The result of a drill, from the acknowledgements up to record `as_of_seq`. `expected` is the number of " +
      "instances that were expected or acknowledged. `missed`, in the part of that name, are those that never " +
      "answered. `unlisted` is the number of instances in no list. The times run from activation to acknowledgement: " +
      "nearest-rank percentiles and the maximum. `met`: the hypothesis held.",
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
    about:
      "A person other than the one who started the drill attested its result. `met` is that of `drill.completed`: a " +
      "drill that was met counts for the tier of its agent.",
    body: [ofAgent, must("attested_at", instant), drillId, must("met", { type: "boolean" }), writer],
    parts: []
  },
  {
    kind: "channel.checked",
    about:
      "A shadow drill on the reserved target `flyball:channel` took the path of a real halt. `armed`: its activation " +
      "and its release appeared in the status. `latency_ms` is the time from the activation until it appeared.",
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
