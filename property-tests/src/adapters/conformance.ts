/**
 * The conformance suite of the adapters: the same cases for each, with the real framework, against a real server.
 *
 * An adapter's test file says how a framework runs one turn ({@link AdapterUnderTest}) and calls `describeAdapter`.
 * What is special to a framework is tested beside it, with the same world.
 */
import type { AgentClient } from "@flyball/client"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "vitest"
import { callOf, type Deeds, toolsOf } from "./deeds.ts"
import { type GovernedWorld, openGovernedWorld, SECRET } from "./governed-world.ts"
import { describeHolds } from "./hold-cases.ts"
import { openScriptedReviews } from "./scripted-reviews.ts"
import { openServerReviews } from "./server-reviews.ts"

/** A tool that the framework offers to its model. Its input is an object with the members of {@link TOOL_INPUT}. */
export interface TestTool {
  readonly name: string
  /** Does what the tool does. A throw is the tool's own failure. `signal`: what the adapter hands to the tool. */
  readonly run: (input: { readonly [name: string]: unknown }, signal: AbortSignal | undefined) => Promise<string>
}

/** JSON Schema of the input of every tool; all members may be left out. */
export const TOOL_INPUT = {
  type: "object",
  properties: { amount: { type: "integer" }, card_number: { type: "string" } },
  additionalProperties: false
} as const

/** A call that the mock model asks for. */
export interface TestCall {
  readonly tool: string
  readonly input: { readonly [name: string]: unknown }
}

/** Result of a turn. */
export interface Turn {
  /** Results as the model saw them, in the order of the calls. Empty where the run ended before that. */
  readonly answers: ReadonlyArray<string>
  /** Why the run ended early, as the framework's caller learns it; null: it did not. */
  readonly failure: string | null
  /** Pieces of text that arrived one by one, where the turn was streamed. */
  readonly pieces?: ReadonlyArray<string>
}

/** An agent of the framework with governed tools. */
export interface Session {
  /** The mock model asks for these calls in one batch, is shown their results, and says "done". */
  readonly turn: (calls: ReadonlyArray<TestCall>) => Promise<Turn>
  /** The same, streamed. Absent in a framework without streams. */
  readonly stream?: (calls: ReadonlyArray<TestCall>) => Promise<Turn>
  /**
   * The framework's own pause: the call is put off, serialised, and resumed with `changed` in place of its input.
   * Absent in a framework that has none.
   */
  readonly defer?: (call: TestCall, changed: TestCall["input"]) => Promise<Turn>
  readonly close?: () => Promise<void>
}

/** How the suite runs a framework. */
export interface AdapterUnderTest {
  readonly name: string
  /** The capture tier that its decisions claim; `framework_hook` where it is left out. */
  readonly capture?: "self_reported" | "framework_hook" | "mediated"
  /** The framework runs the calls of a batch one after the other, so that a call which waits holds up the next. */
  readonly isSerial?: boolean
  /** `holdMs` is handed to the adapter as it is. */
  readonly open: (options: {
    readonly agent: AgentClient
    readonly tools: ReadonlyArray<TestTool>
    readonly holdMs: number
  }) => Promise<Session>
}

