import { assert, describe, it } from "vitest"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { openGovernor } from "../governor.ts"

describe("the kill switch of a governor", () => {
  it("stops an agent, tells who watches it, and knows which instances stopped", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "ops" })
    const stop = new AbortController()
    const watching = (async () => {
      for await (const status of governor.kill.watch("agent", agent.id)) if (status.halted) return stop.abort()
    })()
    const dry = await governor.kill.activate(
      { target_type: "agent", target_id: agent.id, reason: "To see." },
      { dryRun: true }
    )
    assert.isNull(dry.activation_event)
    const { activation_event: id } = await governor.kill.activate({
      target_type: "agent",
      target_id: agent.id,
      reason: "Pays twice."
    })
    // Whom it expects is read behind it.
    while ((await governor.kill.activation(id!)).expected === null) await new Promise(setImmediate)
    await watching
    assert.isTrue(stop.signal.aborted)
    assert.deepInclude(await governor.kill.ack({ activation_event: id!, instance_id: "pod-1", stopped: true }), {
      duplicate: false
    })
    assert.deepInclude(await governor.kill.activation(id!), { acknowledged: 1, stopped: 1 })
    const held = await governor.kill.certificate(id!)
    assert.deepInclude<object>(held.certificate, {
      activation_id: id,
      epoch: 1,
      silent: 0,
      released: null,
      // No instance was expected.
      bound: "unknown"
    })
    assert.strictEqual(held.from, held.certificate.activated.seq)
    assert.deepInclude(await governor.kill.status({ target_type: "agent", target_id: agent.id }), {
      halted: true,
      activation_event: id
    })
    assert.match(
      (await governor.kill.status({ target_type: "agent", target_id: agent.id, nonce: "n" })).signature!,
      /=$/
    )
    assert.isNull((await governor.kill.request({ agent_id: agent.id, reason: "Again." })).activation_event)
    await governor.kill.release({ activation_event: id!, reason: "Repaired." })
    const { certificate, to } = await governor.kill.certificate(id!)
    assert.strictEqual(certificate.released?.seq, to)
    assert.deepStrictEqual(
      (await governor.kill.events({ limit: 2 })).map(({ kind }) => kind),
      ["kill.released", "kill.requested"]
    )
  })

  it("refuses what is no status to watch, and a target that does not exist", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const first = async (type: string, id: string) => {
      for await (const _ of governor.kill.watch(type as "agent", id)) return "a state"
      return "nothing"
    }
    const codeOf = (promise: Promise<unknown>) =>
      promise.then(
        () => "none",
        ({ code }: { readonly code: string }) => code
      )
    assert.strictEqual(await codeOf(first("unit", "x")), "invalid_input")
    assert.strictEqual(await codeOf(first("agent", `agt_${"0".repeat(26)}`)), "agent_not_found")
  })
})

describe("the check of the kill switch's channel in a governor", () => {
  it("is made as often as the option says, and never with 0", async () => {
    await using often = await openGovernor({ storage: memoryStorage(), channelCheckS: 1 })
    await using never = await openGovernor({ storage: memoryStorage(), channelCheckS: 0 })
    for await (const { epoch } of often.kill.watch("agent", "flyball:channel")) if (epoch > 0) break
    assert.isNull((await never.safety.view()).channel)
    assert.strictEqual((await never.kill.status({ target_type: "agent", target_id: "flyball:channel" })).epoch, 0)
  })
})
