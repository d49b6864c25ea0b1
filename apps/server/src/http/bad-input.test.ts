/** Every route with every kind of bad input: status, code or type, and loc, as the contract says; and nothing is half written. Spec: api.md, Conventions. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { BATCH_LIMIT_BYTES, BODY_LIMIT_BYTES } from "@flyball/contract"
import { type AnyEndpoint, endpoints, problems, refusalsOf } from "@flyball/contract/http"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type GoodRequest, goodRequests } from "./http-requests.ts"
import { type Got, openWorld, type Sending, type World } from "./http-world.ts"

let world: World
let good: Awaited<ReturnType<typeof goodRequests>>

beforeAll(async () => {
  world = await openWorld()
  good = await goodRequests(world)
})
afterAll(() => world.close())

/** What a bad request is answered: status, code or first type, loc. */
const seen = ({ json, status }: Got): ReadonlyArray<unknown> =>
  Array.isArray(json?.detail) ? [status, json.detail[0].type, json.detail[0].loc.join(".")] : [status, json?.code]

const everything = async (): Promise<ReadonlyArray<unknown>> => {
  const read = async (path: string) => (await world.send("GET", path, { token: world.admin })).json
  const { checkpoint: _, ...head } = await read("/api/v1/chain/head")
  return [head, (await read("/api/v1/agents")).length, (await read("/api/v1/evidence/packs")).length, (await read("/api/v1/admin/ingest-keys")).length, (await read("/api/v1/webhooks")).length]
}

/** Sends what `bad` makes of good requests, and holds that nothing was written and only listed refusals came. */
const refusedAlike = async (endpoint: AnyEndpoint, bad: ReadonlyArray<readonly [string, (json: GoodRequest["json"]) => Sending, ReadonlyArray<unknown>]>) => {
  const { json, path } = await good(endpoint)
  const before = await everything()
  const statuses = new Set(refusalsOf(endpoint).map((tag) => problems[tag].status))
  for (const [name, sending, expected] of bad) {
    const got = await world.send(endpoint.method, path, { token: world.admin, ...sending(json) })
    assert.deepStrictEqual(seen(got), expected, `${name}: ${got.text.slice(0, 300)}`)
    assert.isTrue(statuses.has(got.status), name)
    assert.isNotEmpty(got.headers.get("x-request-id"))
  }
  assert.deepStrictEqual(await everything(), before)
}

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth)
const chunked = (bytes: number): ReadableStream => {
  let left = bytes
  return new ReadableStream({
    pull: (controller) => {
      if (left <= 0) return controller.close()
      controller.enqueue(new Uint8Array(Math.min(65_536, left)).fill(32))
      left -= 65_536
    }
  })
}
const type = (value: string) => ({ headers: { "content-type": value } })

