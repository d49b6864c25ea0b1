import { Result } from "effect"
import { assert, describe, it } from "vitest"
import * as http from "./http/index.ts"
import { endpoints, internalError, type Param, problemOf, problems, refusalsOf } from "./http/index.ts"
import * as contract from "./index.ts"
import {
  AgentNameTaken,
  AgentNotFound,
  ClientRefReused,
  codeOf,
  EnvelopeNotPublishable,
  InvalidInput,
  KeyNotAllowed,
  MethodNotAllowed,
  refusals,
  Unauthorized
} from "./refusals.ts"

describe("refusals", () => {
  it("have a status each, and a code that is their name", () => {
    for (const tag of Object.keys(problems)) {
      assert.property(contract, tag)
      assert.match(codeOf(tag), /^[a-z]+(_[a-z]+)*$/)
    }
    assert.strictEqual(codeOf("AgentNameTaken"), "agent_name_taken")
    assert.strictEqual(codeOf("DecisionAlreadySettled"), "decision_already_settled")
  })

  it("are listed once each under their tag, with a status and an example of their own class", () => {
    const classes = Object.values<unknown>(contract).filter(
      (value) => typeof value === "function" && value.prototype instanceof Error
    )
    assert.sameMembers(classes, Object.values(refusals))
    for (const [tag, refusal] of Object.entries(refusals)) {
      assert.strictEqual(refusal.example._tag, tag)
      assert.strictEqual(problemOf(refusal.example)!.status, refusal.status)
      assert.isNotEmpty(refusal.example.message)
    }
  })

  it("go out as sentence and code, with what the caller needs to act", () => {
    assert.deepStrictEqual(problemOf(new KeyNotAllowed()), {
      status: 403,
      body: { detail: "This action needs an OIDC session.", code: "key_not_allowed" },
      headers: {}
    })
    assert.deepStrictEqual(problemOf(new Unauthorized({}))!.headers, { "www-authenticate": "Bearer" })
    assert.deepStrictEqual(problemOf(new MethodNotAllowed({ allow: ["GET", "HEAD"] }))!.headers, { allow: "GET, HEAD" })
    assert.deepInclude(problemOf(new AgentNameTaken({ agentId: "agt_x" }))!.body, {
      code: "agent_name_taken",
      agent_id: "agt_x"
    })
    assert.deepInclude(problemOf(new AgentNameTaken({}))!.body, { agent_id: null })
    assert.deepInclude(problemOf(new ClientRefReused({ indexes: [1, 3] }))!.body, { indexes: [1, 3] })
    assert.strictEqual(problemOf(new AgentNotFound({ agentId: "agt_x" }))!.status, 404)
  })

  it("of a draft with errors name the first error and the number of the others", () => {
    const warning = { code: "W201", level: "warning", path: null, message: "Not this one." }
    const first = { code: "E100", level: "error", path: "/rules/1", message: "There is no signal amuont." }
    const other = { code: "E101", level: "error", path: null, message: "The rule never holds." }
    const messageOf = (...findings: ReadonlyArray<object>) => new EnvelopeNotPublishable({ findings }).message
    const head = "The draft has errors, so it cannot be published."
    assert.strictEqual(messageOf(warning, first), `${head} E100 at /rules/1: There is no signal amuont.`)
    assert.strictEqual(
      messageOf(warning, other, first),
      `${head} E101: The rule never holds. There is 1 more error; findings lists each.`
    )
    assert.include(messageOf(first, other, other), "There are 2 more errors; findings lists each.")
    for (const refusal of [new EnvelopeNotPublishable({}), new EnvelopeNotPublishable({ findings: [warning, null] })])
      assert.strictEqual(refusal.message, `${head} Correct every finding of level error.`)
  })

  it("a validation error is the specification's body", () => {
    const item = { loc: ["body", "a"], msg: "Field required", type: "missing", input: null, ctx: {} }
    assert.deepStrictEqual(problemOf(new InvalidInput({ detail: [item] })), {
      status: 422,
      body: { detail: [item] },
      headers: {}
    })
    assert.strictEqual(new InvalidInput({ detail: [item] }).message, "The input is not valid: body.a: Field required.")
    assert.strictEqual(
      new InvalidInput({ detail: [{ ...item, msg: "Leave it out." }] }).message,
      "The input is not valid: body.a: Leave it out."
    )
  })

  it("faults of the store are 503 and say nothing of the reason", () => {
    for (const tag of ["StorageUnavailable", "StorageConflict", "StorageCorrupt"]) {
      const problem = problemOf({ _tag: tag, reason: "hunter2", message: "hunter2" })!
      assert.deepStrictEqual([problem.status, problem.body["code"]], [503, codeOf(tag)])
      assert.notInclude(JSON.stringify(problem), "hunter2")
    }
  })

  it("repeated conflicts are not reported as an unavailable store", () => {
    assert.deepInclude(problemOf({ _tag: "StorageUnavailable", contended: true })!, {
      status: 503,
      headers: { "retry-after": "1" }
    })
    assert.deepInclude(problemOf({ _tag: "StorageUnavailable", contended: true })!.body, {
      code: "storage_conflict",
      detail: problemOf({ _tag: "StorageConflict" })!.body["detail"]
    })
  })

  it("anything else is a defect", () => {
    for (const error of [
      null,
      undefined,
      "x",
      new Error("x"),
      {},
      { _tag: 1 },
      { _tag: "Surprise" },
      { _tag: "constructor" },
      { _tag: "__proto__" }
    ])
      assert.isNull(problemOf(error))
    assert.deepStrictEqual(Object.keys(internalError("id").body), ["detail", "code"])
  })
})

