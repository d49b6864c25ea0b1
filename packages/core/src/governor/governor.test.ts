import { verifyPack } from "@flyball/evidence"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { ephemeralKeys } from "../chain/keys/ephemeral-keys.ts"
import { type Governor, type GovernorOptions, openGovernor } from "./governor.ts"
import { GovernorError } from "../foundation/governor-error.ts"
import type { DecisionInput } from "@flyball/contract"
import { layerOf, storageChoice } from "../storage/choice.ts"
import { memoryStorage } from "../storage/memory/memory.ts"
import { Storage, type StorageApi } from "../storage/port.ts"

const opened = (more: Partial<GovernorOptions> = {}): Promise<Governor> =>
  openGovernor({ storage: memoryStorage(), ...more })

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise
  } catch (error) {
    assert.instanceOf(error, GovernorError)
    return error.code
  }
  return "resolved"
}

const agentOf = async (governor: Governor, name = "a"): Promise<string> =>
  (await governor.agents.register({ name, org_unit: "ops" })).agent.id
const collected = async (chunks: AsyncIterable<Uint8Array>): Promise<ReadonlyArray<Uint8Array>> => {
  const all: Array<Uint8Array> = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

describe("opening a governor", () => {
  it("starts a chain with the requested name", async () => {
    await using governor = await opened({ origin: "flyball.example/governor", tenantId: "acme" })
    assert.strictEqual(governor.chain.origin, "flyball.example/governor")
    assert.include(governor.chain.vkey, "flyball.example/governor+")
    assert.strictEqual((await governor.agents.register({ name: "a", org_unit: "ops" })).agent.tenant_id, "acme")
    assert.strictEqual((await governor.chain.keys())[0]?.vkey, governor.chain.vkey)
  })

  it("refuses invalid options before anything is opened", async () => {
    assert.strictEqual(await codeOf(opened({ writer: "Ada" })), "invalid_writer")
    assert.strictEqual(await codeOf(opened({ origin: "two words" })), "origin_invalid")
    assert.strictEqual(
      await codeOf(openGovernor({ storage: { backend: "sqlite", layer: null, retirement: null } })),
      "keys_needed"
    )
    const untyped = openGovernor as (options?: unknown) => Promise<Governor>
    for (const options of [undefined, null, {}, { storage: null }, { storage: "decisions.db" }])
      assert.strictEqual(await codeOf(untyped(options)), "storage_needed")
  })

  it("records the writer of its options", async () => {
    await using governor = await opened({ writer: "system:import", keys: ephemeralKeys() })
    await governor.witness(await agentOf(governor), { client_ref: "r", action: "x" })
    assert.strictEqual((await governor.decisions(await agentOf(governor)))[0]?.writer, "system:import")
  })
})

describe("a governor", () => {
  it("registers, witnesses, settles, lists, erases, proves and checks", async () => {
    await using governor = await opened()
    const id = await agentOf(governor)
    assert.strictEqual((await governor.agents.find("a"))?.id, id)
    assert.isNull(await governor.agents.find("b"))
    assert.strictEqual((await governor.agents.get(id)).name, "a")
    assert.lengthOf(await governor.agents.list({ limit: 1, q: "a" }), 1)
    const { head, receipts } = await governor.witness(id, [
      { client_ref: "r1", action: "x", args: { a: 1, b: undefined } },
      { client_ref: "r2", action: "y", run_id: undefined } as unknown as DecisionInput
    ])
    assert.strictEqual(head.seq, receipts[1]?.seq)
    await governor.settle(receipts[0]!.decision_id, { status: "ok" })
    await governor.captureGap(id, {
      from: "2026-11-21T01:00:00+01:00",
      to: "2026-11-21T00:00:01Z",
      count: 2,
      reason: "crash"
    })
    const [second, first] = await governor.decisions(id, { limit: 2 })
    assert.deepStrictEqual(
      [second?.client_ref, first?.settled?.status, first?.kind, first?.status],
      ["r2", "ok", "other", "unknown"]
    )
    const shown = await governor.decision(first!.id)
    assert.deepStrictEqual(shown, {
      ...first!,
      args: { a: 1 },
      result: null,
      labels: null,
      withheld: false,
      erased: []
    })
    const erased = await governor.erase({ seq: receipts[0]!.seq, name: "args", reason: "retention" })
    assert.deepInclude(await governor.decision(first!.id), { args: null, withheld: false, erased: ["args"] })
    assert.deepInclude(await governor.chain.head(), { seq: erased.seq, record_hash: erased.record_hash })
    assert.isTrue((await governor.chain.verify()).ok)
    assert.isTrue((await governor.chain.verify({ from: 2, to: 3 })).ok)
    assert.deepStrictEqual((await governor.check()).agents, [{ agent_id: id, witnessed: 2, settled: 1, gaps: 1 }])
    const signed = await governor.checkpointNow()
    assert.strictEqual(signed.size, erased.seq + 1)
    assert.strictEqual(await governor.chain.checkpoint(), signed.note)
    assert.strictEqual((await governor.chain.proof(2)).tree_size, signed.size)
    assert.strictEqual((await governor.chain.proof(2, { tree_size: 4 })).tree_size, 4)
    assert.strictEqual((await governor.chain.consistency({ from: 2 })).to, signed.size)
    assert.deepStrictEqual(
      (await governor.chain.records({ kind: "decision.witnessed", agent_id: id })).map(({ seq }) => seq),
      [2, 3]
    )
  })

  it("moves an agent through its statuses, and explains refused acts", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agents } = governor
    const { agent } = await agents.register({ name: "courier", org_unit: "ops" })
    assert.deepStrictEqual(
      (await agents.orphans()).map(({ id }) => id),
      [agent.id]
    )
    const gate = await agents.activate(agent.id).catch((error: unknown) => error)
    assert.deepInclude(gate, { code: "tier_gate_unmet" })
    await agents.transferOwnership(agent.id, { owner_name: "Ada", owner_email: "ada@example.org" })
    await agents.update(agent.id, { purpose: "carries", if_version: 2 })
    assert.strictEqual((await agents.activate(agent.id)).status, "active")
    assert.strictEqual((await agents.suspend(agent.id)).suspended_reason, "manual")
    assert.strictEqual(
      (await agents.recertify(agent.id, { recert_due_at: "2099-01-01T00:00:00+01:00" })).recert_due_at,
      "2098-12-31T23:00:00.000Z"
    )
    assert.isNotNull((await agents.disown(agent.id, { reason: "left" })).orphaned_since)
    assert.isNotNull((await agents.decommission(agent.id)).decommissioned_at)
    assert.deepInclude(await agents.update(agent.id, {}).catch((error: unknown) => error), {
      code: "invalid_transition"
    })
    assert.isTrue((await governor.check()).ok)
  })

  it("returns copies of its bytes", async () => {
    await using governor = await opened()
    ;(await governor.chain.record(0)).bytes.fill(0)
    assert.isTrue((await governor.chain.verify()).ok)
  })

  it("exports a pack that a verifier accepts, and records that it did", async () => {
    await using governor = await opened()
    await governor.witness(await agentOf(governor), { client_ref: "r", action: "x", args: 1 })
    const { portableCrypto } = await import("@flyball/evidence")
    const report = await verifyPack(
      portableCrypto,
      await collected(governor.exportPack({ kind: "full", disclose: "all" })),
      { vkeys: [governor.chain.vkey] }
    )
    assert.deepInclude(report.verdicts, { integrity: "ok", authenticity: "signed_by_pinned_key", completeness: "full" })
    assert.lengthOf(await governor.chain.records({ kind: "evidence.exported" }), 1)
  })

  it("reports every refusal by its wire code, with its members", async () => {
    await using governor = await opened()
    const id = await agentOf(governor)
    await governor.witness(id, { client_ref: "r", action: "x" })
    const rows: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
      ["invalid_input", () => governor.agents.register({ name: "", org_unit: "ops" })],
      ["invalid_input", () => governor.agents.register({ name: "b" } as never)],
      ["invalid_input", () => governor.agents.list({ limit: 0 })],
      ["agent_not_found", () => governor.agents.get("agt_1")],
      ["agent_not_found", () => governor.witness("agt_1", { client_ref: "r", action: "x" })],
      ["invalid_input", () => governor.witness(id, [])],
      ["invalid_input", () => governor.witness(id, { client_ref: "r", action: "x", surprise: 1 } as never)],
      ["invalid_input", () => governor.witness(id, { client_ref: "r2", action: "x", args: { at: new Date(0) } })],
      ["invalid_input", () => governor.witness(id, { client_ref: "r2", action: "x", args: Number.NaN })],
      [
        "decision_too_large",
        () => governor.witness(id, { client_ref: "r2", action: "x", args: "x".repeat(1_048_576) })
      ],
      ["client_ref_reused", () => governor.witness(id, { client_ref: "r", action: "y" })],
      ["decision_not_found", () => governor.settle("dec_1", { status: "ok" })],
      ["invalid_input", () => governor.settle("dec_1", { status: "intended" } as never)],
      [
        "invalid_input",
        () =>
          governor.captureGap(id, {
            from: "2026-11-21T00:00:01Z",
            to: "2026-11-21T00:00:00Z",
            count: 1,
            reason: "clock"
          })
      ],
      ["invalid_input", () => governor.decisions(id, { before: -1 })],
      ["record_not_found", () => governor.chain.record(99)],
      ["invalid_input", () => governor.chain.record(-1)],
      ["invalid_input", () => governor.chain.record(1.5)],
      ["invalid_input", () => governor.chain.proof(0, { tree_size: 99 })],
      ["invalid_input", () => governor.chain.consistency({ from: 9, to: 3 })],
      ["invalid_input", () => governor.chain.records({ kind: "Not A Kind" })],
      ["part_not_found", () => governor.erase({ seq: 2, name: "args", reason: "retention" })],
      ["record_not_found", () => governor.erase({ seq: 99, name: "args", reason: "retention" })],
      ["invalid_input", () => collected(governor.exportPack({ kind: "full", from: 1 }))]
    ]
    for (const [code, call] of rows) assert.strictEqual(await codeOf(call()), code, String(call))
    try {
      await governor.witness(id, [
        { client_ref: "new", action: "x" },
        { client_ref: "r", action: "y" }
      ])
    } catch (error) {
      assert.deepStrictEqual((error as GovernorError).detail, { indexes: [1] })
    }
    assert.strictEqual((await governor.chain.head()).seq, 2)
  })

  it("refuses an id that is not a text, as untyped hosts may pass one", async () => {
    await using governor = await opened()
    const id = await agentOf(governor)
    const registered = { agent: { id } } as unknown as string
    const missing = undefined as unknown as string
    const calls: ReadonlyArray<() => Promise<unknown>> = [
      () => governor.agents.get(registered),
      () => governor.agents.find(missing),
      () => governor.agents.suspend(missing),
      () => governor.envelopes.publish(missing),
      () => governor.waivers.grant({ envelope_id: "env_1", waiver_id: missing }),
      () => governor.evaluation(missing),
      () => governor.webhooks.redeliver({ webhook_id: "whk_1", delivery_id: missing }),
      () => governor.witness(registered, []),
      () => governor.decisions(missing),
      () => governor.decision(missing),
      () => governor.settle(5 as unknown as string, { status: "ok" }),
      () => (governor.agents.get as () => Promise<unknown>)()
    ]
    for (const call of calls) assert.strictEqual(await codeOf(call()), "invalid_input", call.toString())
    assert.strictEqual((await governor.agents.get(id)).id, id)
    assert.strictEqual((await governor.agents.list()).length, 1)
  })

  it("ends a call by its signal, before and while it runs", async () => {
    await using governor = await opened()
    const id = await agentOf(governor)
    assert.strictEqual(
      await codeOf(governor.witness(id, { client_ref: "r", action: "x" }, { signal: AbortSignal.abort() })),
      "aborted"
    )
    assert.strictEqual((await governor.chain.head()).seq, 1)
    assert.strictEqual(
      await codeOf(collected(governor.exportPack({ kind: "full" }, { signal: AbortSignal.abort() }))),
      "aborted"
    )
  })

  it("waits for a commit that is not durable yet before it closes", async () => {
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const slow = Layer.effect(
      Storage,
      Effect.gen(function* () {
        const storage = yield* Storage
        const commit: StorageApi["commit"] = (change) =>
          (change.records ?? []).some(({ kind }) => kind === "decision.witnessed")
            ? Effect.andThen(
                Effect.promise(() => gate),
                storage.commit(change)
              )
            : storage.commit(change)
        return Storage.of({ ...storage, commit })
      })
    ).pipe(Layer.provide(layerOf(memoryStorage())))
    const governor = await opened({ storage: storageChoice("memory", slow) })
    const witnessed = governor.witness(await agentOf(governor), { client_ref: "r", action: "x" })
    const closing = governor.close()
    open()
    assert.strictEqual((await witnessed).receipts[0]?.seq, 2)
    await closing
  })

  it("finishes what is under way when it is closed, then takes no more", async () => {
    const governor = await opened()
    const id = await agentOf(governor)
    const underWay = Array.from({ length: 20 }, (_, index) =>
      governor.witness(id, { client_ref: `r${index}`, action: "x" })
    )
    const closing = governor.close()
    assert.strictEqual(await codeOf(governor.chain.head()), "closed")
    for (const answer of await Promise.all(underWay)) assert.isFalse(answer.receipts[0]!.duplicate)
    await closing
    await governor.close()
    assert.strictEqual(await codeOf(collected(governor.exportPack({ kind: "full" }))), "closed")
  })
})
