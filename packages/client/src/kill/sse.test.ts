import { assert, describe, it } from "vitest"
import { readEvents } from "./sse.ts"

const encoder = new TextEncoder()
const bodyOf = (chunks: ReadonlyArray<string>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk))
      controller.close()
    }
  })
const all = async (chunks: ReadonlyArray<string>) => {
  const events = []
  for await (const event of readEvents(bodyOf(chunks))) events.push(event)
  return events
}

describe("a stream of server-sent events", () => {
  it("is read the same however it is cut", async () => {
    const text = ': ping\n\nid: 7\nevent: status\ndata: {"a":1}\ndata:{"b":2}\n\n:x\n\ndata: last\r\n\r\n'
    const whole = await all([text])
    assert.deepStrictEqual(whole, [
      { id: "7", event: "status", data: '{"a":1}\n{"b":2}' },
      { id: "7", event: "message", data: "last" }
    ])
    for (let size = 1; size < 9; size++) {
      const chunks = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g"))!
      assert.deepStrictEqual(await all(chunks), whole, String(size))
    }
  })

  it("drops an event that was cut off, and fails on one that does not end", async () => {
    assert.deepStrictEqual(await all(["data: half"]), [])
    await all([`data: ${"x".repeat(70_000)}`]).then(
      () => assert.fail("it was read"),
      (cause) => assert.match(String(cause), /too long/)
    )
  })
})
