import type { AgentStream } from "@flyball/core"
import { fromUtf8, utf8 } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { chat } from "./chat.ts"
import { passStream } from "./pass-stream.ts"

const events = [
  { choices: [{ index: 0, delta: { content: "Hello" } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }
]
const answer = `${events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}data: [DONE]\n\n`

describe("a stream that comes in one piece", () => {
  it("gives its text at once, and its last event once it is settled", async () => {
    const settlement = Promise.withResolvers<void>()
    const upstream: AgentStream = {
      statusCode: 200,
      errorCode: null,
      headers: {},
      body: (async function* () {
        yield utf8(answer)
      })(),
      abort: () => {}
    }
    const chunks = passStream({
      codec: chat,
      isOwnUsage: false,
      upstream,
      halts: { halt: () => null, onHalt: () => {}, close: () => {} },
      signal: new AbortController().signal,
      judge: () => Promise.reject(new Error("nothing is to be judged")),
      settle: () => settlement.promise
    })[Symbol.asyncIterator]()
    const first = fromUtf8((await chunks.next()).value as Uint8Array)!
    assert.include(first, "Hello")
    assert.notInclude(first, "[DONE]")
    const last = chunks.next()
    settlement.resolve()
    assert.strictEqual(fromUtf8((await last).value as Uint8Array), "data: [DONE]\n\n")
    assert.isTrue((await chunks.next()).done)
  })
})
