/**
 * Values that no member takes, for every member of every endpoint: one table, because its whole point is that it has no
 * hole. Spec: api.md, Conventions.
 */

/** One bad value of each member: value, type, and loc where it is not the member itself. */
export type Bad = readonly [member: string, value: unknown, type: string, loc?: string]

const badText = (member: string, max: number): ReadonlyArray<Bad> => [
  [member, 1, "string_type"],
  [member, [], "string_type"],
  [member, "x".repeat(max + 1), "string_too_long"],
  [member, "a\0b", "value_error"],
  [member, "a\ud800", "value_error"]
]
const badIdentifier = (member: string, max: number): ReadonlyArray<Bad> => [
  [member, 1, "string_type"],
  [member, "", "string_too_short"],
  [member, "x".repeat(max + 1), "string_too_long"],
  [member, "a b", "string_pattern_mismatch"],
  [member, "ä", "string_pattern_mismatch"],
  [member, "a\0", "string_pattern_mismatch"],
  [member, "a\n", "string_pattern_mismatch"]
]
const badForeignName = (member: string): ReadonlyArray<Bad> => [
  [member, 1, "string_type"],
  [member, "", "string_too_short"],
  [member, "🦆".repeat(201), "string_too_long"],
  ...["a  b", " a", "a\n", "a\0", "a\u200bb", "cafe\u0301", "a\ud800"].map((text): Bad => [member, text, "value_error"])
]
const badInteger = (member: string): ReadonlyArray<Bad> => [
  [member, "1", "int_type"],
  [member, 1.5, "int_type"],
  [member, -1, "greater_than_equal"],
  [member, 2 ** 53, "less_than_equal"],
  [member, true, "int_type"]
]
const badTime = (member: string): ReadonlyArray<Bad> => [
  [member, 1, "string_type"],
  [member, "yesterday", "datetime_parsing"],
  [member, "2026-01-01", "datetime_parsing"],
  [member, "2026-01-01T00:00:00", "datetime_parsing"],
  [member, "2026-02-29T00:00:00Z", "datetime_parsing"],
  [member, "2026-01-01T24:00:00Z", "datetime_parsing"],
  [member, "9999-01-01T00:00:00Z", "datetime_parsing"]
]
const badEnvelope = (member: string): ReadonlyArray<Bad> => [
  [member, [], "dict_type"],
  [member, "x", "dict_type"],
  [member, { rules: "x".repeat(270_000) }, "too_long"]
]
const badWord = (member: string): ReadonlyArray<Bad> => [
  [member, "no such word", "enum"],
  [member, 1, "enum"]
]
const badParams: ReadonlyArray<Bad> = [
  ["params", [], "dict_type"],
  ["params", "x", "dict_type"],
  ["params", { meter: "x".repeat(5_000) }, "too_long"]
]
const badConfidence: ReadonlyArray<Bad> = [
  ["confidence_bp", "9500", "enum"],
  ["confidence_bp", 95, "enum"],
  ["confidence_bp", -1, "enum"]
]
/** Stands for a member that is left out. */
export const missing = Symbol("left out")

