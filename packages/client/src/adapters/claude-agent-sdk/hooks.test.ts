import { afterEach, assert, describe, it } from "vitest"
import { governedAgent, until } from "../testing/governed-agent.ts"
import { type ClaudeOptions, governClaude, type HookedEvent } from "./index.ts"

let close: () => Promise<unknown> = () => Promise.resolve()
afterEach(() => close())

/** An agent whose hooks a test calls as the SDK does. */
const world = async (options: ClaudeOptions = {}) => {
  const governed = await governedAgent({ redact: ["token"] })
  close = () => governed.client.close()
  const governance = governClaude(governed.agent, options)
  const hook = async (event: HookedEvent, input: object = {}, signal = new AbortController().signal) => {
    const [matcher] = governance.hooks[event]
    const common = { hook_event_name: event, session_id: "ses_1", transcript_path: "", cwd: "" }
    return matcher!.hooks[0]!({ ...common, ...input }, undefined, { signal })
  }
  const use = (id: string, args: object = {}, tool = "refund") => ({
    tool_name: tool,
    tool_input: args,
    tool_use_id: id
  })
  const begin = async (id: string, args: object = {}, signal?: AbortSignal) => {
    const output = await hook("PreToolUse", use(id, args), signal)
    return output.hookSpecificOutput?.permissionDecision ?? "no objection"
  }
  return { ...governed, governance, hook, use, begin }
}

