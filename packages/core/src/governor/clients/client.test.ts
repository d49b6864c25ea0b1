import { assert, describe, it } from "vitest"
import { openGovernor } from "../governor.ts"
import { memoryStorage } from "../../storage/memory/memory.ts"
import { countingTurns } from "../../testing/counting-turns.ts"

const CALLS = 500

const codeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "done",
    (error) => error.code ?? String(error)
  )

describe("calls of the plain client", () => {
  it("begins hundreds of calls over many turns of the event loop, in their order", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    await countingTurns(async (turn) => {
      const answeredIn = new Set<number>()
      const receipts = await Promise.all(
        Array.from({ length: CALLS }, async (_, index) => {
          const { receipts } = await governor.witness(agent.id, [
            { client_ref: `call-${index}`, kind: "tool_call", action: "search", status: "ok" }
          ])
          answeredIn.add(turn())
          return receipts[0]!
        })
      )
      assert.isAbove(answeredIn.size, 5)
      const seqs = receipts.map(({ seq }) => seq)
      assert.deepStrictEqual(
        seqs,
        seqs.toSorted((a, b) => a - b)
      )
    })
  })

  it("does not start calls that were aborted before their turn, and closes after the earlier calls", async () => {
    const governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    const controller = new AbortController()
    const calls = Array.from({ length: CALLS }, (_, index) =>
      governor.witness(
        agent.id,
        [{ client_ref: `call-${index}`, kind: "tool_call", action: "search", status: "ok" }],
        index === CALLS - 2 ? { signal: controller.signal } : {}
      )
    )
    controller.abort()
    const [ended] = await Promise.all([Promise.allSettled(calls), governor.close()])
    assert.deepStrictEqual(
      ended.flatMap(({ status }, index) => (status === "rejected" ? [index] : [])),
      [CALLS - 2]
    )
    assert.strictEqual((ended[CALLS - 2] as PromiseRejectedResult).reason.code, "aborted")
  })

  it("accepts numbers, and refuses other values with a sentence", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    await governor.witness(
      agent.id,
      Array.from({ length: 8 }, (_, at) => ({ client_ref: `r${at}`, action: "search" }))
    )
    const chain = governor.chain as unknown as {
      readonly [call in "proof" | "consistency" | "record"]: (...args: ReadonlyArray<unknown>) => Promise<unknown>
    }
    for (const call of [
      () => chain.proof("3"),
      () => chain.proof(3, "9"),
      () => chain.consistency("5"),
      () => chain.consistency(5, "9"),
      () => chain.consistency(),
      () => chain.record("1"),
      () => governor.envelopes.version({ envelope_id: "env_x", version: 1.5 })
    ]) {
      assert.strictEqual(await codeOf(call()), "invalid_input", call.toString())
    }
    assert.strictEqual((await governor.chain.consistency({ from: 5, to: 9 })).to, 9)
  })

  it("refuses input that cannot be read, without reading it to its end", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    const order: { lines: Array<unknown> } = { lines: [] }
    for (const n of [1, 2]) order.lines.push({ n, order })
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const throwing = {
      client_ref: "a",
      action: "x",
      get args(): never {
        throw new Error("not now")
      }
    }
    for (const invalid of [{ client_ref: "a", action: "x", args: { order } }, throwing, revoked.proxy]) {
      for (const input of [invalid, [invalid]])
        assert.strictEqual(await codeOf(governor.witness(agent.id, input as never)), "invalid_input")
    }
    assert.strictEqual(
      await codeOf(governor.agents.register({ name: "other", org_unit: "support", labels: { order } })),
      "invalid_input"
    )
  })

  it("accepts null as no options, and refuses it as a filter", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    const untyped = governor.agents as unknown as {
      readonly get: (id: string, options: null) => Promise<{ id: string }>
      readonly list: (filter: null) => Promise<unknown>
    }
    assert.strictEqual((await untyped.get(agent.id, null)).id, agent.id)
    assert.strictEqual(await codeOf(untyped.list(null)), "invalid_input")
  })

  it("gives out a pack each time it is iterated, and ends when its signal says so", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    await governor.witness(
      agent.id,
      Array.from({ length: 500 }, (_, at) => ({
        client_ref: `r${at}`,
        action: "search",
        args: { text: "x".repeat(1_000) }
      }))
    )
    const pack = governor.exportPack({ kind: "full", disclose: "all" })
    const size = async (): Promise<number> => (await Array.fromAsync(pack)).reduce((sum, { length }) => sum + length, 0)
    const first = await size()
    assert.isAbove(await size(), first)
    const controller = new AbortController()
    const cut = async (): Promise<void> => {
      for await (const _ of governor.exportPack({ kind: "full", disclose: "all" }, { signal: controller.signal }))
        controller.abort()
    }
    assert.strictEqual(await codeOf(cut()), "aborted")
  })

  it("records the writer that a call names, and refuses an invalid one", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const ann = { writer: "system:ann" }
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" }, ann)
    await governor.agents.update(agent.id, { purpose: "p" }, { writer: "system:ben" })
    const writers = (await governor.chain.records({ from: 1 }))
      .filter(({ kind }) => kind.startsWith("agent."))
      .map(({ bytes }) => JSON.parse(new TextDecoder().decode(bytes)).body.writer)
    assert.deepStrictEqual(writers, ["system:ann", "system:ben"])
    for (const writer of [["system:ann"], "policy:x", "Ann"])
      assert.strictEqual(
        await codeOf(governor.agents.update(agent.id, { purpose: "q" }, { writer } as never)),
        "invalid_writer"
      )
  })
})
