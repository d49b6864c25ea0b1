/**
 * Models, provenance and the access mapping through the plain client: what they do, and their errors for invalid input.
 */
import type { EnvelopeSource } from "@flyball/envelope"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type Governor, openGovernor } from "../governor.ts"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { GovernorError } from "../../foundation/governor-error.ts"

let governor: Governor
beforeEach(async () => void (governor = await openGovernor({ storage: memoryStorage() })))
afterEach(() => governor.close())

/** Removes a client's types, so that a test can call it as untyped JavaScript does. */
const untyped = (client: object) =>
  client as { readonly [name: string]: (...args: ReadonlyArray<unknown>) => Promise<unknown> }
/** The code of a refusal, and the place of the first thing that is wrong. */
const refused = (promise: Promise<unknown>) =>
  promise.then(
    (answer) => `answered ${JSON.stringify(answer)}`,
    (error: unknown) => {
      assert.instanceOf(error, GovernorError)
      const [first] = Array.isArray(error.detail)
        ? (error.detail as ReadonlyArray<{ readonly loc: ReadonlyArray<string>; readonly type: string }>)
        : []
      return first === undefined ? error.code : `${error.code} ${first.loc.join(".")} ${first.type}`
    }
  )
const ann = { writer: "system:ann" }
const model = { provider: "acme", name: "large", version: "4" }
const admins = { match: { claim: "groups", value: "platform" }, role: "admin", org_unit: "*" } as const

describe("people through the client", () => {
  it("have one pseudonym each, by issuer and subject as they stand", async () => {
    const { people } = governor
    const bo = await people.writer({ subject: "bo" })
    assert.match(bo, /^usr_/)
    assert.strictEqual(await people.writer({ subject: "bo" }), bo)
    assert.strictEqual(await people.writer({ issuer: "flyball.local/host", subject: "bo" }), bo)
    const others = [{ subject: "Bo" }, { subject: "bo " }, { issuer: "https://login.example.org", subject: "bo" }]
    const ids = await Promise.all(others.map((person) => people.writer(person)))
    assert.lengthOf(new Set([bo, ...ids]), 4)
    assert.deepStrictEqual(await people.get(ids[2]!), {
      id: ids[2]!,
      kind: "user",
      issuer: "https://login.example.org",
      subject: "bo",
      name: null,
      org_unit: null,
      created_by: null,
      erased: false
    })
  })

  it("are refused without a subject that can be kept", async () => {
    const { writer, get } = untyped(governor.people)
    for (const subject of ["", "  ", "a".repeat(257), "a\0", "\ud800", 7, null])
      assert.match(await refused(writer!({ subject })), /^invalid_input body\.subject /)
    assert.match(await refused(writer!("bo")), /^invalid_input body /)
    assert.strictEqual(await refused(get!("usr_nobody")), "principal_not_found")
  })
})

describe("reviews through the client", () => {
  it("are answered by a person, and waited for", async () => {
    const { agent } = await governor.agents.register({
      name: "payer",
      org_unit: "ops",
      owner_name: "A",
      owner_email: "a@b.cd"
    })
    const envelope: EnvelopeSource = {
      semantics: "envelope/1",
      signals: { tool: { type: "enum", values: ["pay"], source: "caller" } },
      effects: { pay: "read" },
      rules: [{ id: "pay", outcome: "require_review", when: [] }],
      default: { outcome: "deny" }
    }
    const { id } = await governor.envelopes.create({ name: "of pay", agent_id: agent.id, envelope }, ann)
    await governor.envelopes.publish(id, {})
    await governor.agents.activate(agent.id)
    const evaluate = (client_ref: string, approval_id: string | null = null) =>
      governor.evaluate({ agent_id: agent.id, client_ref, signals: { tool: "pay" }, args: { to: "Bo" }, approval_id })
    const review = (await evaluate("1")).review_id!
    const person = { writer: await governor.people.writer({ subject: "bo@example.org" }) }
    assert.strictEqual(
      await refused(governor.reviews.resolve(review, { resolution: "approve" })),
      "reviewer_not_eligible"
    )
    assert.deepInclude(await governor.reviews.detail(review, person), { args: { to: "Bo" }, withheld: false })
    assert.deepInclude(await governor.reviews.claim(review, {}, person), { status: "claimed" })
    await governor.reviews.resolve(review, { resolution: "approve" }, person)
    assert.deepInclude(await governor.reviews.wait(review, 10_000), { status: "resolved", resolution: "approve" })
    assert.strictEqual((await evaluate("2", review)).outcome, "allow")
    const withdrawn = (await evaluate("3")).review_id!
    assert.deepInclude(await governor.reviews.withdraw(withdrawn), { cancel_cause: "withdrawn" })
    assert.deepStrictEqual(
      (await governor.reviews.list({ limit: 9 })).map((one) => one.id),
      [withdrawn, review]
    )
    assert.strictEqual((await governor.reviews.get(review)).consumed_result, "used")
    assert.strictEqual(
      await refused(governor.reviews.resolve(review, {} as never)),
      "invalid_input body.resolution missing"
    )
  })
})