describe("bodies that are no JSON of the contract", () => {
  for (const endpoint of endpoints.filter(({ method }) => method !== "GET")) {
    const limit = endpoint.body?.limitBytes ?? BODY_LIMIT_BYTES
    it(`${endpoint.method} ${endpoint.path}`, () => refusedAlike(endpoint, [
      ["half of an object", () => ({ body: "{\"a\":" }), [422, "json_invalid", "body"]],
      ["two values", () => ({ body: "{} {}" }), [422, "json_invalid", "body"]],
      ["NaN", () => ({ body: "{\"a\":NaN}" }), [422, "json_invalid", "body"]],
      ["byte-order mark", () => ({ body: new Uint8Array([0xef, 0xbb, 0xbf, 0x7b, 0x7d]) }), [422, "json_invalid", "body"]],
      ["bytes that are not UTF-8", () => ({ body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }), [422, "json_invalid", "body"]],
      ["an encoded surrogate", () => ({ body: new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]) }), [422, "json_invalid", "body"]],
      ["a NUL byte", () => ({ body: "{\"a\":\"\0\"}" }), [422, "json_invalid", "body"]],
      ["65 open arrays", () => ({ body: nested(65) }), [422, "json_invalid", "body"]],
      ["a million open arrays", () => ({ body: "[".repeat(1_000_000) }), [422, "json_invalid", "body"]],
      ["a member twice", () => ({ body: "{\"name\":\"a\",\"name\":\"b\"}" }), [422, "json_invalid", "body"]],
      ["a list", () => ({ body: "[]" }), [422, "dict_type", "body"]],
      ["64 open arrays", () => ({ body: nested(64) }), [422, "dict_type", "body"]],
      ["a text", () => ({ body: "\"a\"" }), [422, "dict_type", "body"]],
      ["a number", () => ({ body: "1" }), [422, "dict_type", "body"]],
      ["null", () => ({ body: "null" }), [422, "dict_type", "body"]],
      ["a number out of range", () => ({ body: "1e400" }), [422, "dict_type", "body"]],
      ["one byte too many", () => ({ body: " ".repeat(limit + 1) }), [413, "body_too_large"]],
      ["one byte too many, in chunks", () => ({ body: chunked(limit + 65_536) }), [413, "body_too_large"]],
      ["no content type", (json) => ({ body: new Blob([JSON.stringify(json)]), headers: { "content-type": "" } }), [415, "unsupported_media_type"]],
      ["a form", () => ({ body: "a=b", ...type("application/x-www-form-urlencoded") }), [415, "unsupported_media_type"]],
      ["plain text", (json) => ({ body: JSON.stringify(json), ...type("text/plain") }), [415, "unsupported_media_type"]],
      ["another charset", (json) => ({ body: JSON.stringify(json), ...type("application/json; charset=utf-16") }), [415, "unsupported_media_type"]],
      ["something that begins like JSON", (json) => ({ body: JSON.stringify(json), ...type("application/jsonp") }), [415, "unsupported_media_type"]],
      ["a content encoding", () => ({ body: "{}", headers: { "content-type": "application/json", "content-encoding": "gzip" } }), [415, "unsupported_media_type"]],
      ["an unknown member", (json) => ({ json: { ...json, zzz: 1 } }), [422, "extra_forbidden", "body.zzz"]],
      ["__proto__", (json) => ({ body: JSON.stringify({ ...json, zzz: 1 }).replace("zzz", "__proto__") }), [422, "extra_forbidden", "body.__proto__"]],
      ...(endpoint.body === null || endpoint.body.optional ? [] : [
        ["no body", () => ({}), [422, "missing", "body"]],
        ["an empty body", () => ({ body: chunked(0) }), [422, "missing", "body"]]
      ] as const)
    ]))
  }

  it("is a good body in every spelling of the content type", async () => {
    for (const spelling of ["application/json", "Application/JSON", "application/json;charset=utf-8", "application/json; charset=UTF-8", "application/json; charset=\"utf-8\""]) {
      const got = await world.send("POST", "/api/v1/agents", { token: world.admin, body: "{}", ...type(spelling) })
      assert.deepStrictEqual(seen(got), [422, "missing", "body.name"], spelling)
    }
  })

  it("a body that may be left out is one with an empty object", async () => {
    const { path } = await good(endpoints.find(({ id }) => id === "agents.suspend")!)
    assert.strictEqual((await world.send("POST", path, { token: world.admin })).json.suspended_reason, "manual")
  })

  it("an endpoint without a body takes an empty object too", async () => {
    const { id } = await world.mint("claims")
    assert.strictEqual((await world.send("POST", `/api/v1/admin/ingest-keys/${id}/revoke`, { token: world.admin, json: {} })).status, 200)
  })
})

/** One bad value of each member: value, type, and loc where it is not the member itself. */
type Bad = readonly [member: string, value: unknown, type: string, loc?: string]

const badText = (member: string, max: number): ReadonlyArray<Bad> => [
  [member, 1, "string_type"], [member, [], "string_type"], [member, "x".repeat(max + 1), "string_too_long"], [member, "a\0b", "value_error"], [member, "a\ud800", "value_error"]
]
const badIdentifier = (member: string, max: number): ReadonlyArray<Bad> => [
  [member, 1, "string_type"], [member, "", "string_too_short"], [member, "x".repeat(max + 1), "string_too_long"], [member, "a b", "string_pattern_mismatch"],
  [member, "ä", "string_pattern_mismatch"], [member, "a\0", "string_pattern_mismatch"], [member, "a\n", "string_pattern_mismatch"]
]
const badInteger = (member: string): ReadonlyArray<Bad> => [
  [member, "1", "int_type"], [member, 1.5, "int_type"], [member, -1, "greater_than_equal"], [member, 2 ** 53, "less_than_equal"], [member, true, "int_type"]
]
const badTime = (member: string): ReadonlyArray<Bad> => [
  [member, 1, "string_type"], [member, "yesterday", "datetime_parsing"], [member, "2026-01-01", "datetime_parsing"], [member, "2026-01-01T00:00:00", "datetime_parsing"],
  [member, "2026-02-29T00:00:00Z", "datetime_parsing"], [member, "2026-01-01T24:00:00Z", "datetime_parsing"], [member, "2026-12-31T23:59:60Z", "datetime_parsing"]
]
const badEnvelope = (member: string): ReadonlyArray<Bad> => [[member, [], "dict_type"], [member, "x", "dict_type"], [member, { rules: "x".repeat(270_000) }, "too_long"]]
const badWord = (member: string): ReadonlyArray<Bad> => [[member, "no such word", "enum"], [member, 1, "enum"]]
const missing = Symbol("left out")