/** Runs every case of the suite with an adapter. */
export const describeAdapter = (adapter: AdapterUnderTest): void => {
  let world: GovernedWorld
  const sessions: Array<Session> = []
  beforeAll(async () => void (world = await openGovernedWorld()))
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close?.()
    await world.rest()
  })
  afterAll(() => world.close())

  const opened = async (agent: AgentClient, holdMs: number, deeds: Deeds = { ran: [], instead: new Map() }) => {
    const session = await adapter.open({ agent, tools: toolsOf(deeds), holdMs })
    sessions.push(session)
    return { agent, deeds, session }
  }
  const started = async (holdMs = 5) => opened(await world.agent(), holdMs)

  describe(`${adapter.name}: a call`, () => {
    it("that is allowed runs once, and is recorded once with outcome, latency and evaluation", async () => {
      const { agent, deeds, session } = await started()
      const { answers, failure } = await session.turn([callOf("refund", { amount: 5 })])
      assert.isNull(failure)
      assert.lengthOf(answers, 1)
      assert.include(answers[0]!, "refund done 5")
      assert.deepStrictEqual(deeds.ran, ["refund 5"])
      const decisions = await world.toolCalls(agent)
      assert.lengthOf(decisions, 1)
      const { capture = "framework_hook" } = adapter
      assert.deepInclude(decisions[0], {
        action: "refund",
        status: "ok",
        decided_by: "server",
        mode: "enforced",
        capture
      })
      assert.match(decisions[0].evaluation_id, /^evl_/)
      assert.isAtLeast(decisions[0].latency_ms, 0)
    })

    it("that is denied does not run, its sibling runs, and the model receives the reason", async () => {
      const { agent, deeds, session } = await started()
      const { answers, failure } = await session.turn([callOf("refund", { amount: 900 }), callOf("lookup")])
      assert.deepStrictEqual(deeds.ran, ["lookup"])
      assert.isNull(failure)
      assert.match(answers[0]!, /did not run: deny by @default/)
      assert.include(answers[1]!, "lookup done")
      assert.sameMembers([...(await world.outcomes(agent))], ["refund denied", "lookup ok"])
    })

    it("whose tool fails is recorded as an error", async () => {
      const { agent, deeds, session } = await started()
      await session.turn([callOf("fail")])
      assert.deepStrictEqual(deeds.ran, ["fail"])
      assert.deepStrictEqual(await world.outcomes(agent), ["fail error"])
    })

    it("is denied while the service is unreachable, and recorded as denied when it is back", async () => {
      const { agent, deeds, session } = await started()
      world.cut()
      const turn = await session.turn([callOf("refund", { amount: 5 })])
      assert.match(turn.failure ?? turn.answers[0]!, /@fail_closed:unreachable/)
      assert.lengthOf(deeds.ran, 0)
      world.restore()
      assert.deepStrictEqual(await world.outcomes(agent), ["refund denied"])
    })

    it("is denied when the gate itself throws", async () => {
      const { agent, deeds, session } = await started()
      world.breakSignals()
      const turn = await session.turn([callOf("refund", { amount: 5 })])
      assert.match(turn.failure ?? turn.answers[0]!, /@fail_closed:guard/)
      assert.lengthOf(deeds.ran, 0)
      assert.deepStrictEqual(await world.outcomes(agent), ["refund denied"])
    })

    it("passes a secret argument to the tool, and sends nothing of it to the service", async () => {
      const { agent, deeds, session } = await started()
      let seen: unknown
      deeds.instead.set("refund", async (input) => {
        seen = input["card_number"]
        return "refunded"
      })
      await session.turn([
        callOf("refund", { amount: 5, card_number: SECRET }),
        callOf("refund", { amount: 900, card_number: SECRET })
      ])
      assert.strictEqual(seen, SECRET)
      assert.lengthOf(await world.toolCalls(agent), 2)
      assert.notInclude(world.sent(), SECRET)
      assert.include(world.sent(), "[redacted]")
    })
  })

  describe(`${adapter.name}: a halt`, () => {
    it("stops the siblings of a call in the same batch, and every later call", async () => {
      const { agent, deeds, session } = await started()
      world.beforeEvaluation(2, () => world.halt(agent))
      const batch = await session.turn([1, 2, 3, 4].map((amount) => callOf("refund", { amount })))
      assert.deepStrictEqual(deeds.ran, ["refund 1"])
      for (const shown of batch.answers.slice(1)) assert.match(shown, /halt by @killed/)
      const later = await session.turn([callOf("lookup")])
      assert.match(later.failure ?? later.answers[0]!, /halt by @killed/)
      assert.deepStrictEqual(deeds.ran, ["refund 1"])
    })

    it("aborts the signal of a running tool", async () => {
      const { agent, deeds, session } = await started()
      deeds.instead.set("lookup", async (_, signal) => {
        void world.halt(agent)
        await new Promise<void>((resolve) => {
          signal?.addEventListener("abort", () => resolve())
          if (signal?.aborted === true) resolve()
        })
        throw new Error("stopped by its signal")
      })
      await session.turn([callOf("lookup")])
      assert.deepStrictEqual(await world.outcomes(agent), ["lookup error"])
    })

    it("of a parent stops its sub-agent", async () => {
      const parent = await started()
      const child = await opened(await world.agent(parent.agent.id), 5)
      const seen: Array<string> = []
      parent.deeds.instead.set("delegate", async () => {
        const first = await child.session.turn([callOf("lookup")])
        await world.halt(parent.agent)
        await child.agent.kill.refresh()
        const second = await child.session.turn([callOf("refund", { amount: 5 })])
        seen.push(first.answers[0]!, second.failure ?? second.answers[0]!)
        return "delegated"
      })
      await parent.session.turn([callOf("delegate")])
      assert.deepStrictEqual(child.deeds.ran, ["lookup"])
      assert.lengthOf(seen, 2)
      assert.include(seen[0]!, "lookup done")
      assert.match(seen[1]!, /halt by @killed/)
    })
  })

  describe(`${adapter.name}: a pause by the framework`, () => {
    it("bypasses no check: a call resumed with other arguments is evaluated with those", async () => {
      const { deeds, session } = await started()
      if (session.defer === undefined) return assert.isUndefined(session.defer)
      const turn = await session.defer(callOf("refund", { amount: 5 }), { amount: 900 })
      assert.match(turn.failure ?? turn.answers.join(), /deny by @default|does not match|[Ii]nvalid/)
      assert.lengthOf(deeds.ran, 0)
      const same = await session.defer(callOf("refund", { amount: 5 }), { amount: 5 })
      assert.include(same.answers.join(), "refund done 5")
      assert.deepStrictEqual(deeds.ran, ["refund 5"])
    })
  })

  describe(`${adapter.name}: a stream`, () => {
    it("arrives in chunks, and its calls are governed and recorded as without streaming", async () => {
      const { agent, deeds, session } = await started()
      if (session.stream === undefined) return assert.isUndefined(session.stream)
      const { answers, pieces = [] } = await session.stream([callOf("refund", { amount: 900 }), callOf("lookup")])
      assert.isAbove(pieces.length, 1)
      assert.strictEqual(pieces.join(""), "done")
      assert.match(answers[0]!, /did not run: deny by @default/)
      assert.deepStrictEqual(deeds.ran, ["lookup"])
      assert.sameMembers([...(await world.outcomes(agent))], ["refund denied", "lookup ok"])
    })
  })

  describeHolds(adapter, "a scripted service", openScriptedReviews)
  describeHolds(adapter, "a real server", openServerReviews)
}
