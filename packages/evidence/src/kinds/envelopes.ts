/** Rows of the catalogue: envelopes, exceptions to them, and verdicts under them. */
import { MAX_PART_BYTES } from "../pack/format.ts"
import {
  agentId,
  choice,
  count,
  hash,
  id,
  instant,
  type KindRow,
  may,
  MIB,
  must,
  name,
  objectPart,
  part,
  rules,
  tier,
  writer
} from "./row.ts"

const envelopeId = must("envelope_id", id("env_"))
const authors = must("authors", { type: "list", of: { type: "writer" }, min: 1, max: 64 })
const outcome = choice("allow", "allow_with_notice", "require_review", "deny", "halt")
/**
 * Where each rule failed: the axis, -1 where it holds, -2 where it can hold nowhere. Empty where the evaluation ended
 * early.
 */
const trace = must("trace", { type: "list", of: { type: "integer", min: -2, max: 255 }, min: 0, max: 1_100 })
const layers = must("layers", {
  type: "list",
  of: {
    type: "object",
    members: [must("digest", hash), envelopeId, must("version", { type: "integer", min: 1, max: 1_000_000 })]
  },
  min: 0,
  max: 15
})
/** `amount` is there exactly where this evaluation adds to the window. */
const meters = must("meters", {
  type: "list",
  of: {
    type: "object",
    members: [
      must("after", count),
      may("amount", count),
      must("id", name(64)),
      must("value", count),
      must("window", id("mtr_"))
    ]
  },
  min: 0,
  max: 48
})
const waivers = may("waivers", { type: "list", of: id("wvr_"), min: 1, max: 64 })
const stoppedOn = may("stopped_on", name(64))
const activations = may("activations", {
  type: "list",
  of: {
    type: "object",
    members: [
      may("drill", choice("shadow", "live")),
      must("epoch", count),
      must("id", id("kil_")),
      must("response", choice("notify", "step_down", "drain", "halt", "quarantine")),
      must("via", choice("agent", "parent", "model", "org_unit", "deployment"))
    ]
  },
  min: 1,
  max: 64
})
const envelopePart = part("envelope", 262_144, "the envelope, `envelope/1`")

/** The rows, in the order of the specification's table. */
export const envelopeKinds: ReadonlyArray<KindRow> = [
  {
    kind: "evaluation.made",
    about:
      "Our verdict on what an agent intends, under the envelopes in force just before this record. `shadow` is " +
      "what versions on trial would have said; nobody is bound by it. `rules` is the version of the rules that " +
      "decided, 1 where it is absent. `effective_tier` is the tier whose floor counted: always there from " +
      "rules 2 on, and `tier` before. `activations` are those of the kill switch that reached the agent, most " +
      "restrictive first, up to 64: always there from rules 3 on where there was one. `action_digest` is SHA-256 " +
      "over the RFC 8785 form of the arguments: of the part `args` where `args_redacted` is not true.",
    body: [
      may("action_digest", hash),
      activations,
      agentId,
      must("agent_status", choice("draft", "active", "suspended", "decommissioned")),
      may("approval_id", name(200)),
      may("args_redacted", { type: "boolean" }),
      must("as_of_ms", count),
      must("as_of_seq", count),
      must("client_ref", name(128)),
      must("decided_by", choice("server", "sdk_cache", "fail_open", "fail_closed")),
      may("effective_tier", tier),
      must("evaluation_id", id("evl_")),
      may("instance_id", name(128)),
      may("latches", { type: "list", of: name(64), min: 1, max: 256 }),
      layers,
      must("matched_rule", name(128)),
      meters,
      must("mode", choice("enforced", "shadow")),
      must("outcome", outcome),
      may("review_id", id("rev_")),
      rules,
      may("run_id", name(200)),
      may("shadow", {
        type: "object",
        members: [layers, must("matched_rule", name(128)), meters, must("outcome", outcome), stoppedOn, trace]
      }),
      may("standing_approval_id", id("sap_")),
      stoppedOn,
      must("tier", tier),
      trace,
      waivers,
      writer
    ],
    parts: [
      part("action", 1024, "what the agent is about to do, as it calls it"),
      objectPart(
        "advice",
        MIB,
        ["notice_ms?", "obligations", "retry_after_ms?", "suggestion?"],
        "; left out where there is nothing of it"
      ),
      part("args", 262_144, "any JSON: the arguments of the action, for those who review it"),
      part("signals", 65_536, "what the agent says of it: any JSON object")
    ]
  },
  {
    kind: "meter.voided",
    about: "What an evaluation added to meters is taken away: its action was not taken.",
    body: [agentId, must("evaluation_id", id("evl_")), must("evaluation_seq", count), writer],
    parts: [part("reason", 16_384, "any text as JSON: what a person said of it")]
  },
  {
    kind: "envelope.drafted",
    about:
      "A draft was written, or written again; `revision` counts them. With `agent_id` it is for that agent, " +
      "else for the org unit in the profile.",
    body: [
      may("agent_id", id("agt_")),
      authors,
      must("digest", hash),
      envelopeId,
      must("revision", count),
      must("version", { type: "integer", min: 1, max: 1_000_000 }),
      writer
    ],
    parts: [
      envelopePart,
      objectPart(
        "profile",
        8192,
        ["name", "org_unit?"],
        ", in the first record alone; the org unit only where there is no `agent_id`"
      )
    ]
  },
  {
    kind: "envelope.published",
    about:
      "A version is in force from here on, or on trial where `mode` is `shadow`. The digests are those of the " +
      "parts. `approver` is who published what is newly allowed: none of its authors.",
    body: [
      may("agent_id", id("agt_")),
      may("approver", { type: "writer" }),
      authors,
      must("backtest_digest", hash),
      must("change", choice("equal", "tightening_only", "loosens", "unknown")),
      must("diff_digest", hash),
      must("digest", hash),
      envelopeId,
      must("lint_digest", hash),
      must("mode", choice("enforced", "shadow")),
      must("version", { type: "integer", min: 1, max: 1_000_000 }),
      writer
    ],
    parts: [
      part("backtest", MAX_PART_BYTES, "what recorded evaluations come to under this version"),
      part("diff", MAX_PART_BYTES, "what it changes against the version before it, with examples"),
      envelopePart,
      part("lint", MAX_PART_BYTES, "what was found about it")
    ]
  },
  {
    kind: "envelope.withdrawn",
    about:
      "Nothing is in force for whom this envelope is, and every evaluation is denied, until a version is published.",
    body: [envelopeId, writer],
    parts: [part("reason", 16_384, "any text as JSON: what a person said of it")]
  },
  {
    kind: "waiver.requested",
    about: "Somebody asks for an exception to one rule of the version in force.",
    body: [
      envelopeId,
      must("expires_at", instant),
      must("rule_id", name(64)),
      must("version", { type: "integer", min: 1, max: 1_000_000 }),
      must("waiver_id", id("wvr_")),
      writer
    ],
    parts: [objectPart("waiver", 65_536, ["reason", "unless"])]
  },
  {
    kind: "waiver.granted",
    about:
      "Somebody else grants it. It holds for evaluations whose `as_of_ms` is before `expires_at`, while that " +
      "version is in force.",
    body: [
      envelopeId,
      must("expires_at", instant),
      must("requested_by", { type: "writer" }),
      must("rule_id", name(64)),
      must("version", { type: "integer", min: 1, max: 1_000_000 }),
      must("waiver_id", id("wvr_")),
      writer
    ],
    parts: [objectPart("waiver", 65_536, ["reason", "unless"], ", as in the request")]
  }
]
