import { utf8 } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { emptyReplay, foldRecord, type ReplayState } from "./fold.ts"
import { erasedProfile, noOwner } from "../agents/document.ts"
import { erasedKeyProfile } from "../ingest-keys/document.ts"
import type { Difference, ExpectedDocument, JsonMap, PartContent, ReplayRecord } from "../records/record.ts"

const json = (value: unknown): PartContent => ({ state: "present", bytes: utf8(JSON.stringify(value)) })
const record = (
  seq: number,
  kind: string,
  body: JsonMap,
  parts: { readonly [name: string]: PartContent } = {}
): ReplayRecord => ({ seq, kind, body, parts: new Map(Object.entries(parts)) })
const fold = (...records: ReadonlyArray<ReplayRecord>): ReplayState => {
  const state = emptyReplay()
  for (const one of records) foldRecord(state, one)
  return state
}
const document = (state: ReplayState, collection: string, id: string): ExpectedDocument => {
  const found = state.documents.get(collection)?.get(id)
  assert.isDefined(found)
  return found
}

const registered = (parts: { readonly [name: string]: PartContent }) =>
  record(
    1,
    "agent.registered",
    { agent_id: "agt_1", autonomy_tier: "L1", risk_class: "limited", writer: "system:host" },
    parts
  )
const profile = json({ name: "refunds", org_unit: "ops", labels: { a: 1 }, model_ids: ["m"], blast_radius: {} })
const owner = json({ owner_name: "Ada", owner_email: "ada@example.org" })
const minted = (part: PartContent) =>
  record(
    2,
    "ingest_key.minted",
    {
      key_id: "key_1",
      key_digest: "d",
      max_autonomy_tier: "L1",
      expires_at: "2026-11-21T00:00:00.000Z",
      writer: "usr_1"
    },
    { profile: part }
  )
const seen = (part: PartContent) =>
  record(3, "principal.seen", { principal_id: "usr_1", kind: "user" }, { identity: part })