describe("the timeline of an agent through the client", () => {
  it("comes newest first, page by page, with the writer of each act", async () => {
    const { agent } = await governor.agents.register({ name: "courier", org_unit: "ops" })
    await governor.agents.suspend(agent.id, { reason: "It paid twice." }, ann)
    const [last, first, ...more] = await governor.agents.timeline(agent.id)
    assert.deepStrictEqual(more, [])
    assert.deepInclude(last, { kind: "agent.suspended", actor: "system:ann", summary: "Suspended: on request." })
    assert.deepInclude(first, { kind: "agent.registered", references: [] })
    assert.deepStrictEqual(await governor.agents.timeline(agent.id, { limit: 1, before: undefined }), [last!])
    assert.deepStrictEqual(await governor.agents.timeline(agent.id, { before: last!.seq }), [first!])
  })

  it("is refused with codes", async () => {
    const { agent } = await governor.agents.register({ name: "courier", org_unit: "ops" })
    const agents = untyped(governor.agents)
    assert.deepStrictEqual(
      await Promise.all(
        [
          agents["timeline"]!(`agt_${"0".repeat(26)}`),
          agents["timeline"]!(5),
          agents["timeline"]!(agent.id, { before: "x" }),
          agents["timeline"]!(agent.id, { before: -1 }),
          agents["timeline"]!(agent.id, { limit: 0 }),
          agents["timeline"]!(agent.id, { limit: 1_001 }),
          agents["timeline"]!(agent.id, null)
        ].map(refused)
      ),
      [
        "agent_not_found",
        "invalid_input path.0 string_type",
        "invalid_input query.before int_parsing",
        "invalid_input query.before greater_than_equal",
        "invalid_input query.limit greater_than_equal",
        "invalid_input query.limit less_than_equal",
        "invalid_input query dict_type"
      ]
    )
  })
})

describe("models through the plain client", () => {
  it("are registered, changed and listed, each act a record of who did it", async () => {
    const made = await governor.models.create({ ...model, price: { input_micro_usd_per_mtok: 3 } }, ann)
    assert.deepInclude(made, {
      ...model,
      status: "allowed",
      hosting: null,
      price: { input_micro_usd_per_mtok: 3, output_micro_usd_per_mtok: null }
    })
    assert.strictEqual(
      (await governor.models.update(made.id, { status: "retired", price: undefined })).status,
      "retired"
    )
    assert.deepStrictEqual(await governor.models.list(), [{ ...made, status: "retired" }])
    const [record] = await governor.chain.records({ kind: "model.registered" })
    assert.include(new TextDecoder().decode(record!.bytes), "system:ann")
    assert.isTrue((await governor.check()).ok)
  })

  it("are refused with codes", async () => {
    const { id } = await governor.models.create(model)
    const models = untyped(governor.models)
    assert.deepStrictEqual(
      await Promise.all(
        [
          models["create"]!(model),
          models["create"]!(),
          models["create"]!(null),
          models["create"]!("large"),
          models["create"]!({ name: "large" }),
          models["create"]!({ ...model, version: 5 }),
          models["create"]!({ ...model, pricing: 3 }),
          models["create"]!({ ...model, version: "5" }, { writer: 5 }),
          models["update"]!(),
          models["update"]!(5, {}),
          models["update"]!("mdl_x", {}),
          models["update"]!(id, null),
          models["update"]!(id),
          models["update"]!(id, { status: "on" }),
          models["update"]!(id, { name: "small" })
        ].map(refused)
      ),
      [
        "model_taken",
        "invalid_input body dict_type",
        "invalid_input body dict_type",
        "invalid_input body dict_type",
        "invalid_input body.provider missing",
        "invalid_input body.version string_type",
        "invalid_input body.pricing extra_forbidden",
        "invalid_writer",
        "invalid_input path.0 string_type",
        "invalid_input path.0 string_type",
        "model_not_found",
        "invalid_input body dict_type",
        "invalid_input body dict_type",
        "invalid_input body.status enum",
        "invalid_input body.name extra_forbidden"
      ]
    )
    assert.lengthOf(await governor.models.list(), 1)
  })
})

