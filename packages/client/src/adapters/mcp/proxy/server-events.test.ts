import { assert, describe, it } from "vitest"
import { serverEvents } from "./server-events.ts"

const streamOf = (text: string, size: number): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream({
    start: (controller) => {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.subarray(at, at + size))
      controller.close()
    }
  })
}

describe("events of a server", () => {
  it("are the same wherever the pieces are cut, and keep their text", async () => {
    const text = 'id: 1\r\nevent: message\r\ndata: {"a":\r\ndata: "é"}\r\n\r\n: ping\n\ndata:x\n\ndata: cut off'
    for (let size = 1; size <= 90; size++) {
      const events: Array<{ data: string; text: string }> = []
      for await (const event of serverEvents(streamOf(text, size))) events.push(event)
      assert.deepStrictEqual(
        events.map(({ data }) => data),
        ['{"a":\n"é"}', "", "x"],
        `pieces of ${size}`
      )
      assert.strictEqual(events.map((one) => one.text).join("") + "data: cut off", text)
    }
  })

  it("lose one byte order mark before a message, as bodies and lines do", async () => {
    const events: Array<{ data: string; text: string }> = []
    for await (const event of serverEvents(
      streamOf('id: 1\ndata: \ufeff{"a":"\ufeff"}\n\ndata:\ufeff\ufeff{}\n\n', 90)
    ))
      events.push(event)
    assert.deepStrictEqual(
      events.map(({ data, text }) => [data, text]),
      [
        ['{"a":"\ufeff"}', 'id: 1\ndata: {"a":"\ufeff"}\n\n'],
        ["\ufeff{}", "data:\ufeff{}\n\n"]
      ]
    )
  })
})