describe("folding records", () => {
  it("creates an agent from its registration", () => {
    const agent = document(fold(registered({ profile, owner })), "agents", "agt_1")
    assert.deepInclude(agent.body, {
      name: "refunds",
      orgUnit: "ops",
      ownerName: "Ada",
      autonomyTier: "L1",
      riskClass: "limited",
      status: "draft",
      description: null
    })
    assert.deepStrictEqual(agent.unique, { name: "refunds" })
    assert.deepStrictEqual([agent.unknown, agent.erased], [[], []])
  })

  it("keeps models, unit, owner and parent that an older update omits", () => {
    const sealed = { model_ids: ["m"], org_unit_digest: "d", owner_complete: false }
    const first = record(1, "agent.registered", { agent_id: "agt_1", autonomy_tier: "L1", ...sealed })
    const update = (body: JsonMap) =>
      record(2, "agent.updated", { agent_id: "agt_1", autonomy_tier: "L2", risk_class: "high", ...body })
    const kept = document(fold(first, update({})), "agents", "agt_1").body
    assert.deepInclude(kept, {
      autonomyTier: "L2",
      sealedModelIds: ["m"],
      orgUnitDigest: "d",
      ownerComplete: false
    })
    const changed = update({ model_ids: [], org_unit_digest: "e", owner_complete: true })
    const state = fold(first, changed)
    const after = document(state, "agents", "agt_1").body
    assert.deepInclude(after, { sealedModelIds: [], orgUnitDigest: "e", ownerComplete: false })
    assert.deepStrictEqual(
      state.differences.map(({ expected, found, path }) => [path, expected, found]),
      [["/body/owner_complete", "false", "true"]],
      "only a transfer completes an owner"
    )
  })

  it("reports a parent that the records before contradict", () => {
    const agent = (seq: number, id: string, more: JsonMap, kind = "agent.registered") =>
      record(seq, kind, { agent_id: id, autonomy_tier: "L1", org_unit_digest: "ops", ...more })
    const parents = (...records: ReadonlyArray<ReplayRecord>) =>
      fold(...records).differences.map(({ expected, found, id, path }) => [id, path, expected, found])
    const before = "an agent of the same org unit that was registered before"
    const path = "/body/parent_agent_id"
    const first = agent(1, "agt_1", {})
    assert.deepStrictEqual(parents(first, agent(2, "agt_2", { parent_agent_id: "agt_1" })), [])
    assert.deepStrictEqual(parents(agent(1, "agt_1", { parent_agent_id: "agt_1" })), [["1", path, before, "agt_1"]])
    assert.deepStrictEqual(parents(agent(1, "agt_2", { parent_agent_id: "agt_1" }), agent(2, "agt_1", {})), [
      ["1", path, before, "agt_1"]
    ])
    assert.deepStrictEqual(parents(first, agent(2, "agt_2", { org_unit_digest: "sales", parent_agent_id: "agt_1" })), [
      ["2", path, before, "agt_1"]
    ])
    const line = Array.from({ length: 10 }, (_, n) =>
      agent(n, `agt_${n}`, n === 0 ? {} : { parent_agent_id: `agt_${n - 1}` })
    )
    assert.deepStrictEqual(parents(...line), [["9", path, "an agent with fewer than 8 ancestors", "agt_8"]])
    const update = (parent_agent_id: string) => agent(3, "agt_2", { parent_agent_id }, "agent.updated")
    const child = agent(2, "agt_2", { parent_agent_id: "agt_1" })
    assert.deepStrictEqual(parents(first, child, update("agt_1")), [])
    assert.deepStrictEqual(parents(first, child, update("agt_9")), [["3", path, "agt_1", "agt_9"]])
    assert.deepStrictEqual(parents(first, agent(2, "agt_2", {}), update("agt_1")), [["3", path, "nothing", "agt_1"]])
  })

  it("folds an erased part to the document that an erasure leaves", () => {
    const agent = document(
      fold(registered({ profile: { state: "erased" }, owner: { state: "erased" } })),
      "agents",
      "agt_1"
    )
    assert.deepInclude(agent.body, { ...erasedProfile("agt_1"), ...noOwner })
    assert.deepStrictEqual(agent.unique, { name: "agt_1" })
    assert.include<string>(agent.erased, "ownerEmail")

    const key = document(fold(minted({ state: "erased" })), "ingest_keys", "key_1")
    assert.deepInclude(key.body, erasedKeyProfile("key_1"))

    const person = document(fold(seen({ state: "erased" })), "principals", "usr_1")
    assert.deepInclude(person.body, { issuer: null, subject: null })
    assert.deepStrictEqual(person.unique, {})
  })

  it("gives an agent the identity of the newest verdict that was not rejected", () => {
    const attested = (
      seq: number,
      verdict: string,
      source: string,
      parts: { readonly [name: string]: PartContent } = {}
    ) =>
      record(
        seq,
        "agent.identity_attested",
        {
          agent_id: "agt_1",
          checked_at: "2026-11-21T00:00:00.000Z",
          reason_code: "ok",
          source,
          verdict,
          writer: "system:host"
        },
        parts
      )
    const start = registered({ profile, owner })
    const verified = attested(5, "verified", "signed_card", { identity: json({ identity_ref: "acme#1" }) })
    const own = (part: PartContent) => attested(6, "declared", "other", { identity: part })
    const identityOf = (...records: ReadonlyArray<ReplayRecord>) => {
      const { body, erased, unknown } = document(fold(start, ...records), "agents", "agt_1")
      return [body["identityVerified"], body["identitySource"], body["identityRef"], unknown, erased]
    }
    assert.deepStrictEqual(identityOf(), [undefined, undefined, undefined, [], []])
    assert.deepStrictEqual(identityOf(attested(4, "rejected", "signed_card", { claim: json({ key_id: "x" }) })), [
      undefined,
      undefined,
      undefined,
      [],
      []
    ])
    assert.deepStrictEqual(identityOf(verified, attested(6, "rejected", "a2a_signed_card")), [
      true,
      "signed_card",
      "acme#1",
      [],
      []
    ])
    assert.deepStrictEqual(identityOf(verified, own(json({ identity_ref: "7", identity_source: "ours" }))), [
      false,
      "ours",
      "7",
      [],
      []
    ])
    assert.deepStrictEqual(identityOf(verified, own({ state: "erased" })), [
      false,
      "other",
      null,
      [],
      ["identitySource", "identityRef"]
    ])
    assert.deepStrictEqual(identityOf(own({ state: "withheld" }))[3], ["identitySource", "identityRef"])
    assert.deepStrictEqual(identityOf(own({ state: "withheld" }), verified), [true, "signed_card", "acme#1", [], []])
  })

  it("marks members of a withheld, missing or unreadable part as unknown", () => {
    for (const part of [
      { state: "withheld" },
      { state: "missing" },
      { state: "present", bytes: Uint8Array.of(255) }
    ] as const) {
      const agent = document(fold(registered({ profile: part, owner })), "agents", "agt_1")
      assert.include(agent.unknown, "name")
      assert.notInclude(agent.unknown, "ownerName")
      assert.deepStrictEqual(agent.unique, {})
      assert.deepStrictEqual(document(fold(seen(part)), "principals", "usr_1").unknown, ["issuer", "subject"])
      assert.include(document(fold(minted(part)), "ingest_keys", "key_1").unknown, "orgUnit")
    }
  })

  it("treats an agent without an owner part as one without an owner", () => {
    const agent = document(fold(registered({ profile })), "agents", "agt_1")
    assert.deepInclude(agent.body, { ownerName: null, ownerEmail: null })
    assert.deepStrictEqual(agent.unknown, [])
  })

  it("revokes a key that was minted", () => {
    const revoked = record(4, "ingest_key.revoked", { key_id: "key_1", writer: "usr_1" })
    const state = fold(minted(json({ name: "n", org_unit: "ops" })), revoked)
    assert.isTrue(document(state, "ingest_keys", "key_1").body["revoked"])
    assert.deepStrictEqual(state.differences, [])
    assert.lengthOf(fold(revoked).differences, 1)
  })

  it("counts an agent's records, and reports those of an agent that no record registered", () => {
    const body = { agent_id: "agt_1" }
    const state = fold(
      registered({ profile }),
      record(2, "decision.witnessed", { ...body, agent_status: "draft" }),
      record(3, "decision.witnessed", { ...body, agent_status: "draft" }),
      record(4, "decision.settled", body),
      record(5, "capture.gap", body)
    )
    assert.deepStrictEqual(state.counts.get("agt_1"), { witnessed: 2, settled: 1, gaps: 1 })
    assert.deepStrictEqual(state.differences, [])
    assert.strictEqual(fold(record(1, "decision.witnessed", body)).differences[0]?.found, "decision.witnessed at seq 1")
  })

  it("reports a decision that names another status than its agent had", () => {
    const state = fold(
      registered({ profile }),
      record(2, "decision.witnessed", { agent_id: "agt_1", agent_status: "active" })
    )
    assert.deepStrictEqual(state.differences, [
      { collection: "records", id: "2", path: "/body/agent_status", expected: "draft", found: "active" }
    ])
  })

  it("reports a mediated decision by a writer that may not claim it", () => {
    const decision = (seq: number, writer: string, capture = "mediated") =>
      record(seq, "decision.witnessed", { agent_id: "agt_1", agent_status: "draft", capture, writer })
    const keyed = (more: object = {}) => {
      const { body, ...rest } = minted(json({ name: "n", org_unit: "ops" }))
      return { ...rest, body: { ...body, ...more } }
    }
    const found = (...records: ReadonlyArray<ReplayRecord>): ReadonlyArray<Difference> =>
      fold(registered({ profile }), ...records).differences
    assert.deepStrictEqual(found(keyed({ capture: "mediated" }), decision(9, "key_1")), [])
    assert.deepStrictEqual(found(keyed(), decision(9, "key_1", "framework_hook")), [])
    assert.deepStrictEqual(found(decision(9, "key_of_an_earlier_chain")), [])
    for (const differences of [found(keyed(), decision(9, "key_1")), found(decision(9, "system:host"))])
      assert.deepStrictEqual(differences, [
        {
          collection: "records",
          id: "9",
          path: "/body/capture",
          expected: "a claim that this writer may make",
          found: "mediated"
        }
      ])
  })

  it("reports an agent that is registered twice", () => {
    assert.lengthOf(fold(registered({ profile }), registered({ profile })).differences, 1)
  })

  it("ignores kinds that make no document", () => {
    assert.deepStrictEqual(
      fold(record(0, "chain.genesis", {}), record(1, "part.erased", {}), record(2, "something.new", {})).differences,
      []
    )
  })
})
