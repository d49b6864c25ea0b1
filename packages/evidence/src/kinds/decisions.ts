/** Rows of the catalogue: what agents did, and what is missing of it. */
import type { BodyOf } from "./body-type.ts"
import {
  choice,
  count,
  foreignName,
  hash,
  id,
  instant,
  type KindRow,
  may,
  MIB,
  must,
  name,
  part,
  tier,
  writer
} from "./row.ts"

const usage = {
  type: "object",
  members: [may("cost_micro_usd", count), may("input_tokens", count), may("output_tokens", count)]
} as const

/** A verdict that the agent's SDK gave by itself, and the envelopes that it had read from the service. */
const localVerdict = {
  type: "object",
  members: [
    must("age_ms", count),
    must("as_of_ms", count),
    must("as_of_seq", count),
    must("effective_tier", tier),
    must("layers", {
      type: "list",
      of: {
        type: "object",
        members: [
          must("digest", hash),
          must("envelope_id", id("env_")),
          must("version", { type: "integer", min: 1, max: 1_000_000 })
        ]
      },
      min: 1,
      max: 15
    }),
    must("matched_rule", name(128)),
    must("origin", { type: "origin" }),
    must("outcome", choice("allow", "deny"))
  ]
} as const

const decisionMembers = [
  must("action", foreignName(200)),
  must("agent_id", id("agt_")),
  must("agent_status", choice("draft", "active", "suspended", "decommissioned")),
  may("approval_id", name(200)),
  may("capture", choice("self_reported", "framework_hook", "mediated")),
  must("client_ref", name(128)),
  may("decided_by", choice("server", "sdk_cache", "fail_open", "fail_closed")),
  may("evaluation_id", name(200)),
  may("instance_id", name(128)),
  must("kind", choice("tool_call", "tool_list", "model_call", "message", "handoff", "approval", "other")),
  may("latency_ms", count),
  may("local_verdict", localVerdict),
  may("mode", choice("enforced", "observed")),
  may("model", foreignName(200)),
  may("observed_at", instant),
  may("run_id", name(200)),
  must("status", choice("intended", "ok", "error", "denied", "unknown")),
  may("step", count),
  may("tool_server", foreignName(200)),
  may("usage", usage),
  writer,
  may("writer_seq", count)
] as const

/** Body of `decision.witnessed`, as its row says. Spec: format 1 section 8. */
export type DecisionBody = BodyOf<typeof decisionMembers>

/** The rows, in the order of the specification's table. */
export const decisionKinds: ReadonlyArray<KindRow> = [
  {
    kind: "decision.witnessed",
    about:
      "A decision that an agent made or intends, as its writer reports it. `local_verdict` and the part `signals`, " +
      "its input, are present where `decided_by` is `sdk_cache`. `layers` are the envelopes that the service " +
      "reported as in force at record `as_of_seq` of the chain `origin`. `age_ms` is the time since the service last " +
      "confirmed them.",
    body: decisionMembers,
    parts: [
      part("args", MIB, "any JSON: the arguments of the action"),
      part("labels", MIB, "any JSON: labels of the caller"),
      part("result", MIB, "any JSON: the result of the action"),
      part("signals", MIB, "a JSON object: the signals that the agent gave to its SDK")
    ]
  },
  {
    kind: "decision.settled",
    about: "The outcome of a decision that was witnessed earlier.",
    body: [
      may("actual", {
        type: "list",
        of: { type: "object", members: [must("amount", count), must("meter", name(64))] },
        min: 1,
        max: 16
      }),
      must("agent_id", id("agt_")),
      must("decision_seq", count),
      may("evaluation_seq", count),
      may("latency_ms", count),
      must("status", choice("ok", "error", "denied", "unknown")),
      may("usage", usage),
      writer
    ],
    parts: [part("result", MIB, "any JSON: the result of the action")]
  },
  {
    kind: "capture.gap",
    about: "Decisions are missing from the chain, as the writer reports.",
    body: [
      must("agent_id", id("agt_")),
      must("count", count),
      must("from", instant),
      must("reason", choice("server_unreachable", "spool_full", "crash", "clock", "refused")),
      must("to", instant),
      writer
    ],
    parts: []
  },
  {
    kind: "instance.ended",
    about:
      "An instance of the agent ended, as the writer reports. An activation expects nothing of it, unless the agent " +
      "acts as this instance again.",
    body: [must("agent_id", id("agt_")), must("instance_id", name(128)), writer],
    parts: []
  }
]
