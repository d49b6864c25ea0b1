import { assert, describe, it } from "vitest"
import { openGovernor } from "../governor.ts"
import { memoryStorage } from "../storage/memory.ts"
import { countingTurns } from "../testing/counting-turns.ts"

const CALLS = 500

describe("the way in", () => {
  it("begins hundreds of calls over many turns of the event loop, in their order", async () => {
    await using governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    await countingTurns(async (turn) => {
      const answeredIn = new Set<number>()
      const receipts = await Promise.all(Array.from({ length: CALLS }, async (_, index) => {
        const { receipts } = await governor.witness(agent.id, [{ client_ref: `call-${index}`, kind: "tool_call", action: "look", status: "ok" }])
        answeredIn.add(turn())
        return receipts[0]!
      }))
      assert.isAbove(answeredIn.size, 5)
      const seqs = receipts.map(({ seq }) => seq)
      assert.deepStrictEqual(seqs, seqs.toSorted((a, b) => a - b))
    })
  })

  it("does not begin what was given up before its turn came, and closes after what was called before", async () => {
    const governor = await openGovernor({ storage: memoryStorage() })
    const { agent } = await governor.agents.register({ name: "bot", org_unit: "support" })
    const controller = new AbortController()
    const calls = Array.from({ length: CALLS }, (_, index) =>
      governor.witness(agent.id, [{ client_ref: `call-${index}`, kind: "tool_call", action: "look", status: "ok" }], index === CALLS - 2 ? { signal: controller.signal } : {}))
    controller.abort()
    const [ended] = await Promise.all([Promise.allSettled(calls), governor.close()])
    assert.deepStrictEqual(ended.flatMap(({ status }, index) => (status === "rejected" ? [index] : [])), [CALLS - 2])
    assert.strictEqual((ended[CALLS - 2] as PromiseRejectedResult).reason.code, "aborted")
  })
})