const badMembers: { readonly [id: string]: ReadonlyArray<Bad> } = {
  "agents.create": [
    ["name", missing, "missing"], ["name", null, "string_type"], ["name", "", "string_too_short"], ...badText("name", 200), ["org_unit", missing, "missing"], ["org_unit", null, "string_type"],
    ...badText("org_unit", 100), ["org_unit", "*", "value_error"], ...badText("description", 4_000), ...badText("owner_name", 200), ["owner_email", "nobody", "value_error"],
    ["owner_email", "a@b@c", "value_error"], ["owner_email", "a@b\r\nc", "value_error"], ...badWord("autonomy_tier"), ["blast_radius", [], "dict_type"], ["blast_radius", "x", "dict_type"],
    ["blast_radius", { a: 2 ** 60 }, "value_error"], ["blast_radius", { "a\ud800": 1 }, "value_error"], ["blast_radius", { a: "x".repeat(70_000) }, "too_long"], ...badTime("recert_due_at"),
    ...badText("purpose", 4_000), ...badText("agent_version", 200), ...badText("framework", 200), ["model_ids", "x", "list_type"], ["model_ids", ["a b"], "string_pattern_mismatch", "model_ids.0"],
    ["model_ids", Array(65).fill("a"), "too_long"], ...badWord("risk_class"), ["labels", [], "dict_type"]
  ],
  "agents.update": [
    ...badText("description", 4_000), ...badWord("autonomy_tier"), ["blast_radius", [], "dict_type"], ["blast_radius", { a: 2 ** 60 }, "value_error"], ...badTime("recert_due_at"),
    ...badText("purpose", 4_000), ...badText("agent_version", 200), ...badText("framework", 200), ["model_ids", ["a b"], "string_pattern_mismatch", "model_ids.0"],
    ["model_ids", Array(65).fill("a"), "too_long"], ...badWord("risk_class"), ["labels", [], "dict_type"], ["if_version", 0, "greater_than_equal"], ["if_version", "1", "int_type"],
    ["name", "another", "extra_forbidden"], ["org_unit", "another", "extra_forbidden"], ["owner_name", "Eve", "extra_forbidden"], ["owner_email", "eve@example.org", "extra_forbidden"],
    ["status", "active", "extra_forbidden"], ["tenant_id", "x", "extra_forbidden"]
  ],
  "agents.suspend": [...badText("reason", 1_000)],
  "agents.recertify": [["recert_due_at", missing, "missing"], ["recert_due_at", null, "string_type"], ...badTime("recert_due_at"), ["recert_due_at", "2001-01-01T00:00:00Z", "value_error"]],
  "agents.transfer_ownership": [
    ["owner_name", missing, "missing"], ["owner_name", null, "string_type"], ["owner_name", "", "string_too_short"], ...badText("owner_name", 200), ["owner_email", missing, "missing"],
    ["owner_email", null, "string_type"], ["owner_email", "nobody", "value_error"]
  ],
  "agents.attach_identity": [
    ["declared_source", missing, "missing"], ["declared_source", null, "missing"], ["declared_ref", missing, "missing"], ["declared_source", "", "string_too_short"], ...badText("declared_source", 200),
    ...badText("declared_ref", 2_048), ["declared_source", "a2a_signed_card", "value_error"], ["signed_card", { card: "e30=" }, "value_error"], ["signed_card", [], "dict_type"], ["signed_card", "e30=", "dict_type"],
    ["signed_card", {}, "missing", "signed_card.card"], ["signed_card", { card: "" }, "string_too_short", "signed_card.card"], ["signed_card", { card: "e30" }, "value_error", "signed_card.card"],
    ["signed_card", { card: "e31=" }, "value_error", "signed_card.card"], ["signed_card", { card: "e30=", jku: "x" }, "extra_forbidden", "signed_card.jku"],
    ["signed_card", { card: "e30=", signature: "_-==" }, "value_error", "signed_card.signature"], ["signed_card", { card: "e30=", key_id: "a b" }, "string_pattern_mismatch", "signed_card.key_id"]
  ],
  "agents.disown": [["reason", missing, "missing"], ["reason", "", "string_too_short"], ...badText("reason", 1_000)],
  "decisions.witness": [
    ["client_ref", missing, "missing"], ["client_ref", null, "string_type"], ...badIdentifier("client_ref", 128), ["action", missing, "missing"], ...badIdentifier("action", 200), ...badWord("kind"),
    ...badIdentifier("tool_server", 200), ...badIdentifier("run_id", 200), ...badInteger("step"), ...badTime("observed_at"), ...badWord("status"), ...badIdentifier("evaluation_id", 200),
    ...badIdentifier("approval_id", 200), ...badIdentifier("model", 200), ["usage", 1, "dict_type"], ["usage", { input_tokens: -1 }, "greater_than_equal", "usage.input_tokens"],
    ["usage", { tokens: 1 }, "extra_forbidden", "usage.tokens"], ...badInteger("latency_ms"), ...badWord("mode"), ...badWord("decided_by"), ...badInteger("writer_seq"),
    ["decisions", [], "too_short"], ["decisions", {}, "list_type"], ["decisions", Array(1_001).fill({ client_ref: "a", action: "b" }), "too_long"]
  ],
  "decisions.settle": [
    ["status", missing, "missing"], ...badWord("status"), ["status", "intended", "enum"], ["usage", [], "dict_type"], ...badInteger("latency_ms")
  ],
  "decisions.gap": [
    ["from", missing, "missing"], ["to", missing, "missing"], ["count", missing, "missing"], ["reason", missing, "missing"], ...badTime("from"), ...badTime("to"), ...badInteger("count"),
    ...badWord("reason"), ["to", "2025-01-01T00:00:00Z", "value_error"]
  ],
  "chain.erase": [["seq", missing, "missing"], ...badInteger("seq"), ["name", missing, "missing"], ["name", "Args", "string_pattern_mismatch"], ["name", 1, "string_type"], ["reason", missing, "missing"], ...badWord("reason")],
  "evidence.create": [
    ["kind", missing, "missing"], ...badWord("kind"), ...badInteger("from"), ...badInteger("to"), ["agent_id", "x", "string_pattern_mismatch"], ["agent_id", 1, "string_type"], ...badIdentifier("run_id", 200),
    ["kinds", [], "too_short"], ["kinds", "x", "list_type"], ["kinds", ["X"], "string_pattern_mismatch", "kinds.0"], ...badTime("since"), ...badTime("until"), ["disclose", "some", "enum"],
    ["disclose", ["X"], "string_pattern_mismatch", "disclose.0"], ["disclose", 1, "value_error"], ["to", 1_000_000, "value_error"]
  ],
  "models.create": [
    ["provider", missing, "missing"], ...badIdentifier("provider", 200), ["name", missing, "missing"], ...badIdentifier("name", 200), ...badIdentifier("version", 200), ...badWord("status"), ...badWord("hosting"),
    ["price", 1, "dict_type"], ["price", { input_micro_usd_per_mtok: -1 }, "greater_than_equal", "price.input_micro_usd_per_mtok"], ["price", { usd: 1 }, "extra_forbidden", "price.usd"]
  ],
  "models.update": [...badWord("status"), ...badWord("hosting"), ["price", [], "dict_type"], ["name", "x", "extra_forbidden"], ["provider", "x", "extra_forbidden"]],
  "agents.add_provenance": [
    ["kind", missing, "missing"], ...badWord("kind"), ["name", missing, "missing"], ["name", "", "string_too_short"], ...badText("name", 200), ...badText("version", 200), ...badIdentifier("digest", 200),
    ...badText("uri", 2_000), ...badText("supplier", 200), ...badText("sbom_ref", 2_000), ["slsa_level", 4, "less_than_equal"], ["slsa_level", -1, "greater_than_equal"], ["slsa_level", "1", "int_type"]
  ],
  "access_mapping.set": [
    ["rules", missing, "missing"], ["rules", {}, "list_type"], ["rules", [1], "dict_type", "rules.0"], ["rules", [{}], "missing", "rules.0.match"],
    ["rules", [{ match: { claim: "email", value: "x" }, role: "admin", org_unit: "*" }], "enum", "rules.0.match.claim"], ["rules", [{ match: { claim: "roles", value: "" }, role: "admin", org_unit: "*" }], "string_too_short", "rules.0.match.value"],
    ["rules", [{ match: { claim: "roles", value: "x" }, role: "king", org_unit: "*" }], "enum", "rules.0.role"], ["rules", [{ match: { claim: "roles", value: "x" }, role: "auditor", org_unit: "*" }], "value_error"],
    ["rules", [1, 2].map(() => ({ id: "a", match: { claim: "roles", value: "x" }, role: "admin", org_unit: "*" })), "value_error", "rules.1.id"],
    ["rules", Array(1_001).fill({ match: { claim: "roles", value: "x" }, role: "admin", org_unit: "*" }), "too_long"], ["trust_canonical", 1, "bool_type"], ["if_version", "1", "int_type"]
  ],
  "access_mapping.resolve_draft": [["rules", 1, "list_type"], ["roles", "x", "list_type"], ["groups", [1], "string_type", "groups.0"], ["user_ids", ["x".repeat(257)], "string_too_long", "user_ids.0"], ["trust_canonical", "yes", "bool_type"]],
  "ingest_keys.mint": [
    ["name", missing, "missing"], ["name", "", "string_too_short"], ...badText("name", 200), ["org_unit", missing, "missing"], ...badText("org_unit", 100), ["org_unit", "*", "value_error"],
    ...badWord("max_autonomy_tier"), ...badTime("expires_at"), ["expires_at", "2001-01-01T00:00:00Z", "value_error"]
  ],
  "bound.create_envelope": [
    ["name", missing, "missing"], ["name", "", "string_too_short"], ...badText("name", 200), ["agent_id", "x", "string_pattern_mismatch"], ...badText("org_unit", 100),
    ["envelope", missing, "missing"], ...badEnvelope("envelope"), ["status", "published", "extra_forbidden"]
  ],
  "bound.update_envelope": [["envelope", missing, "missing"], ...badEnvelope("envelope"), ...badInteger("if_revision"), ["name", "another", "extra_forbidden"], ["agent_id", "x", "extra_forbidden"]],
  "bound.lint": [...badEnvelope("envelope"), ["acknowledge_partial", "E110", "list_type"], ["acknowledge_partial", ["a b"], "string_pattern_mismatch", "acknowledge_partial.0"], ["acknowledge_partial", Array(33).fill("a"), "too_long"]],
  "bound.publish": [...badWord("mode"), ...badInteger("if_revision"), ["acknowledge_partial", [1], "string_type", "acknowledge_partial.0"], ["envelope", {}, "extra_forbidden"], ["second_approver", "x", "extra_forbidden"]],
  "bound.withdraw": [["reason", "", "string_too_short"], ...badText("reason", 2_000)],
  "bound.backtest": [...badInteger("from_seq"), ...badInteger("to_seq"), ...badWord("meters")],
  "bound.request_waiver": [
    ["rule_id", missing, "missing"], ...badIdentifier("rule_id", 64), ["unless", missing, "missing"], ["unless", [], "too_short"], ["unless", {}, "list_type"], ["unless", Array(65).fill({}), "too_long"],
    ["expires_at", missing, "missing"], ...badTime("expires_at"), ["reason", missing, "missing"], ["reason", "", "string_too_short"], ...badText("reason", 2_000)
  ],
  "bound.evaluate": [
    ["agent_id", missing, "missing"], ["agent_id", "x", "string_pattern_mismatch"], ["client_ref", missing, "missing"], ...badIdentifier("client_ref", 128), ["signals", missing, "missing"],
    ["signals", [], "value_error"], ["signals", null, "value_error"], ["signals", "x", "value_error"], ...badIdentifier("action", 200), ["action_digest", "sha256:x", "string_pattern_mismatch"],
    ...badIdentifier("run_id", 200), ...badIdentifier("approval_id", 200), ["mode", "shadow", "extra_forbidden"], ["outcome", "allow", "extra_forbidden"], ["tier", "L4", "extra_forbidden"]
  ],
  "bound.void_evaluation": [["reason", "", "string_too_short"], ...badText("reason", 2_000)],
  "webhooks.create": [
    ["url", missing, "missing"], ["url", null, "string_type"], ["url", "", "string_too_short"], ...badText("url", 2_048), ["url", "hooks.example.org", "value_error"], ["url", "ftp://hooks.example.org/", "value_error"],
    ["url", "http://hooks.example.org/", "value_error"], ["url", "https://ann:secret@hooks.example.org/", "value_error"], ["url", "https://hooks.example.org/#part", "value_error"], ["url", "https://127.0.0.1/", "value_error"],
    ["url", "https://0x7f.1/", "value_error"], ["url", "https://[::1]/", "value_error"], ["url", "https://169.254.169.254/latest/meta-data", "value_error"], ["url", "https://hooks.example.org:22/", "value_error"],
    ["events", missing, "missing"], ["events", null, "list_type"], ["events", "agent.suspended", "list_type"], ["events", [], "too_short"], ["events", ["agent.exploded"], "enum", "events.0"], ["events", ["agent.suspended", "webhook.test"], "enum", "events.1"],
    ["events", [1], "enum", "events.0"], ["events", Array(101).fill("agent.suspended"), "too_long"], ...badText("description", 2_000), ["notify_email", "nobody", "value_error"],
    ["notify_email", "a@b\r\nBcc: c@d", "value_error"], ["secret", "whsec_x", "extra_forbidden"], ["status", "active", "extra_forbidden"]
  ],
  "webhooks.rotate_secret": [...badInteger("overlap_hours"), ["overlap_hours", 73, "less_than_equal"], ["secret", "whsec_x", "extra_forbidden"]],
  "webhooks.recover": [
    ["since", missing, "missing"], ["since", null, "string_type"], ...badTime("since"), ["since", "2001-01-01T00:00:00Z", "value_error"], ["dry_run", "yes", "bool_type"], ["dry_run", 1, "bool_type"]
  ]
}