describe("the endpoint table", () => {
  it("names each endpoint and each place once", () => {
    const ids = endpoints.map(({ id }) => id)
    const places = endpoints.map(({ method, path }) => `${method} ${path.replace(/\{[^}]*\}/g, "{}")}`)
    assert.strictEqual(new Set(ids).size, ids.length)
    assert.strictEqual(new Set(places).size, places.length)
  })

  it("describes the parameters of its paths", () => {
    for (const { params, path } of endpoints) {
      assert.deepStrictEqual(
        [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name),
        Object.keys(params),
        path
      )
    }
  })

  it("accepts only ids of valid form, so that no store is read for others", () => {
    for (const { params } of endpoints) {
      for (const [name, param] of Object.entries(params as { readonly [name: string]: Param<unknown> })) {
        assert.isTrue(Result.isSuccess(param.decode(param.example, name)))
        if (name === "name")
          for (const text of ["", "X", "\0", "9a", "a-b", "a".repeat(33)])
            assert.isTrue(Result.isFailure(param.decode(text, name)), text)
        else if (name !== "seq" && name !== "version")
          for (const text of ["", "x", "\0", `${param.example}0`, param.example.toUpperCase()])
            assert.isTrue(Result.isFailure(param.decode(text, name)), text)
      }
    }
  })

  it("lists its refusals: its own and those that every such endpoint has", () => {
    for (const endpoint of endpoints) {
      const tags = refusalsOf(endpoint)
      for (const tag of ["InvalidInput", "BodyTooLarge", "UnsupportedMediaType", ...endpoint.refusals])
        assert.include(tags, tag)
      assert.strictEqual(tags.includes("Unauthorized"), !endpoint.access.anonymous, endpoint.id)
      const isKeyRefused = !endpoint.access.ingestKey || endpoint.id === "agents.attach_identity"
      assert.strictEqual(tags.includes("KeyNotAllowed"), isKeyRefused, endpoint.id)
    }
  })

  it("says of each answer with a key or a secret that it shows one, so that it is kept sealed", () => {
    const groups = Object.values<unknown>(http).filter((value) => typeof value === "object" && value !== null)
    const rows = groups.flatMap((group) => Object.values(group as object)).filter((row) => "success" in Object(row))
    const showing = (rows as ReadonlyArray<http.AnyEndpoint>).filter(({ success }) => {
      const fields = Object.keys(success.schema?.fields ?? {})
      return fields.includes("secret") || fields.includes("key")
    })
    for (const { id, showsSecret } of showing) assert.isTrue(showsSecret, id)
    assert.isAtLeast(showing.length, 6)
  })

  it("creates with 201 and reads with 200", () => {
    const changes = new Set([
      "bound.lint",
      "bound.publish",
      "bound.withdraw",
      "bound.backtest",
      "bound.grant_waiver",
      "standing_approvals.grant",
      "standing_approvals.revoke",
      "bound.explain",
      "kill.release",
      "breakers.preview",
      "breakers.release",
      "breakers.check",
      "kill.complete_drill",
      "kill.attest_drill",
      "reviews.claim",
      "reviews.resolve",
      "reviews.withdraw",
      "ingest_keys.revoke",
      "platform_keys.revoke",
      "mcp.resolve",
      "access_mapping.resolve_draft",
      ...["test", "revoke", "rotate_secret", "complete_rotation", "disable", "enable", "redeliver", "recover"].map(
        (act) => `webhooks.${act}`
      ),
      ...["activate", "suspend", "decommission", "recertify", "transfer_ownership", "disown"].map(
        (act) => `agents.${act}`
      )
    ])
    for (const { id, method, success } of endpoints)
      assert.strictEqual(
        success.status,
        method === "GET" || method === "PATCH" || method === "PUT" || changes.has(id) ? 200 : 201,
        id
      )
  })

  it("has every route of the specification's first part", () => {
    assert.deepStrictEqual(
      endpoints.map(({ method, path }) => `${method} ${path}`).sort(),
      [
        "POST /api/v1/bound/kill/activate",
        "POST /api/v1/bound/kill/release",
        "POST /api/v1/bound/kill/ack",
        "POST /api/v1/bound/kill/request",
        "GET /api/v1/bound/kill/events",
        "GET /api/v1/bound/kill/stream",
        "GET /api/v1/bound/kill/activations/{activation_id}",
        "GET /api/v1/bound/kill/activations/{activation_id}/certificate",
        "GET /api/v1/bound/kill/status",
        "POST /api/v1/bound/agents/{agent_id}/breakers",
        "GET /api/v1/bound/agents/{agent_id}/breakers",
        "POST /api/v1/bound/agents/{agent_id}/breakers/preview",
        "GET /api/v1/bound/breakers/{breaker_id}",
        "PATCH /api/v1/bound/breakers/{breaker_id}",
        "POST /api/v1/bound/breakers/{breaker_id}/release",
        "POST /api/v1/bound/breakers/check",
        "POST /api/v1/bound/envelopes",
        "GET /api/v1/bound/envelopes",
        "GET /api/v1/bound/envelopes/{envelope_id}",
        "PATCH /api/v1/bound/envelopes/{envelope_id}",
        ...["lint", "publish", "withdraw", "backtest", "waivers", "waivers/{waiver_id}/grant"].map(
          (act) => `POST /api/v1/bound/envelopes/{envelope_id}/${act}`
        ),
        ...["versions", "versions/{version}", "diff", "waivers"].map(
          (what) => `GET /api/v1/bound/envelopes/{envelope_id}/${what}`
        ),
        "GET /api/v1/bound/agents/{agent_id}/envelopes-in-force",
        "POST /api/v1/bound/evaluations",
        "GET /api/v1/bound/evaluations",
        "GET /api/v1/bound/evaluations/{evaluation_id}",
        "POST /api/v1/bound/evaluations/{evaluation_id}/explain",
        "POST /api/v1/bound/evaluations/{evaluation_id}/void",
        "GET /api/v1/bound/reviews",
        "GET /api/v1/bound/reviews/stream",
        "GET /api/v1/bound/reviews/{review_id}",
        "POST /api/v1/bound/reviews/{review_id}/claim",
        "POST /api/v1/bound/reviews/{review_id}/resolve",
        "POST /api/v1/bound/reviews/{review_id}/withdraw",
        "GET /api/v1/bound/safety",
        "GET /api/v1/bound/telemetry/usage",
        "POST /api/v1/bound/standing-approvals",
        "GET /api/v1/bound/standing-approvals",
        "GET /api/v1/bound/standing-approvals/{standing_approval_id}",
        "POST /api/v1/bound/standing-approvals/{standing_approval_id}/grant",
        "POST /api/v1/bound/standing-approvals/{standing_approval_id}/revoke",
        "POST /api/v1/bound/kill/drills",
        "GET /api/v1/bound/kill/drills",
        "GET /api/v1/bound/kill/drills/{drill_id}",
        "POST /api/v1/bound/kill/drills/{drill_id}/complete",
        "POST /api/v1/bound/kill/drills/{drill_id}/attest",
        "GET /api/v1/bound/response-policy",
        "PUT /api/v1/bound/response-policy",
        "GET /api/v1/behavior/agents/{agent_id}/change",
        "GET /api/v1/evals/eval-runs",
        "POST /api/v1/evals/eval-runs",
        "GET /api/v1/fairness/mcp-screen",
        "POST /api/v1/fairness/mcp-manifests",
        "POST /api/v1/fairness/mcp-pins",
        "POST /api/v1/fairness/findings/{finding_id}/resolve",
        "GET /api/v1/fairness/screens",
        "POST /api/v1/fairness/screens",
        "GET /api/v1/models",
        "POST /api/v1/models",
        "PATCH /api/v1/models/{model_id}",
        "GET /api/v1/agents/{agent_id}/provenance",
        "POST /api/v1/agents/{agent_id}/provenance",
        "GET /api/v1/register/_meta",
        "GET /api/v1/admin/entitlement-rules",
        "PUT /api/v1/admin/entitlement-rules",
        "POST /api/v1/admin/entitlement-rules/resolve-draft",
        "GET /api/v1/admin/ingest-keys",
        "GET /api/v1/admin/platform-keys",
        "GET /api/v1/agents",
        "GET /api/v1/agents/{agent_id}",
        "GET /api/v1/agents/{agent_id}/decisions",
        "GET /api/v1/agents/{agent_id}/timeline",
        "GET /api/v1/agents/orphans",
        "PATCH /api/v1/agents/{agent_id}",
        "POST /api/v1/agents/{agent_id}/activate",
        "POST /api/v1/agents/{agent_id}/decommission",
        "POST /api/v1/agents/{agent_id}/disown",
        "POST /api/v1/agents/{agent_id}/identity",
        "POST /api/v1/agents/{agent_id}/recertify",
        "POST /api/v1/agents/{agent_id}/suspend",
        "POST /api/v1/agents/{agent_id}/transfer-ownership",
        "GET /api/v1/chain/checkpoint",
        "GET /api/v1/chain/consistency",
        "GET /api/v1/chain/genesis",
        "GET /api/v1/chain/head",
        "GET /api/v1/chain/keys",
        "GET /api/v1/chain/records",
        "GET /api/v1/chain/records/{seq}",
        "GET /api/v1/chain/records/{seq}/parts/{name}",
        "GET /api/v1/chain/records/{seq}/proof",
        "GET /api/v1/chain/verify",
        "GET /api/v1/evidence/packs",
        "GET /api/v1/evidence/packs/{pack_id}",
        "GET /api/v1/me",
        "GET /api/v1/principals/{principal_id}",
        "GET /healthz",
        "GET /status",
        "POST /api/v1/admin/ingest-keys",
        "POST /api/v1/admin/ingest-keys/{key_id}/revoke",
        "POST /api/v1/admin/platform-keys",
        "POST /api/v1/admin/platform-keys/{platform_key_id}/revoke",
        "POST /api/v1/agents",
        "POST /api/v1/agents/{agent_id}/capture-gaps",
        "POST /api/v1/agents/{agent_id}/decisions",
        "POST /api/v1/agents/{agent_id}/instances/end",
        "POST /api/v1/chain/erasures",
        "GET /api/v1/decisions/{decision_id}",
        "POST /api/v1/decisions/{decision_id}/settle",
        "POST /api/v1/evidence/packs",
        "POST /api/v1/webhooks",
        "GET /api/v1/webhooks",
        "GET /api/v1/webhooks/{webhook_id}",
        "GET /api/v1/webhooks/{webhook_id}/deliveries",
        "POST /api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
        ...["test", "revoke", "rotate-secret", "rotate-secret/complete", "disable", "enable", "recover"].map(
          (act) => `POST /api/v1/webhooks/{webhook_id}/${act}`
        )
      ].sort()
    )
  })
})
