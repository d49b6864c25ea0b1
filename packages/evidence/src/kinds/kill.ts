/** Rows of the catalogue: the kill switch. */
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
  name,
  part,
  rules,
  tier,
  writer
} from "./row.ts"

const activationId = must("activation_id", id("kil_"))
const epoch = must("epoch", count)
const instanceId = must("instance_id", name(128))
const reasonPart = part("reason", 16_384, "a JSON string: the reason that was given")
const responses = choice("notify", "step_down", "drain", "halt", "quarantine")
const drillMode = choice("shadow", "live")

const instances = { type: "integer", min: 0, max: 4_096 } as const
const expectedPart = keptPart(
  "expected",
  MIB,
  "`[{agent_id, instance_id}]`: the instances, by agent and instance; left out where there is none; never erased"
)

/** The rows, in the order of the specification's table. */
export const killKinds: ReadonlyArray<KindRow> = [
  {
    kind: "kill.requested",
    about:
      "An ingest key requested that its agent be stopped. With `activation_id` a row of the response policy matched, " +
      "and this commit activates. Without it nothing was stopped. `rules` as in `kill.activated`.",
    body: [may("activation_id", id("kil_")), agentId, must("requested_at", instant), rules, writer],
    parts: [reasonPart]
  },
  {
    kind: "kill.activated",
    about:
      "The response applies to every agent that the target reaches, from this record until the release that names " +
      "`activation_id`. `epoch` counts the changes of the deployment's kill state. `highest_tier` is that of the " +
      "agents reached; absent if there is none. With `drill` it is an exercise. A `shadow` drill changes no " +
      "verdict. `rules` is the version of the rules that chose the response. A " +
      "`kill.expected` follows, except after the check of the channel, which expects nobody.",
    body: [
      must("activated_at", instant),
      activationId,
      may("breaker_id", id("brk_")),
      may("drill", { type: "object", members: [must("drill_id", id("drl_")), must("mode", drillMode)] }),
      epoch,
      may("highest_tier", tier),
      may("requested_by", { type: "writer" }),
      must("response", responses),
      rules,
      must("target_id", foreignName(200)),
      must("target_type", choice("agent", "model", "org_unit", "deployment")),
      writer
    ],
    parts: [reasonPart]
  },
  {
    kind: "kill.expected",
    about:
      "The instances that an activation expects to hear from: those in `decision.witnessed` and `evaluation.made` of " +
      "the agents that it reaches, before its record and in the hour before its `activated_at`, without those whose " +
      "`instance.ended` follows the last of these. It follows the activation once, also after a release. `expected` " +
      "is the number of instances in the part of that name, `unlisted` the number of further ones. With `cut` only " +
      "the newest 20,000 of all these records were read.",
    body: [activationId, may("cut", { type: "boolean" }), must("expected", instances), may("unlisted", count), writer],
    parts: [expectedPart]
  },
  {
    kind: "kill.acknowledged",
    about: "An instance reported that it saw the activation. `in_flight` is the number of its actions in progress.",
    body: [
      must("acknowledged_at", instant),
      activationId,
      agentId,
      must("in_flight", count),
      instanceId,
      may("observed_at", instant),
      writer
    ],
    parts: []
  },
  {
    kind: "kill.stopped",
    about: "An instance reported that no action that the activation forbids is in progress any more.",
    body: [activationId, agentId, instanceId, must("stopped_at", instant), writer],
    parts: []
  },
  {
    kind: "kill.unconfirmed",
    about: "`instances` expected instances did not acknowledge in time. It is unknown whether they stopped.",
    body: [activationId, must("instances", count), must("unconfirmed_at", instant), writer],
    parts: [keptPart("instances", MIB, "`[{agent_id, instance_id}]`: which ones; never erased")]
  },
  {
    kind: "kill.released",
    about:
      "One activation ended. Other activations stay in force. `highest_tier` is the highest tier of the agents " +
      "reached at the release; absent if there is none.",
    body: [activationId, epoch, may("highest_tier", tier), must("released_at", instant), writer],
    parts: [reasonPart]
  }
]