/** Bad values of the members of each endpoint with a body, by its id. */
export const badMembers: { readonly [id: string]: ReadonlyArray<Bad> } = {
  "agents.create": [
    ["name", missing, "missing"],
    ["name", null, "string_type"],
    ["name", "", "string_too_short"],
    ...badText("name", 200),
    ["org_unit", missing, "missing"],
    ["org_unit", null, "string_type"],
    ...badText("org_unit", 100),
    ["org_unit", "*", "value_error"],
    ...badText("description", 4_000),
    ...badText("owner_name", 200),
    ["owner_email", "nobody", "value_error"],
    ["owner_email", "a@b@c", "value_error"],
    ["owner_email", "a@b\r\nc", "value_error"],
    ...badWord("autonomy_tier"),
    ["blast_radius", [], "dict_type"],
    ["blast_radius", "x", "dict_type"],
    ["blast_radius", { a: 2 ** 60 }, "value_error"],
    ["blast_radius", { "a\ud800": 1 }, "value_error"],
    ["blast_radius", { a: "x".repeat(70_000) }, "too_long"],
    ...badTime("recert_due_at"),
    ...badText("purpose", 4_000),
    ...badText("agent_version", 200),
    ...badText("framework", 200),
    ["model_ids", "x", "list_type"],
    ["model_ids", ["a  b"], "value_error", "model_ids.0"],
    ["model_ids", Array(65).fill("a"), "too_long"],
    ...badWord("risk_class"),
    ["labels", [], "dict_type"],
    ["parent_agent_id", "x", "string_pattern_mismatch"],
    ["parent_agent_id", 1, "string_type"],
    ["parent_agent_id", "agt_01m7ztsebfk6px1dbtghrjnj8e", "value_error"]
  ],
  "agents.update": [
    ...badText("description", 4_000),
    ...badWord("autonomy_tier"),
    ["blast_radius", [], "dict_type"],
    ["blast_radius", { a: 2 ** 60 }, "value_error"],
    ...badTime("recert_due_at"),
    ...badText("purpose", 4_000),
    ...badText("agent_version", 200),
    ...badText("framework", 200),
    ["model_ids", ["a  b"], "value_error", "model_ids.0"],
    ["model_ids", Array(65).fill("a"), "too_long"],
    ...badWord("risk_class"),
    ["labels", [], "dict_type"],
    ["if_version", 0, "greater_than_equal"],
    ["if_version", "1", "int_type"],
    ["name", "another", "extra_forbidden"],
    ["org_unit", "another", "extra_forbidden"],
    ["owner_name", "Eve", "extra_forbidden"],
    ["owner_email", "eve@example.org", "extra_forbidden"],
    ["status", "active", "extra_forbidden"],
    ["parent_agent_id", "agt_01m7ztsebfk6px1dbtghrjnj8e", "extra_forbidden"],
    ["tenant_id", "x", "extra_forbidden"]
  ],
  "agents.suspend": [...badText("reason", 1_000)],
  "agents.recertify": [
    ["recert_due_at", missing, "missing"],
    ["recert_due_at", null, "string_type"],
    ...badTime("recert_due_at"),
    ["recert_due_at", "2001-01-01T00:00:00Z", "value_error"]
  ],
  "agents.transfer_ownership": [
    ["owner_name", missing, "missing"],
    ["owner_name", null, "string_type"],
    ["owner_name", "", "string_too_short"],
    ...badText("owner_name", 200),
    ["owner_email", missing, "missing"],
    ["owner_email", null, "string_type"],
    ["owner_email", "nobody", "value_error"]
  ],
  "agents.attach_identity": [
    ["declared_source", missing, "missing"],
    ["declared_source", null, "missing"],
    ["declared_ref", missing, "missing"],
    ["declared_source", "", "string_too_short"],
    ...badText("declared_source", 200),
    ...badText("declared_ref", 2_048),
    ["declared_source", "a2a_signed_card", "value_error"],
    ["signed_card", { card: "e30=" }, "value_error"],
    ["signed_card", [], "dict_type"],
    ["signed_card", "e30=", "dict_type"],
    ["signed_card", {}, "missing", "signed_card.card"],
    ["signed_card", { card: 7 }, "value_error", "signed_card.card"],
    ["signed_card", { card: { n: 2 ** 60 } }, "value_error", "signed_card.card"],
    ["signed_card", { card: { n: "x".repeat(400_000) } }, "too_long", "signed_card.card"],
    ["withdraw_verified", "yes", "bool_type"],
    ["signed_card", { card: "" }, "string_too_short", "signed_card.card"],
    ["signed_card", { card: "e30" }, "value_error", "signed_card.card"],
    ["signed_card", { card: "e31=" }, "value_error", "signed_card.card"],
    ["signed_card", { card: "e30=", jku: "x" }, "extra_forbidden", "signed_card.jku"],
    ["signed_card", { card: "e30=", signature: "_-==" }, "value_error", "signed_card.signature"],
    ["signed_card", { card: "e30=", key_id: "a b" }, "string_pattern_mismatch", "signed_card.key_id"]
  ],
  "agents.disown": [["reason", missing, "missing"], ["reason", "", "string_too_short"], ...badText("reason", 1_000)],
  "decisions.witness": [
    ["client_ref", missing, "missing"],
    ["client_ref", null, "string_type"],
    ...badIdentifier("client_ref", 128),
    ["action", missing, "missing"],
    ...badForeignName("action"),
    ...badWord("kind"),
    ...badForeignName("tool_server"),
    ...badIdentifier("run_id", 200),
    ...badIdentifier("instance_id", 128),
    ...badInteger("step"),
    ...badTime("observed_at"),
    ...badWord("status"),
    ...badIdentifier("evaluation_id", 200),
    ...badIdentifier("approval_id", 200),
    ...badForeignName("model"),
    ["usage", 1, "dict_type"],
    ["usage", { input_tokens: -1 }, "greater_than_equal", "usage.input_tokens"],
    ["usage", { tokens: 1 }, "extra_forbidden", "usage.tokens"],
    ...badInteger("latency_ms"),
    ...badWord("mode"),
    ...badWord("decided_by"),
    ...badInteger("writer_seq"),
    ["decisions", [], "too_short"],
    ["decisions", {}, "list_type"],
    ["decisions", Array(1_001).fill({ client_ref: "a", action: "b" }), "too_long"]
  ],
  "decisions.settle": [
    ["status", missing, "missing"],
    ...badWord("status"),
    ["status", "intended", "enum"],
    ["usage", [], "dict_type"],
    ...badInteger("latency_ms")
  ],
  "decisions.gap": [
    ["from", missing, "missing"],
    ["to", missing, "missing"],
    ["count", missing, "missing"],
    ["reason", missing, "missing"],
    ...badTime("from"),
    ...badTime("to"),
    ...badInteger("count"),
    ...badWord("reason"),
    ["to", "2025-01-01T00:00:00Z", "value_error"]
  ],
  "decisions.end_instance": [["instance_id", missing, "missing"], ...badIdentifier("instance_id", 128)],
  "chain.erase": [
    ["seq", missing, "missing"],
    ...badInteger("seq"),
    ["name", missing, "missing"],
    ["name", "Args", "string_pattern_mismatch"],
    ["name", 1, "string_type"],
    ["reason", missing, "missing"],
    ...badWord("reason")
  ],
  "evidence.create": [
    ["kind", missing, "missing"],
    ...badWord("kind"),
    ...badInteger("from"),
    ...badInteger("to"),
    ["agent_id", "x", "string_pattern_mismatch"],
    ["agent_id", 1, "string_type"],
    ...badIdentifier("run_id", 200),
    ["kinds", [], "too_short"],
    ["kinds", "x", "list_type"],
    ["kinds", ["X"], "string_pattern_mismatch", "kinds.0"],
    ...badTime("since"),
    ...badTime("until"),
    ["disclose", "some", "enum"],
    ["disclose", ["X"], "string_pattern_mismatch", "disclose.0"],
    ["disclose", 1, "value_error"],
    ["to", 1_000_000, "value_error"]
  ],
  "evals.record": [
    ["agent_id", missing, "missing"],
    ["agent_id", "X", "string_pattern_mismatch"],
    ["suite", missing, "missing"],
    ["suite", "", "string_too_short"],
    ...badText("suite", 200),
    ["suite_digest", missing, "missing"],
    ["suite_digest", "sha256:0", "string_pattern_mismatch"],
    ...badIdentifier("model", 200),
    ...badText("agent_version", 200),
    ["baseline_run_id", "X", "string_pattern_mismatch"],
    ["cases", missing, "missing"],
    ["cases", [], "too_short"],
    ["cases", [{ id: "a", outcomes: [] }], "too_short", "cases.0.outcomes"],
    ["cases", [{ id: "a", outcomes: ["timeout"] }], "enum", "cases.0.outcomes.0"],
    ["cases", [{ id: "", outcomes: ["passed"] }], "string_too_short", "cases.0.id"]
  ],
  "mcp.upload": [
    ["agent_id", missing, "missing"],
    ["agent_id", "X", "string_pattern_mismatch"],
    ...badForeignName("tool_server"),
    ["address", 1, "string_type"],
    ["address", "ftp://a.example", "string_pattern_mismatch"],
    ["address", "https://a.example/?token=1", "string_pattern_mismatch"],
    ["command", [], "too_short"],
    ["command", ["a\0"], "value_error", "command.0"],
    ["manifest", missing, "missing"]
  ],
  "mcp.pin": [
    ["server_id", missing, "missing"],
    ["server_id", "X", "string_pattern_mismatch"],
    ["manifest_digest", missing, "missing"],
    ["manifest_digest", "sha256:0", "string_pattern_mismatch"],
    ["manifest_digest", `sha256:${"0".repeat(64)}`, "value_error"]
  ],
  "mcp.resolve": [
    ["resolution", missing, "missing"],
    ...badWord("resolution"),
    ...badText("reason", 2_000),
    ["reason", " ", "value_error"]
  ],
  "fairness.screen": [
    ["agent_id", "X", "string_pattern_mismatch"],
    ["agent_id", missing, "value_error"],
    ["org_unit", "ops", "value_error", "agent_id"],
    ["org_unit", "*", "value_error"],
    ["group", missing, "missing"],
    ["group", "", "string_too_short"],
    ["group", "sex", "string_pattern_mismatch"],
    ["group", "/~2", "string_pattern_mismatch"],
    ["group", `/${"a".repeat(200)}`, "string_too_long"],
    ["outcome", missing, "missing"],
    ["outcome", { positive: [true] }, "value_error", "outcome.path"],
    ["outcome", { source: "status", path: "/hired", positive: ["ok"] }, "value_error", "outcome.path"],
    ["outcome", { source: "status", positive: ["intended"] }, "value_error", "outcome.positive.0"],
    ["outcome", { source: "evaluation", positive: ["ok"] }, "value_error", "outcome.positive.0"],
    ["outcome", { source: "score", positive: [1] }, "enum", "outcome.source"],
    ["outcome", { path: "/hired", positive: [] }, "too_short", "outcome.positive"],
    ["outcome", { path: "/hired", positive: ["a".repeat(201)] }, "value_error", "outcome.positive.0"],
    ["outcome", { path: "/hired", positive: [[]] }, "value_error", "outcome.positive.0"],
    ...badForeignName("action"),
    ...badInteger("from_seq"),
    ...badInteger("to_seq"),
    ...badTime("since"),
    ...badTime("until")
  ],
  "models.create": [
    ["provider", missing, "missing"],
    ...badForeignName("provider"),
    ["name", missing, "missing"],
    ...badForeignName("name"),
    ...badForeignName("version"),
    ...badWord("status"),
    ...badWord("hosting"),
    ["price", 1, "dict_type"],
    ["price", { input_micro_usd_per_mtok: -1 }, "greater_than_equal", "price.input_micro_usd_per_mtok"],
    ["price", { usd: 1 }, "extra_forbidden", "price.usd"]
  ],
  "models.update": [
    ...badWord("status"),
    ...badWord("hosting"),
    ["price", [], "dict_type"],
    ["name", "x", "extra_forbidden"],
    ["provider", "x", "extra_forbidden"]
  ],
  "agents.add_provenance": [
    ["kind", missing, "missing"],
    ...badWord("kind"),
    ["name", missing, "missing"],
    ["name", "", "string_too_short"],
    ...badText("name", 200),
    ...badText("version", 200),
    ...badIdentifier("digest", 200),
    ...badText("uri", 2_000),
    ...badText("supplier", 200),
    ...badText("sbom_ref", 2_000),
    ["slsa_level", 4, "less_than_equal"],
    ["slsa_level", -1, "greater_than_equal"],
    ["slsa_level", "1", "int_type"]
  ],
  "access_mapping.set": [
    ["rules", missing, "missing"],
    ["rules", {}, "list_type"],
    ["rules", [1], "dict_type", "rules.0"],
    ["rules", [{}], "missing", "rules.0.match"],
    ["rules", [{ match: { claim: "email", value: "x" }, role: "admin", org_unit: "*" }], "enum", "rules.0.match.claim"],
    [
      "rules",
      [{ match: { claim: "roles", value: "" }, role: "admin", org_unit: "*" }],
      "string_too_short",
      "rules.0.match.value"
    ],
    ["rules", [{ match: { claim: "roles", value: "x" }, role: "king", org_unit: "*" }], "enum", "rules.0.role"],
    ["rules", [{ match: { claim: "roles", value: "x" }, role: "auditor", org_unit: "*" }], "value_error"],
    [
      "rules",
      [1, 2].map(() => ({ id: "a", match: { claim: "roles", value: "x" }, role: "admin", org_unit: "*" })),
      "value_error",
      "rules.1.id"
    ],
    ["rules", Array(1_001).fill({ match: { claim: "roles", value: "x" }, role: "admin", org_unit: "*" }), "too_long"],
    ["trust_canonical", 1, "bool_type"],
    ["if_version", "1", "int_type"]
  ],
  "bound.set_response_policy": [
    ["scope", missing, "missing"],
    ...badWord("scope"),
    ["target", "L9", "value_error"],
    ["target", null, "value_error"],
    ...badText("target", 100),
    ["trigger", missing, "missing"],
    ...badWord("trigger"),
    ["trigger", "orphan", "value_error", "response"],
    ["response", missing, "missing"],
    ...badWord("response"),
    ["notify", "ada@example.org", "list_type"],
    ["notify", [1], "string_type", "notify.0"],
    ["notify", ["ada"], "value_error", "notify.0"],
    ["notify", ["ada@example.org\r\nBcc: eve@example.org"], "value_error", "notify.0"],
    ["notify", Array(33).fill("ada@example.org"), "too_long"]
  ],
  "access_mapping.resolve_draft": [
    ["rules", 1, "list_type"],
    ["roles", "x", "list_type"],
    ["groups", [1], "string_type", "groups.0"],
    ["user_ids", ["x".repeat(257)], "string_too_long", "user_ids.0"],
    ["trust_canonical", "yes", "bool_type"]
  ],
  "platform_keys.mint": [
    ["name", missing, "missing"],
    ["name", "", "string_too_short"],
    ...badText("name", 200),
    ["org_unit", missing, "missing"],
    ...badText("org_unit", 100),
    ["org_unit", "*", "value_error"],
    ["plan", missing, "missing"],
    ["plan", "gold", "enum"],
    ["scopes", missing, "missing"],
    ["scopes", [], "too_short"],
    ["scopes", ["all"], "enum", "scopes.0"],
    ["limits", { requests_per_minute: 0 }, "greater_than_equal", "limits.requests_per_minute"],
    ...badTime("expires_at"),
    ["expires_at", "2001-01-01T00:00:00Z", "value_error"]
  ],
  "ingest_keys.mint": [
    ["name", missing, "missing"],
    ["name", "", "string_too_short"],
    ...badText("name", 200),
    ["org_unit", missing, "missing"],
    ...badText("org_unit", 100),
    ["org_unit", "*", "value_error"],
    ...badWord("max_autonomy_tier"),
    ...badTime("expires_at"),
    ["expires_at", "2001-01-01T00:00:00Z", "value_error"]
  ],
  "bound.create_envelope": [
    ["name", missing, "missing"],
    ["name", "", "string_too_short"],
    ...badText("name", 200),
    ["agent_id", "x", "string_pattern_mismatch"],
    ...badText("org_unit", 100),
    ["envelope", missing, "missing"],
    ...badEnvelope("envelope"),
    ["status", "published", "extra_forbidden"]
  ],
  "bound.update_envelope": [
    ["envelope", missing, "missing"],
    ...badEnvelope("envelope"),
    ...badInteger("if_revision"),
    ["name", "another", "extra_forbidden"],
    ["agent_id", "x", "extra_forbidden"]
  ],
  "bound.lint": [
    ...badEnvelope("envelope"),
    ["acknowledge_partial", "E110", "list_type"],
    ["acknowledge_partial", ["a b"], "string_pattern_mismatch", "acknowledge_partial.0"],
    ["acknowledge_partial", Array(33).fill("a"), "too_long"]
  ],
  "bound.publish": [
    ...badWord("mode"),
    ...badInteger("if_revision"),
    ["acknowledge_partial", [1], "string_type", "acknowledge_partial.0"],
    ["envelope", {}, "extra_forbidden"],
    ["second_approver", "x", "extra_forbidden"]
  ],
  "bound.withdraw": [["reason", "", "string_too_short"], ...badText("reason", 2_000)],
  "bound.backtest": [...badInteger("from_seq"), ...badInteger("to_seq"), ...badWord("meters")],
  "reviews.claim": [["give_back", "yes", "bool_type"]],
  "reviews.resolve": [
    ["resolution", missing, "missing"],
    ...badWord("resolution"),
    ["reason", "", "string_too_short"],
    ...badText("reason", 2_000)
  ],
  "reviews.withdraw": [["reason", "", "string_too_short"], ...badText("reason", 2_000)],
  "kill.start_drill": [
    ["target_type", missing, "missing"],
    ...badWord("target_type"),
    ["target_type", "deployment", "enum"],
    ["target_id", missing, "missing"],
    ...badForeignName("target_id"),
    ...badWord("mode"),
    ["scenario", missing, "missing"],
    ["scenario", "", "string_too_short"],
    ["scenario", " ", "value_error"],
    ...badText("scenario", 2_000),
    ["slo_ms", missing, "missing"],
    ...badInteger("slo_ms"),
    ["slo_ms", 0, "greater_than_equal"],
    ["slo_ms", 3_600_001, "less_than_equal"],
    ...badInteger("max_duration_ms"),
    ["max_duration_ms", 999, "greater_than_equal"],
    ["max_duration_ms", 3_600_001, "less_than_equal"]
  ],
  "kill.activate": [
    ["target_type", missing, "missing"],
    ...badWord("target_type"),
    ["target_type", "org_unit", "enum"],
    ["target_id", missing, "missing"],
    ...badForeignName("target_id"),
    ...badWord("response"),
    ["reason", missing, "missing"],
    ["reason", "", "string_too_short"],
    ["reason", " ", "value_error"],
    ...badText("reason", 2_000),
    ["drill", true, "extra_forbidden"]
  ],
  "kill.ack": [
    ["activation_event", missing, "missing"],
    ["activation_event", "x", "string_pattern_mismatch"],
    ["agent_id", "x", "string_pattern_mismatch"],
    ["agent_id", 1, "string_type"],
    ["instance_id", missing, "missing"],
    ...badIdentifier("instance_id", 128),
    ...badTime("observed_at"),
    ...badInteger("in_flight"),
    ["stopped", "yes", "bool_type"]
  ],
  "kill.request": [
    ["agent_id", missing, "missing"],
    ["agent_id", "x", "string_pattern_mismatch"],
    ["reason", missing, "missing"],
    ["reason", "", "string_too_short"],
    ...badText("reason", 2_000),
    ["response", "halt", "extra_forbidden"]
  ],
  "kill.release": [
    ["activation_event", missing, "missing"],
    ["activation_event", "x", "string_pattern_mismatch"],
    ["activation_event", 1, "string_type"],
    ["reason", missing, "missing"],
    ["reason", "", "string_too_short"],
    ...badText("reason", 2_000)
  ],
  "breakers.arm": [
    ["name", missing, "missing"],
    ["name", "Errors", "string_pattern_mismatch"],
    ["name", "", "string_too_short"],
    ["name", "x".repeat(65), "string_too_long"],
    ["metric", missing, "missing"],
    ...badIdentifier("metric", 64),
    ["metric", "luck", "enum"],
    ["params", missing, "missing"],
    ...badParams,
    ["enabled", "yes", "bool_type"],
    ...badWord("mode"),
    ...badConfidence,
    ...badWord("response"),
    ["max_false_stop_bp", 0, "greater_than_equal"],
    ["max_false_stop_bp", 5_001, "less_than_equal"],
    ["max_false_stop_bp", 500, "missing", "good_runs"],
    ["good_runs", { from_seq: 0, to_seq: 1 }, "missing", "max_false_stop_bp"],
    ["good_runs", { from_seq: 0 }, "missing", "good_runs.to_seq"],
    ["good_runs", { from_seq: 0, to_seq: 1, except: ["a b"] }, "string_pattern_mismatch", "good_runs.except.0"]
  ],
  "breakers.update": [
    ...badParams,
    ["enabled", "yes", "bool_type"],
    ["enabled", null, "bool_type"],
    ...badWord("mode"),
    ["mode", null, "enum"],
    ...badConfidence,
    ...badWord("response")
  ],
  "breakers.release": [["reason", "", "string_too_short"], ...badText("reason", 2_000)],
  "breakers.preview": [
    ["metric", missing, "missing"],
    ...badIdentifier("metric", 64),
    ["params", missing, "missing"],
    ...badParams,
    ...badConfidence,
    ...badInteger("from_seq")
  ],
  "bound.request_waiver": [
    ["rule_id", missing, "missing"],
    ...badIdentifier("rule_id", 64),
    ["unless", missing, "missing"],
    ["unless", [], "too_short"],
    ["unless", {}, "list_type"],
    ["unless", Array(65).fill({}), "too_long"],
    ["expires_at", missing, "missing"],
    ...badTime("expires_at"),
    ["reason", missing, "missing"],
    ["reason", "", "string_too_short"],
    ...badText("reason", 2_000)
  ],
  "standing_approvals.propose": [
    ["review_id", missing, "missing"],
    ["review_id", "x", "string_pattern_mismatch"],
    ["pins", missing, "missing"],
    ["pins", [], "too_short"],
    ["pins", {}, "list_type"],
    ["pins", Array(33).fill({ path: "/signals/a", eq: 1 }), "too_long"],
    ["pins", [{ eq: 1 }], "missing", "pins.0.path"],
    ["pins", [{ path: "/other/a", eq: 1 }], "string_pattern_mismatch", "pins.0.path"],
    ["pins", [{ path: "/signals/a" }], "value_error", "pins.0"],
    ["pins", [{ path: "/signals/a", eq: 1, at_most: 2 }], "value_error", "pins.0"],
    ["count", missing, "missing"],
    ["count", 0, "greater_than_equal"],
    ["count", 10_001, "less_than_equal"],
    ["expires_at", missing, "missing"],
    ...badTime("expires_at"),
    ["reason", missing, "missing"],
    ["reason", "", "string_too_short"],
    ...badText("reason", 2_000)
  ],
  "standing_approvals.revoke": [["reason", "", "string_too_short"], ...badText("reason", 2_000)],
  "bound.evaluate": [
    ["agent_id", missing, "missing"],
    ["agent_id", "x", "string_pattern_mismatch"],
    ["client_ref", missing, "missing"],
    ...badIdentifier("client_ref", 128),
    ["signals", missing, "missing"],
    ["signals", [], "dict_type"],
    ["signals", null, "dict_type"],
    ["signals", "x", "dict_type"],
    ...badForeignName("action"),
    ["action_digest", "sha256:x", "string_pattern_mismatch"],
    ...badIdentifier("run_id", 200),
    ...badIdentifier("instance_id", 128),
    ...badIdentifier("approval_id", 200),
    ["args_redacted", "yes", "bool_type"],
    ["mode", "shadow", "extra_forbidden"],
    ["outcome", "allow", "extra_forbidden"],
    ["tier", "L4", "extra_forbidden"]
  ],
  "bound.void_evaluation": [["reason", "", "string_too_short"], ...badText("reason", 2_000)],
  "webhooks.create": [
    ["url", missing, "missing"],
    ["url", null, "string_type"],
    ["url", "", "string_too_short"],
    ...badText("url", 2_048),
    ["url", "hooks.example.org", "value_error"],
    ["url", "ftp://hooks.example.org/", "value_error"],
    ["url", "http://hooks.example.org/", "value_error"],
    ["url", "https://ann:secret@hooks.example.org/", "value_error"],
    ["url", "https://hooks.example.org/#part", "value_error"],
    ["url", "https://127.0.0.1/", "value_error"],
    ["url", "https://0x7f.1/", "value_error"],
    ["url", "https://[::1]/", "value_error"],
    ["url", "https://169.254.169.254/latest/meta-data", "value_error"],
    ["url", "https://hooks.example.org:22/", "value_error"],
    ["events", missing, "missing"],
    ["events", null, "list_type"],
    ["events", "agent.suspended", "list_type"],
    ["events", [], "too_short"],
    ["events", ["agent.exploded"], "enum", "events.0"],
    ["events", ["agent.suspended", "webhook.test"], "enum", "events.1"],
    ["events", [1], "enum", "events.0"],
    ["events", Array(101).fill("agent.suspended"), "too_long"],
    ...badText("description", 2_000),
    ["notify_email", "nobody", "value_error"],
    ["notify_email", "a@b\r\nBcc: c@d", "value_error"],
    ["secret", "whsec_x", "extra_forbidden"],
    ["status", "active", "extra_forbidden"]
  ],
  "webhooks.rotate_secret": [
    ...badInteger("overlap_hours"),
    ["overlap_hours", 73, "less_than_equal"],
    ["secret", "whsec_x", "extra_forbidden"]
  ],
  "webhooks.recover": [
    ["since", missing, "missing"],
    ["since", null, "string_type"],
    ...badTime("since"),
    ["since", "2001-01-01T00:00:00Z", "value_error"],
    ["dry_run", "yes", "bool_type"],
    ["dry_run", 1, "bool_type"]
  ]
}
