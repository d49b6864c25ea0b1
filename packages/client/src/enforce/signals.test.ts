import { assert, describe, it } from "vitest"
import { governedAgent } from "../adapters/testing/governed-agent.ts"
import { ActionDenied } from "./denied.ts"
import { redactMembers } from "../redact.ts"
import { signalsReader } from "./signals.ts"

const all = { cents: 5, note: "free text", tool: "another", list: [1], card: "4000", none: null }
const redact = redactMembers(["card"])

describe("the signals of an action", () => {
  it("are the tool's name and scalars that are not redacted, whatever an argument is called", () =>
    assert.deepStrictEqual(signalsReader(undefined, redact)("pay", all), {
      signals: { cents: 5, note: "free text", tool: "pay" },
      isStated: false
    }))

  it.each([
    [[], { tool: "pay" }],
    [["cents", "card"], { cents: 5, tool: "pay" }]
  ])("are those of a list: %j", (names, signals) =>
    assert.deepStrictEqual(signalsReader(names, redact)("pay", all), { signals, isStated: false })
  )

  it("are sent whole where nobody can know what the envelope declares, and a denial says so", async () => {
    const { agent, script, seen } = await governedAgent()
    script.verdict = () => "deny"
    script.rule = "@invalid_signal"
    const denied = await agent.guard("pay", all, () => "paid").catch((cause: unknown) => cause)
    assert.instanceOf(denied, ActionDenied)
    assert.match(denied.reason, /could not read which signals the envelope declares, so it sent every argument/)
    const { signals } = seen.find(({ path }) => path.endsWith("/bound/evaluations"))!.json
    assert.deepStrictEqual(signals, { cents: 5, note: "free text", card: "4000", tool: "pay" })
  })
})