/** `batch`: members of another shape, which the good members would only contradict. */
const withMember = (json: GoodRequest["json"], member: string, value: unknown): Sending => {
  if (member === "decisions") return { json: { decisions: value } }
  const { [member]: _, ...rest } = json!
  return { json: value === missing ? rest : { ...rest, [member]: value } }
}

describe("members out of bounds", () => {
  it("has lines for every endpoint with a body", () => {
    assert.deepStrictEqual(Object.keys(badMembers).sort(), endpoints.filter(({ body }) => body !== null).map(({ id }) => id).sort())
  })

  for (const endpoint of endpoints.filter(({ body }) => body !== null)) {
    it(`${endpoint.method} ${endpoint.path}`, () => refusedAlike(endpoint, badMembers[endpoint.id]!.map(([member, value, found, loc]) => [
      `${member}: ${String(JSON.stringify(value)).slice(0, 40)}`, (json) => withMember(json, member, value), [422, found, `body.${loc ?? member}`]
    ])))
  }

  it("lists every problem at once, in a batch with its indexes", async () => {
    const { path } = await good(endpoints.find(({ id }) => id === "decisions.witness")!)
    const decisions = [{ client_ref: "a", action: "b" }, { client_ref: "a b", action: "b" }, 3, { action: "x", step: -1, zzz: 1 }]
    const got = await world.send("POST", path, { token: world.admin, json: { decisions } })
    assert.deepStrictEqual(got.json.detail.map(({ loc, type }: { loc: ReadonlyArray<string>; type: string }) => [loc.join("."), type]).sort(), [
      ["body.decisions.1.client_ref", "string_pattern_mismatch"], ["body.decisions.2", "dict_type"], ["body.decisions.3.client_ref", "missing"],
      ["body.decisions.3.step", "greater_than_equal"], ["body.decisions.3.zzz", "extra_forbidden"]
    ])
  })

  it("a batch and a decision at once is no batch", async () => {
    const { path } = await good(endpoints.find(({ id }) => id === "decisions.witness")!)
    const got = await world.send("POST", path, { token: world.admin, json: { decisions: [{ client_ref: "a", action: "b" }], client_ref: "c" } })
    assert.deepStrictEqual(seen(got), [422, "extra_forbidden", "body.client_ref"])
  })
})

