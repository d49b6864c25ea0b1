/** Rows of the catalogue: agents, what they are made of, and models. */
import { MAX_PART_BYTES } from "../pack/format.ts"
import {
  agentId,
  type BodyMember,
  choice,
  count,
  hash,
  id,
  instant,
  type KindRow,
  may,
  modelIds,
  must,
  foreignName,
  name,
  objectPart,
  orgUnitDigest,
  ownerComplete,
  parentAgentId,
  part,
  type PartRow,
  rules,
  tier,
  writer
} from "./row.ts"

const riskClass = choice("prohibited", "high", "limited", "minimal", "unclassified")
const profilePart = (more = ""): PartRow =>
  objectPart(
    "profile",
    MAX_PART_BYTES,
    [
      "agent_version?",
      "blast_radius",
      "description?",
      "framework?",
      "labels",
      "model_ids",
      "name",
      "org_unit?",
      "purpose?"
    ],
    more
  )
const modelBody: ReadonlyArray<BodyMember> = [
  may("hosting", choice("vendor_api", "cloud_tenant", "self_hosted")),
  must("model_id", id("mdl_")),
  must("name", foreignName(200)),
  may("price", {
    type: "object",
    members: [may("input_micro_usd_per_mtok", count), may("output_micro_usd_per_mtok", count)]
  }),
  must("provider", foreignName(200)),
  must("status", choice("allowed", "restricted", "retired")),
  may("version", foreignName(200)),
  writer
]

/** The rows, in the order of the specification's table. */
export const agentKinds: ReadonlyArray<KindRow> = [
  {
    kind: "agent.registered",
    about:
      "An agent was registered, with the status `draft`. `owner_complete` is true where its owner has a name " +
      "and an e-mail address; where it is false, the agent has no accountable owner. `model_ids`, " +
      "`org_unit_digest` and `parent_agent_id` decide which halts reach the agent. They stay when the profile " +
      "is erased. The parent is an agent of the same org unit that was registered before. An agent has at most " +
      "8 ancestors. `org_unit_digest` is SHA-256 over `flyball/v1 org_unit`, a zero byte, the first 4 bytes of " +
      "SHA-256 of the origin, and the org unit.",
    body: [
      must("agent_id", id("agt_")),
      must("autonomy_tier", tier),
      modelIds,
      orgUnitDigest,
      ownerComplete,
      parentAgentId,
      may("recert_due_at", instant),
      may("risk_class", riskClass),
      writer
    ],
    parts: [
      objectPart("owner", 8192, ["owner_email?", "owner_name?"], "; left out when both are absent"),
      profilePart()
    ]
  },
  {
    kind: "agent.updated",
    about:
      "The complete state of an agent from this record on: an absent member has no value any more. The part " +
      "`profile` is absent where it did not change. `model_ids`, `org_unit_digest`, `owner_complete` and " +
      "`parent_agent_id` are as in `agent.registered`; where one is absent, its value in an earlier record still " +
      "holds. A parent never changes. With the writer `system:migration` the record adds these members to an agent " +
      "of the chain before.",
    body: [
      agentId,
      must("autonomy_tier", tier),
      modelIds,
      orgUnitDigest,
      ownerComplete,
      parentAgentId,
      may("recert_due_at", instant),
      must("risk_class", riskClass),
      writer
    ],
    parts: [profilePart("; left out when nothing of it changed")]
  },
  {
    kind: "agent.activated",
    about:
      "The agent may act by itself, within its tier and its envelopes. `rules` is the version of the rules that " +
      "permitted it.",
    body: [agentId, rules, writer],
    parts: []
  },
  {
    kind: "agent.suspended",
    about: "The agent may not act until it is activated again.",
    body: [agentId, must("reason", choice("manual", "orphan_grace", "recert_overdue", "breaker", "kill")), writer],
    parts: [part("reason", 8192, "a JSON string: the reason that a person gave")]
  },
  {
    kind: "agent.decommissioned",
    about: "The agent was decommissioned. This is final.",
    body: [agentId, must("decommissioned_at", instant), writer],
    parts: []
  },
  {
    kind: "agent.owner_transferred",
    about: "The agent has another owner.",
    body: [agentId, ownerComplete, writer],
    parts: [objectPart("owner", 8192, ["owner_email", "owner_name"])]
  },
  {
    kind: "agent.orphaned",
    about: "The agent has no accountable owner any more: the owner was removed, or the owner's identity was erased.",
    body: [agentId, must("since", instant), writer],
    parts: [part("reason", 8192, "a JSON string: the reason that a person gave")]
  },
  {
    kind: "agent.recertified",
    about: "A person reviewed the agent and set the next due date.",
    body: [agentId, must("recert_due_at", instant), writer],
    parts: []
  },
  {
    kind: "agent.identity_attested",
    about:
      "A signed card was checked, or an identity was declared. `rejected` leaves the earlier identity in place. " +
      "`declared` means that nothing was checked.",
    body: [
      agentId,
      may("alg", choice("EdDSA", "ES256")),
      may("card_digest", hash),
      must("checked_at", instant),
      may("key_id", name(200)),
      must(
        "reason_code",
        choice(
          "ok",
          "signature_invalid",
          "key_unknown",
          "key_revoked",
          "key_expired",
          "alg_not_allowed",
          "card_malformed",
          "name_mismatch"
        )
      ),
      must(
        "source",
        choice(
          "signed_card",
          "a2a_signed_card",
          "spiffe",
          "entra_agent_id",
          "okta_agent",
          "oidc_workload",
          "aws_agent_registry",
          "did",
          "other"
        )
      ),
      must("verdict", choice("verified", "declared", "rejected")),
      writer
    ],
    parts: [
      objectPart("claim", 8192, ["key_id"], ": the key id of a rejected card, where no trusted key has it"),
      objectPart(
        "identity",
        16_384,
        ["identity_ref", "identity_source?"],
        ": the identity from here on; `identity_source` only where `source` is `other`; left out when rejected"
      )
    ]
  },
  {
    kind: "agent.provenance_added",
    about:
      "A component of the agent was declared. For the kind `model`, `model` is the name in the profile if that is " +
      "a foreign name. A halt of that model reaches the agent, also after the profile is erased.",
    body: [
      agentId,
      may("digest", name(200)),
      must(
        "kind",
        choice("model", "prompt", "tool_server", "dataset", "code", "container", "config", "policy", "skill")
      ),
      may("model", foreignName(200)),
      must("provenance_id", id("prv_")),
      may("slsa_level", { type: "integer", min: 0, max: 3 }),
      writer
    ],
    parts: [objectPart("profile", 65_536, ["name", "sbom_ref?", "supplier?", "uri?", "version?"])]
  },
  {
    kind: "model.registered",
    about: "A model was registered, with its status of use.",
    body: modelBody,
    parts: []
  },
  {
    kind: "model.updated",
    about: "The complete state of a model from this record on.",
    body: modelBody,
    parts: []
  }
]