describe("provenance through the plain client", () => {
  it("is added and listed, with its record", async () => {
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "ops" })
    const piece = await governor.provenance.add(
      agent.id,
      { kind: "prompt", name: "system prompt", version: undefined, digest: "sha256:00" },
      ann
    )
    assert.deepInclude(piece, { agent_id: agent.id, kind: "prompt", version: null, recorded_by: "system:ann" })
    assert.strictEqual((await governor.chain.record(piece.seq!)).kind, "agent.provenance_added")
    assert.deepStrictEqual(await governor.provenance.list(agent.id), [piece])
  })

  it("is refused with codes", async () => {
    const {
      agent: { id }
    } = await governor.agents.register({ name: "bot", org_unit: "ops" })
    const provenance = untyped(governor.provenance)
    const piece = { kind: "prompt", name: "p" }
    assert.deepStrictEqual(
      await Promise.all(
        [
          provenance["add"]!(),
          provenance["add"]!(null, piece),
          provenance["add"]!("agt_x", piece),
          provenance["add"]!(id),
          provenance["add"]!(id, null),
          provenance["add"]!(id, { kind: "prompt" }),
          provenance["add"]!(id, { ...piece, kind: "idea" }),
          provenance["add"]!(id, { ...piece, slsa_level: "3" }),
          provenance["list"]!(),
          provenance["list"]!({}),
          provenance["list"]!("agt_x")
        ].map(refused)
      ),
      [
        "invalid_input path.0 string_type",
        "invalid_input path.0 string_type",
        "agent_not_found",
        "invalid_input body dict_type",
        "invalid_input body dict_type",
        "invalid_input body.name missing",
        "invalid_input body.kind enum",
        "invalid_input body.slsa_level int_type",
        "invalid_input path.0 string_type",
        "invalid_input path.0 string_type",
        "agent_not_found"
      ]
    )
  })
})

describe("the access mapping through the plain client", () => {
  it("is set whole, and says what claims come to", async () => {
    const access = governor.accessMapping
    assert.deepStrictEqual(await access.get(), { rules: [], trust_canonical: false, version: 0 })
    assert.deepStrictEqual(await access.resolve({ groups: ["platform"] }), { roles: [], org_units: [], grants: [] })
    const ops = { id: "ops", match: { claim: "user_ids", value: "u7" }, role: "operator", org_unit: "ops" } as const
    const set = await access.set({ rules: [admins, ops], if_version: undefined }, ann)
    assert.deepStrictEqual(set, { rules: [{ id: "r1", ...admins }, ops], trust_canonical: false, version: 1 })
    const byOps = { role: "operator", org_unit: "ops", rule_id: "ops" } as const
    assert.deepStrictEqual(
      [
        await access.get(),
        await access.resolve({ user_ids: ["u7"] }),
        await access.resolve({ groups: ["platform"], user_ids: ["u7"] })
      ],
      [
        set,
        { roles: ["operator"], org_units: ["ops"], grants: [byOps] },
        {
          roles: ["admin", "operator"],
          org_units: ["*"],
          grants: [{ role: "admin", org_unit: "*", rule_id: "r1" }, byOps]
        }
      ]
    )
    assert.deepStrictEqual(await access.resolveDraft({ roles: ["auditor"], trust_canonical: true }), {
      roles: ["auditor"],
      org_units: ["*"],
      grants: [{ role: "auditor", org_unit: "*", rule_id: null }]
    })
    // A value is compared whole, as in a token.
    assert.deepStrictEqual((await access.resolveDraft({ roles: ["auditor post"], trust_canonical: true })).grants, [])
    assert.strictEqual((await access.get()).version, 1)
    assert.isTrue((await governor.check()).ok)
  })

  it("is refused with codes", async () => {
    const access = untyped(governor.accessMapping)
    const rule = (more: object) => ({ rules: [{ ...admins, ...more }] })
    assert.deepStrictEqual(
      await Promise.all(
        [
          access["set"]!(),
          access["set"]!(null),
          access["set"]!([admins]),
          access["set"]!({}),
          access["set"]!({ rules: null }),
          access["set"]!(rule({ role: "root" })),
          access["set"]!(rule({ match: "platform" })),
          access["set"]!(rule({ role: "auditor" })),
          access["set"]!({ rules: [admins], trust_canonical: "yes" }),
          access["set"]!({ rules: [admins], if_version: 3 }),
          access["set"]!({ rules: [admins] }, { writer: "Ann" }),
          access["resolve"]!(),
          access["resolve"]!(null),
          access["resolve"]!({ groups: "platform" }),
          access["resolve"]!({ rules: [admins] }),
          access["resolveDraft"]!({ rules: [5] })
        ].map(refused)
      ),
      [
        "invalid_input body dict_type",
        "invalid_input body dict_type",
        "invalid_input body dict_type",
        "invalid_input body.rules missing",
        "invalid_input body.rules list_type",
        "invalid_input body.rules.0.role enum",
        "invalid_input body.rules.0.match dict_type",
        "invalid_input body.rules value_error",
        "invalid_input body.trust_canonical bool_type",
        "mapping_version_conflict",
        "invalid_writer",
        "invalid_input body dict_type",
        "invalid_input body dict_type",
        "invalid_input body.groups list_type",
        "invalid_input body.rules extra_forbidden",
        "invalid_input body.rules.0 dict_type"
      ]
    )
    assert.strictEqual((await governor.accessMapping.get()).version, 0)
  })
})