describe("the hooks", () => {
  it("restrict and do not permit: the SDK's own rules still decide", async () => {
    const { hook, use } = await world()
    assert.deepStrictEqual(await hook("PreToolUse", use("a", { amount: 5 })), {
      hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { amount: 5 } }
    })
    assert.deepStrictEqual(await hook("PreToolUse", { ...use("b"), tool_input: "text" }), {})
  })

  it("record a call that ran with other arguments than were judged as it ran, and stop the run", async () => {
    const { begin, hook, use, witnessed } = await world()
    await begin("a", { amount: 5 })
    const output = await hook("PostToolUse", { ...use("a", { amount: 900 }), tool_response: "refunded" })
    assert.strictEqual(output.continue, false)
    assert.match(output.stopReason!, /^refund: the tool ran with other arguments/)
    assert.sameDeepMembers(
      (await witnessed()).map(({ args, labels, mode, status }) => ({ args, labels, mode, status })),
      [
        { args: { amount: 5 }, labels: undefined, mode: "enforced", status: "error" },
        { args: { amount: 900 }, labels: { ungoverned: true }, mode: "observed", status: "ok" }
      ]
    )
  })

  it("know two calls of one id apart: the first did not end, the second did", async () => {
    const { begin, hook, use, witnessed } = await world()
    await begin("a", { amount: 5 })
    await begin("a", { amount: 6 })
    await witnessed()
    assert.deepStrictEqual(await hook("PostToolUse", { ...use("a", { amount: 6 }), tool_response: "refunded" }), {})
    assert.deepStrictEqual(
      (await witnessed()).map(({ args, mode, status }) => `${args.amount} ${mode} ${status}`),
      ["5 enforced error", "6 enforced ok"]
    )
  })

  it("witness a call with its result, its failure, or that it did not run", async () => {
    const { begin, hook, use, witnessed } = await world()
    const args = (id: string) => ({ id, token: "hunter2" })
    for (const id of ["a", "b", "c", "d"]) await begin(id, args(id))
    await hook("PostToolUse", { ...use("a", args("a")), tool_response: { stdout: "fine" } })
    await hook("PostToolUseFailure", { ...use("b", args("b")), error: "exit 1" })
    await hook("PostToolBatch", { tool_calls: [{ tool_use_id: "c" }] })
    await hook("Stop")
    const decisions = await witnessed()
    assert.deepStrictEqual(
      decisions.map(({ args, result, status }) => [args.id, status, result]),
      [
        ["a", "ok", { stdout: "fine" }],
        ["b", "error", { error: "exit 1" }],
        ["c", "error", { not_run: "the SDK ended the call without running the tool" }],
        ["d", "error", { not_run: "the SDK ended the call without running the tool" }]
      ]
    )
    assert.notInclude(JSON.stringify(decisions), "hunter2")
  })

  it("witness a call that ran without a verdict as observed and ungoverned", async () => {
    const { hook, use, witnessed } = await world()
    await hook("PostToolUse", { ...use("a", { amount: 5 }), tool_response: "ok" })
    const [decision] = await witnessed()
    assert.deepInclude(decision, { mode: "observed", status: "ok", labels: { ungoverned: true }, args: { amount: 5 } })
    assert.notProperty(decision, "evaluation_id")
  })

  it("deny with the reason, and block where they fail or are late", async () => {
    const { governance, hook, script, use } = await world({ holdMs: 20_000 })
    script.verdict = () => "deny"
    assert.deepStrictEqual(await hook("PreToolUse", use("a")), {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: "The action refund did not run: deny by rule-deny."
      }
    })
    for (const [matcher] of Object.values(governance.hooks))
      assert.deepInclude(matcher, { onFailure: "block", timeout: 35 })
    // An input that has no JSON form cannot be judged.
    const circular: { self?: unknown } = {}
    circular.self = circular
    const output = await hook("PreToolUse", { ...use("b"), tool_input: circular })
    assert.strictEqual(output.hookSpecificOutput?.permissionDecision, "deny")
  })

  it("stop the run at a halt, and abort what runs", async () => {
    const { begin, governance, halt, hook, use, witnessed } = await world()
    await begin("a")
    await halt()
    assert.isTrue(governance.abortController.signal.aborted)
    const output = await hook("PreToolUse", use("b"))
    assert.isFalse(output.continue)
    assert.match(output.stopReason!, /halt by @killed/)
    assert.strictEqual(output.hookSpecificOutput?.permissionDecision, "deny")
    assert.deepStrictEqual(
      (await witnessed()).map(({ status }) => status),
      ["error", "denied"]
    )
  })

  it("defer a call that is pending, or deny it", async () => {
    const deferring = await world({ holdMs: 0 })
    deferring.script.verdict = () => "require_review"
    assert.strictEqual(await deferring.begin("a", { amount: 5 }), "defer")
    const denying = await world({ holdMs: 0, whenPending: "deny" })
    denying.script.verdict = () => "require_review"
    const { hookSpecificOutput } = await denying.hook("PreToolUse", denying.use("a"))
    assert.strictEqual(hookSpecificOutput?.permissionDecision, "deny")
    assert.match(hookSpecificOutput!.permissionDecisionReason!, /^pending rev_1: /)
  })

  it("let an approved call continue with the same input only", async () => {
    const { begin, resolve, script } = await world({ holdMs: 0 })
    script.verdict = () => "require_review"
    assert.strictEqual(await begin("a", { amount: 5 }), "defer")
    resolve("rev_1", "approve")
    assert.strictEqual(await begin("a", { amount: 6 }), "defer")
    assert.strictEqual(await begin("a", { amount: 5 }), "no objection")
  })

  it("keep a call of a sub-agent open when the main thread stops", async () => {
    const { hook, use, witnessed } = await world()
    await hook("PreToolUse", { ...use("sub"), agent_id: "sub_1" })
    await hook("Stop")
    await hook("PostToolUse", { ...use("sub"), tool_response: "late" })
    const decisions = await witnessed()
    assert.lengthOf(decisions, 1)
    assert.deepInclude(decisions[0], { status: "ok", result: "late" })
  })

  it("name a server's source, because its name is free text", async () => {
    const { hook, use, witnessed } = await world()
    const input = { ...use("a", {}, "mcp__shop__refund"), mcp_server: { name: "shop", source: "project" } }
    await hook("PreToolUse", input)
    await hook("PostToolUse", { ...input, tool_response: null })
    assert.deepInclude((await witnessed())[0], { action: "mcp__shop__refund", tool_server: "mcp:project:shop" })
  })

  it("never begin a call whose hook was cancelled", async () => {
    const { begin, script, waits } = await world()
    script.verdict = () => "require_review"
    const ending = new AbortController()
    const beginning = begin("a", {}, ending.signal)
    await until(() => waits() === 1)
    ending.abort()
    assert.strictEqual(await beginning, "defer")
  })

  it("accept a hold of at most 55 seconds", async () => {
    const { agent } = await world()
    assert.throws(() => governClaude(agent, { holdMs: 55_001 }), RangeError)
  })
})
