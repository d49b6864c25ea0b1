import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
let agent: string
beforeAll(async () => {
  me = operator()
  assert.strictEqual((await me.flyball(["import", starterFile])).status, 0)
  agent = /agt_[0-9a-z]{26}/.exec(await agentsOf(me))![0]
})
afterAll(() => me.leave())

/** Every id of an agent is in an evidence pack of the chain. */
const agentsOf = async (at: Operator): Promise<string> => {
  assert.strictEqual(
    (await at.flyball(["export", "--kind", "full", "--checkpoint-now", "--out", at.path("all.evp")])).status,
    0
  )
  return (await import("node:fs")).readFileSync(at.path("all.evp"), "latin1")
}

describe("flyball halt, release and kill-status", () => {
  it("stop an agent, show it, and let it go, each on record", async () => {
    const halted = await me.flyball(["halt", agent, "--reason", "Pays twice."])
    assert.deepEqual(
      [halted.status, halted.err],
      [0, "flyball: halt is in force for 1 agent, with 0 instances seen in the last hour.\n"]
    )
    const activation = halted.out.trim()
    assert.match(activation, /^kil_[0-9a-z]{26}$/)
    const status = async () => JSON.parse((await me.flyball(["kill-status", agent])).out)
    assert.deepInclude(await status(), { halted: true, activation_event: activation, response: "halt", epoch: 1 })
    const released = await me.flyball(["release", activation, "--reason", "Repaired."])
    assert.deepEqual(released, { status: 0, out: `Nothing holds for ${agent} any more.\n`, err: "" })
    assert.deepInclude(await status(), { halted: false, activation_event: null, epoch: 2 })
    const again = await me.flyball(["release", activation, "--reason", "Repaired."])
    assert.strictEqual(again.status, 1)
    assert.include(again.err, "flyball release: The activation was released before.")
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it.each([
    [["halt"], "flyball halt: it needs AGENT."],
    [["halt", "agt_1"], "flyball halt: it needs --reason."],
    [["halt", "agt_1", "--reason", " "], "flyball halt: --reason is not valid: "],
    [["halt", "agt_1", "--reason", "x", "--response", "stop"], "flyball halt: --response is not valid: "],
    [["release", "kil_1", "--reason", "x"], "flyball release: ACTIVATION is not valid: "],
    [["kill-status"], "flyball kill-status: it needs AGENT."]
  ])("%j is a mistake in the call", async (args, says) => {
    const { err, out, status } = await me.flyball(args)
    assert.deepEqual([status, out], [2, ""])
    assert.include(err, says)
  })

  it("fail where there is no such agent, and record nothing", async () => {
    const { err, status } = await me.flyball(["halt", `agt_${"0".repeat(26)}`, "--reason", "x"])
    assert.deepEqual([status, err.startsWith("flyball halt: ")], [1, true])
  })
})