describe("the response policy through the plain client", () => {
  it("is set whole and read, and what is invalid is refused with codes", async () => {
    const policy = governor.responsePolicy
    assert.deepStrictEqual(await policy.get(), [])
    const row = { scope: "tier", target: "L3", trigger: "breaker", response: "quarantine" } as const
    const set = await policy.set([{ ...row, notify: undefined }], ann)
    assert.deepStrictEqual(set, [{ ...row, notify: [] }])
    const read = await policy.version()
    assert.strictEqual(await refused(policy.set([], { ...ann, ifVersion: read - 1 })), "policy_version_conflict")
    assert.deepStrictEqual(await policy.set([row], { ...ann, ifVersion: read }), set)
    const plain = untyped(policy)
    assert.deepStrictEqual(
      await Promise.all(
        [
          plain["set"]!(),
          plain["set"]!({ rows: [] }),
          plain["set"]!([5]),
          plain["set"]!([{ ...row, notify: ["nobody"] }]),
          plain["set"]!([row, row]),
          plain["set"]!([{ ...row, scope: "tier", target: "nowhere" }]),
          plain["set"]!([row], { writer: "Ann" })
        ].map(refused)
      ),
      [
        "invalid_input body list_type",
        "invalid_input body list_type",
        "invalid_input body.0 dict_type",
        "invalid_input body.0.notify.0 value_error",
        "invalid_input body.1 value_error",
        "invalid_input body.0.target value_error",
        "invalid_writer"
      ]
    )
    assert.deepStrictEqual(await policy.get(), set)
    assert.isTrue((await governor.check()).ok)
  })
})

describe("drills and the safety view through the plain client", () => {
  it("are started, ended and attested; the view shows them, and what is invalid is refused", async () => {
    const { id: agentId } = (await governor.agents.register({ name: "drilled", org_unit: "ops" })).agent
    const input = { target_type: "agent", target_id: agentId, scenario: "It pays twice.", slo_ms: 5_000 } as const
    const started = await governor.drills.start({ ...input, mode: undefined }, ann)
    assert.deepInclude(started, { mode: "shadow", status: "started", max_duration_ms: 300_000 })
    const { agents } = await governor.safety.view({ limit: 10 })
    assert.deepInclude(
      agents.find(({ agent_id }) => agent_id === agentId),
      { halted: false, drill: true, activation_event: started.activation_event }
    )
    await governor.kill.ack({ activation_event: started.activation_event, agent_id: agentId, instance_id: "a" })
    assert.deepInclude(await governor.drills.complete(started.id, ann), { status: "completed" })
    const plain = untyped(governor.drills)
    assert.deepStrictEqual(
      await Promise.all(
        [
          plain["start"]!(),
          plain["start"]!({ ...input, slo_ms: 0 }),
          plain["start"]!({ ...input, target_id: `agt_${"0".repeat(26)}` }),
          plain["get"]!(7),
          plain["get"]!("x"),
          plain["complete"]!(started.id),
          plain["attest"]!(started.id, ann),
          plain["list"]!({ limit: 0 })
        ].map(refused)
      ),
      [
        "invalid_input body dict_type",
        "invalid_input body.slo_ms greater_than_equal",
        "agent_not_found",
        "invalid_input path.0 string_type",
        "drill_not_found",
        "drill_completed",
        "second_approver_required",
        "invalid_input query.limit greater_than_equal"
      ]
    )
    assert.deepInclude(await governor.drills.attest(started.id), { status: "attested" })
    assert.deepStrictEqual(await governor.drills.list({ limit: 5 }), [await governor.drills.get(started.id)])
    assert.isTrue((await governor.check()).ok)
  })
})