describe("paths and queries", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> = [
    ["/api/v1/agents?limit=0", [422, "greater_than_equal", "query.limit"]],
    ["/api/v1/agents?limit=1001", [422, "less_than_equal", "query.limit"]],
    ["/api/v1/agents?limit=ten", [422, "int_parsing", "query.limit"]],
    ["/api/v1/agents?limit=", [422, "int_parsing", "query.limit"]],
    ["/api/v1/agents?limit=1.5", [422, "int_parsing", "query.limit"]],
    ["/api/v1/agents?limit=1&limit=2", [422, "value_error", "query.limit"]],
    ["/api/v1/agents?status=gone", [422, "enum", "query.status"]],
    ["/api/v1/agents?autonomy_tier=L5", [422, "enum", "query.autonomy_tier"]],
    [`/api/v1/agents?name=${"x".repeat(201)}`, [422, "string_too_long", "query.name"]],
    [`/api/v1/agents?q=${"x".repeat(201)}`, [422, "string_too_long", "query.q"]],
    ["/api/v1/agents?name=%00", [422, "value_error", "query.name"]],
    ["/api/v1/agents?after=a%20b", [422, "string_pattern_mismatch", "query.after"]],
    ["/api/v1/agents/agt_00000000000000000000000000", [404, "agent_not_found"]],
    ["/api/v1/agents/nobody", [404, "agent_not_found"]],
    ["/api/v1/agents/%00", [404, "agent_not_found"]],
    ["/api/v1/agents/a%2Fb", [404, "agent_not_found"]],
    ["/api/v1/agents/%ff", [404, "not_found"]],
    ["/api/v1/agents/", [404, "not_found"]],
    ["/api/v1/agents/agt_00000000000000000000000000/decisions", [404, "agent_not_found"]],
    ["/api/v1/chain/records?from=-1", [422, "greater_than_equal", "query.from"]],
    ["/api/v1/chain/records?from=9007199254740992", [422, "less_than_equal", "query.from"]],
    [`/api/v1/chain/records?from=${"9".repeat(300)}`, [422, "less_than_equal", "query.from"]],
    ["/api/v1/chain/records?kind=A", [422, "string_pattern_mismatch", "query.kind"]],
    ["/api/v1/chain/records?agent_id=x", [422, "string_pattern_mismatch", "query.agent_id"]],
    ["/api/v1/chain/records/one", [422, "int_parsing", "path.seq"]],
    ["/api/v1/chain/records/-1", [422, "greater_than_equal", "path.seq"]],
    ["/api/v1/chain/records/9007199254740992", [422, "less_than_equal", "path.seq"]],
    ["/api/v1/chain/records/9007199254740991", [404, "record_not_found"]],
    ["/api/v1/chain/records/1000000/proof", [404, "record_not_found"]],
    ["/api/v1/chain/records/1/proof?tree_size=0", [422, "greater_than_equal", "query.tree_size"]],
    ["/api/v1/chain/records/1/proof?tree_size=1", [422, "value_error", "query.tree_size"]],
    ["/api/v1/chain/records/1/proof?tree_size=1000000", [422, "value_error", "query.tree_size"]],
    ["/api/v1/chain/consistency", [422, "missing", "query.from"]],
    ["/api/v1/chain/consistency?from=2&to=1", [422, "value_error", "query.from"]],
    ["/api/v1/chain/consistency?from=1&to=1000000", [422, "value_error", "query.to"]],
    ["/api/v1/chain/verify?from=1000000", [422, "value_error", "query.from"]],
    ["/api/v1/chain/verify?from=2&to=1", [422, "value_error", "query.from"]],
    ["/api/v1/evidence/packs/pck_00000000000000000000000000", [404, "pack_not_found"]],
    ["/api/v1/evidence/packs/x", [404, "pack_not_found"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000", [404, "webhook_not_found"]],
    ["/api/v1/webhooks/x", [404, "webhook_not_found"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000/deliveries", [404, "webhook_not_found"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000/deliveries?limit=0", [422, "greater_than_equal", "query.limit"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000/deliveries?limit=1001", [422, "less_than_equal", "query.limit"]],
    ["/api/v1/webhooks/whk_00000000000000000000000000/deliveries?before=0", [422, "greater_than_equal", "query.before"]],
    ["/api/v1/nothing", [404, "not_found"]],
    ["/", [404, "not_found"]],
    [`/${"a/".repeat(100)}`, [404, "not_found"]]
  ]
  for (const [path, expected] of cases) {
    it(`GET ${path.slice(0, 80)}`, async () => {
      const got = await world.send("GET", path, { token: world.admin })
      assert.deepStrictEqual(seen(got), expected)
      if (got.status === 404) assert.deepStrictEqual(Object.keys(got.json).sort(), ["code", "detail"])
    })
  }

  it("an unknown parameter is passed over, as the specification's framework does", async () => {
    assert.strictEqual((await world.send("GET", "/api/v1/agents?utm=1", { token: world.admin })).status, 200)
  })

  it("records past the head are an empty list", async () => {
    const got = await world.send("GET", "/api/v1/chain/records?from=1000000", { token: world.admin })
    assert.deepStrictEqual([got.status, got.json], [200, []])
  })

  it("POST to an id that is none", async () => {
    const post = (path: string, json: unknown) => world.send("POST", path, { token: world.admin, json })
    assert.deepStrictEqual(seen(await post("/api/v1/decisions/x/settle", { status: "ok" })), [404, "decision_not_found"])
    assert.deepStrictEqual(seen(await post("/api/v1/decisions/dec_00000000000000000000000000/settle", { status: "ok" })), [404, "decision_not_found"])
    assert.deepStrictEqual(seen(await post("/api/v1/admin/ingest-keys/x/revoke", {})), [404, "ingest_key_not_found"])
    for (const act of ["test", "revoke", "rotate-secret", "rotate-secret/complete", "enable", `deliveries/dlv_${"0".repeat(26)}/redeliver`]) {
      assert.deepStrictEqual(seen(await post(`/api/v1/webhooks/whk_${"0".repeat(26)}/${act}`, {})), [404, "webhook_not_found"], act)
    }
    assert.deepStrictEqual(seen(await post("/api/v1/agents/x/decisions", { client_ref: "a", action: "b" })), [404, "agent_not_found"])
    assert.deepStrictEqual(seen(await post("/api/v1/evidence/packs", { kind: "sparse", agent_id: "agt_00000000000000000000000000" })), [404, "agent_not_found"])
    assert.deepStrictEqual(seen(await post("/api/v1/chain/erasures", { seq: 1_000_000, name: "args", reason: "security" })), [404, "record_not_found"])
    assert.deepStrictEqual(seen(await post("/api/v1/chain/erasures", { seq: 0, name: "args", reason: "security" })), [404, "part_not_found"])
  })
})

describe("refusals of what is known already", () => {
  it("a name, a client_ref, an outcome, a part", async () => {
    const post = (path: string, json: unknown) => world.send("POST", path, { token: world.admin, json })
    const agent = await world.register("taken")
    const before = await everything()
    const name = await post("/api/v1/agents", { name: "taken", org_unit: "claims" })
    assert.deepStrictEqual([name.status, name.json.code, name.json.agent_id], [409, "agent_name_taken", agent])
    assert.deepStrictEqual(await everything(), before)

    const decision = await post(`/api/v1/agents/${agent}/decisions`, { client_ref: "a", action: "b", args: { x: 1 } })
    const reused = await post(`/api/v1/agents/${agent}/decisions`, { decisions: [{ client_ref: "new", action: "b" }, { client_ref: "a", action: "c" }] })
    assert.deepStrictEqual([reused.status, reused.json.code, reused.json.indexes], [409, "client_ref_reused", [1]])
    const { decision_id, seq } = decision.json.receipts[0]
    assert.strictEqual((await post(`/api/v1/decisions/${decision_id}/settle`, { status: "ok" })).status, 201)
    assert.deepStrictEqual(seen(await post(`/api/v1/decisions/${decision_id}/settle`, { status: "error" })), [409, "decision_already_settled"])
    const erased = await post("/api/v1/chain/erasures", { seq, name: "args", reason: "security" })
    const again = await post("/api/v1/chain/erasures", { seq, name: "args", reason: "security" })
    assert.deepStrictEqual([again.status, again.json.code, again.json.erased_by], [409, "part_erased", erased.json.seq])
  })

  it("a part over 1 MiB is 413, and nothing of its batch is written", async () => {
    const agent = await world.register("large")
    const before = await everything()
    const decisions = [{ client_ref: "small", action: "b", args: "x" }, { client_ref: "large", action: "b", args: "x".repeat(1_048_576) }]
    const got = await world.send("POST", `/api/v1/agents/${agent}/decisions`, { token: world.admin, json: { decisions } })
    assert.deepStrictEqual([got.status, got.json.code, got.json.indexes], [413, "decision_too_large", [1]])
    assert.deepStrictEqual(await everything(), before)
  })
})

describe("what has no exact JSON form", () => {
  it("is kept as the bytes received inside args, result and labels", async () => {
    const agent = await world.register("lossless")
    const texts = ["{\"n\":12345678901234567890}", "{ \"a\":1, \"a\":2 }", "\"\\ud800\"", "1e999", "[9007199254740993]"]
    for (const [index, text] of texts.entries()) {
      const got = await world.send("POST", `/api/v1/agents/${agent}/decisions`, { token: world.admin, body: `{"client_ref":"r${index}","action":"b","args":${text}}` })
      assert.strictEqual(got.status, 201, text)
      const same = await world.send("POST", `/api/v1/agents/${agent}/decisions`, { token: world.admin, body: `{"client_ref":"r${index}","action":"b","args":${text}}` })
      assert.isTrue(same.json.receipts[0].duplicate, text)
    }
    const pack = await world.send("POST", "/api/v1/evidence/packs", { token: world.admin, json: { kind: "sparse", agent_id: agent, disclose: ["args"] } })
    const { text } = await world.send("GET", `/api/v1/evidence/packs/${pack.json.id}`, { token: world.admin })
    const disclosed = text.split("\n").filter((line) => line.startsWith("D ")).map((line) => atob(line.split(" ")[4]!))
    assert.deepStrictEqual(disclosed, texts)
  })
})

it("the largest batch is taken", async () => {
  const agent = await world.register("batch")
  const decisions = Array.from({ length: 1_000 }, (_, index) => ({ client_ref: `r${index}`, action: "b", args: "x".repeat(16_000) }))
  const body = JSON.stringify({ decisions })
  assert.isBelow(body.length, BATCH_LIMIT_BYTES)
  const got = await world.send("POST", `/api/v1/agents/${agent}/decisions`, { token: world.key, body })
  assert.deepStrictEqual([got.status, got.json.receipts?.length], [201, 1_000])
})
