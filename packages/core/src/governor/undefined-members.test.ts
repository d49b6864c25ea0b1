/**
 * A host with `exactOptionalPropertyTypes`, which this repository has too, hands on what its settings and requests
 * hold: undefined where there is nothing.
 *
 * The compiler proves that it may be passed (`npm run check`); running it proves that it means "left out".
 */
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { type Governor, openGovernor } from "./governor.ts"
import { memoryStorage } from "../storage/memory/memory.ts"

/** Returns undefined, typed as an optional value. Not a literal, so that the compiler does not narrow it. */
const missing = <A>(): A | undefined => undefined
const text = missing<string>()
const number = missing<number>()
const texts = missing<ReadonlyArray<string>>()

let governor: Governor
beforeEach(async () => {
  governor = await openGovernor({
    storage: memoryStorage({ crypto: undefined }),
    keys: undefined,
    origin: text,
    tenantId: text,
    trustStore: undefined,
    webhooks: undefined,
    writer: text,
    log: undefined
  })
})
afterEach(() => governor.close())

describe("members that are undefined", () => {
  it("are left out, in what is handed in, in filters and in options", async () => {
    const options = { signal: missing<AbortSignal>(), writer: text }
    const { agent } = await governor.agents.register(
      {
        name: "bot",
        org_unit: "ops",
        description: text,
        model_ids: texts,
        autonomy_tier: undefined,
        labels: undefined
      },
      options
    )
    assert.strictEqual(
      (await governor.agents.update(agent.id, { purpose: "refunds", framework: text, if_version: number })).purpose,
      "refunds"
    )
    assert.lengthOf(await governor.agents.list({ status: undefined, name: text, limit: number, after: text }), 1)
    assert.strictEqual(
      (
        await governor.agents.attachIdentity(agent.id, {
          signed_card: undefined,
          declared_source: "spiffe",
          declared_ref: "spiffe://a/b"
        })
      ).verdict,
      "declared"
    )
    assert.strictEqual((await governor.agents.suspend(agent.id, { reason: text })).status, "suspended")

    const decision = {
      client_ref: "c1",
      action: "search",
      run_id: text,
      step: number,
      usage: { input_tokens: 3, output_tokens: number },
      args: undefined
    }
    const {
      receipts: [receipt]
    } = await governor.witness(agent.id, decision, options)
    assert.isTrue((await governor.witness(agent.id, [decision])).receipts[0]!.duplicate)
    await governor.settle(receipt!.decision_id, {
      status: "ok",
      latency_ms: number,
      usage: { cost_micro_usd: number },
      actual: undefined
    })
    assert.deepInclude(
      (await governor.decisions(agent.id, { limit: number, before: number, run_id: text, action: text }))[0]!.usage,
      { input_tokens: 3, output_tokens: null }
    )
    assert.isAbove(
      (await governor.chain.records({ from: number, limit: number, kind: text, agent_id: text })).length,
      3
    )
    assert.isTrue((await governor.chain.verify({ from: number, to: number })).ok)
    let bytes = 0
    for await (const piece of governor.exportPack(
      { kind: "full", from: number, agent_id: text, kinds: texts, disclose: undefined },
      options
    ))
      bytes += piece.length
    assert.isAbove(bytes, 0)
  })

  it("are left out of envelopes, models, provenance and the access mapping", async () => {
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "ops" })
    assert.lengthOf(await governor.envelopes.list({ agent_id: text, limit: number, after: text }), 0)
    assert.strictEqual(
      (
        await governor.evaluate({
          agent_id: agent.id,
          client_ref: "e1",
          signals: {},
          action: text,
          run_id: text,
          approval_id: text
        })
      ).outcome,
      "deny"
    )
    assert.strictEqual(
      (
        await governor.models.create({
          provider: "acme",
          name: "large",
          version: text,
          status: undefined,
          price: { input_micro_usd_per_mtok: number }
        })
      ).status,
      "allowed"
    )
    assert.isNull(
      (await governor.provenance.add(agent.id, { kind: "code", name: "main", digest: text, slsa_level: number }))
        .slsa_level
    )
    assert.strictEqual(
      (
        await governor.accessMapping.set({
          rules: [{ id: text, match: { claim: "roles", value: "root" }, role: "admin", org_unit: "*" }],
          trust_canonical: undefined,
          if_version: number
        })
      ).rules[0]!.id,
      "r1"
    )
    assert.deepStrictEqual(
      (await governor.accessMapping.resolve({ roles: texts, groups: texts, user_ids: texts })).roles,
      []
    )
    assert.deepStrictEqual(
      (await governor.accessMapping.resolveDraft({ rules: undefined, roles: ["admin"], trust_canonical: undefined }))
        .roles,
      []
    )
  })
})
