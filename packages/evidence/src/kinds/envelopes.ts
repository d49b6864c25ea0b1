/** Rows of the catalogue: envelopes, exceptions to them, and verdicts under them. */
import { MAX_PART_BYTES } from "../pack/format.ts"
import type { BodyOf } from "./body-type.ts"
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

const evaluationMembers = [
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
  may("extraction_id", id("ext_")),
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
] as const

/** Body of `evaluation.made`, as its row says. Spec: format 1 section 8. */
export type EvaluationBody = BodyOf<typeof evaluationMembers>

const envelopePart = part("envelope", 262_144, "the envelope, `envelope/1`")

/** The rows, in the order of the specification's table. */
export const envelopeKinds: ReadonlyArray<KindRow> = [
  {
    kind: "evaluation.made",
    about:
      "The service's verdict on an intent, under the envelopes in force just before this record. `shadow` is the " +
      "verdict of the versions on trial; it binds nobody. `rules` is the version of the rules that decided. " +
      "`effective_tier` is the tier whose floor applied. `activations` are the kill switch activations that reached " +
      "the agent, most restrictive first, at most 64; absent if there was none. `action_digest` is SHA-256 over the " +
      "RFC 8785 form of the arguments. `extraction_id` names " +
      "the extraction whose facts the signals `document_*` are. " +
      "The part `args` has those arguments where `args_redacted` is not true.",
    body: evaluationMembers,
    parts: [
      part("action", 1024, "the action that the agent intends, by the agent's name for it"),
      objectPart(
        "advice",
        MIB,
        ["notice_ms?", "obligations", "retry_after_ms?", "suggestion?"],
        "; left out where there is nothing of it"
      ),
      part("args", 262_144, "any JSON: the arguments of the action, which signals of source `args` are read from"),
      part("signals", 65_536, "a JSON object: the signals that the agent gave")
    ]
  },
  {
    kind: "meter.voided",
    about: "The contribution of an evaluation to its meters was removed, because its action was not taken.",
    body: [agentId, must("evaluation_id", id("evl_")), must("evaluation_seq", count), writer],
    parts: [part("reason", 16_384, "a JSON string: the reason that a person gave")]
  },
  {
    kind: "envelope.drafted",
    about:
      "A draft was written or replaced; `revision` counts them. With `agent_id` the envelope is for that agent, " +
      "otherwise for the org unit in the part `profile`.",
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
      "A version is in force from this record on, or on trial where `mode` is `shadow`. The digests are those of the " +
      "parts. `approver` is the person who published a version that newly allows something, and is none of its " +
      "authors.",
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
      part("backtest", MAX_PART_BYTES, "the verdicts of recorded evaluations under this version"),
      part("diff", MAX_PART_BYTES, "the changes from the version before, with examples"),
      envelopePart,
      part("lint", MAX_PART_BYTES, "the findings of the lint")
    ]
  },
  {
    kind: "envelope.withdrawn",
    about:
      "Nothing is in force for the agent or org unit of this envelope. Its evaluations are denied until a version " +
      "is published.",
    body: [envelopeId, writer],
    parts: [part("reason", 16_384, "a JSON string: the reason that a person gave")]
  },
  {
    kind: "waiver.requested",
    about: "A person requested an exception to one rule of the version in force.",
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
      "Another person granted it. It applies to evaluations whose `as_of_ms` is before `expires_at`, while that " +
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
