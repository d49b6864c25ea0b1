import { generateText, simulateReadableStream, streamText, wrapLanguageModel } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { afterEach, assert, describe, it } from "vitest"
import { governedAgent } from "../testing/governed-agent.ts"
import { governModel } from "./index.ts"

const endings: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 2, text: 2, reasoning: 0 }
}
const finishReason = { unified: "stop" as const, raw: "stop" }

/** A provider that hears of no signal; `before` runs in the middle of each call. */
const world = async (before: () => Promise<unknown> = async () => undefined) => {
  const governed = await governedAgent()
  endings.push(() => governed.client.close())
  const inner = new MockLanguageModelV4({
    modelId: "m-1",
    doGenerate: async () => {
      await before()
      return { content: [{ type: "text", text: "done" }], finishReason, usage, warnings: [] }
    },
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: "text-start" as const, id: "t" },
          { type: "text-delta" as const, id: "t", delta: "do" },
          { type: "text-delta" as const, id: "t", delta: "ne" },
          { type: "text-end" as const, id: "t" },
          { type: "finish" as const, finishReason, usage }
        ]
      })
    })
  })
  const model = wrapLanguageModel({
    model: inner,
    middleware: governModel(governed.agent as never, { runId: "run-1" })
  })
  return { ...governed, inner, model }
}

const never = (): Promise<never> => new Promise(() => undefined)

describe("a governed model", () => {
  it("is witnessed with its tokens and its latency, without prompt and answer", async () => {
    const { model, witnessed } = await world()
    assert.strictEqual((await generateText({ model, prompt: "my secret" })).text, "done")
    const decisions = await witnessed()
    assert.lengthOf(decisions, 1)
    assert.deepInclude(decisions[0], {
      kind: "model_call",
      model: "m-1",
      status: "ok",
      run_id: "run-1",
      capture: "framework_hook",
      usage: { input_tokens: 10, output_tokens: 2 }
    })
    assert.isNumber(decisions[0].latency_ms)
    assert.notMatch(JSON.stringify(decisions), /secret|done/)
  })

  it("is witnessed once when it streams", async () => {
    const { model, witnessed } = await world()
    assert.strictEqual(await streamText({ model, prompt: "go" }).text, "done")
    const decisions = await witnessed()
    assert.lengthOf(decisions, 1)
    assert.deepInclude(decisions[0], { status: "ok", usage: { input_tokens: 10, output_tokens: 2 } })
  })

  it("is not called while the agent is halted, and that is witnessed", async () => {
    const { halt, inner, model, witnessed } = await world()
    await halt()
    const failure = await generateText({ model, prompt: "go", maxRetries: 0 }).then(String, String)
    assert.match(failure, /halt by @killed/)
    assert.lengthOf(inner.doGenerateCalls, 0)
    assert.deepInclude((await witnessed())[0], { status: "denied", decided_by: "fail_closed" })
  })

  it("is ended by a halt although the provider hears of no signal", async () => {
    let halting = async (): Promise<unknown> => undefined
    const { halt, model, witnessed } = await world(async () => {
      await halting()
      await never()
    })
    halting = halt
    const failure = await generateText({ model, prompt: "go", maxRetries: 0 }).then(String, String)
    assert.match(failure, /halted at epoch/)
    assert.deepInclude((await witnessed())[0], { status: "error" })
  })

  it("stops streaming at a halt", async () => {
    const { halt, model, witnessed } = await world()
    const errors: Array<unknown> = []
    let text = ""
    const { textStream } = streamText({ model, prompt: "go", onError: () => undefined })
    try {
      for await (const piece of textStream) {
        text += piece
        await halt()
      }
    } catch (cause) {
      errors.push(cause)
    }
    assert.strictEqual(text, "do")
    assert.match(String(errors[0]), /halted at epoch/)
    assert.deepInclude((await witnessed())[0], { status: "error" })
  })

  it("lets the provider's own failure through, and witnesses it", async () => {
    const { model, witnessed } = await world(async () => {
      throw new Error("overloaded")
    })
    assert.match(await generateText({ model, prompt: "go", maxRetries: 0 }).then(String, String), /overloaded/)
    assert.deepInclude((await witnessed())[0], { status: "error" })
  })
})
