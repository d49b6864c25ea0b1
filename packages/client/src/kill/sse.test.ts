import { assert, describe, it } from "vitest"
import { manualClock } from "../testing/manual-clock.ts"
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
  for await (const event of readEvents(bodyOf(chunks), manualClock())) events.push(event)
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

  it("is read the same where a character, or the end of a line, is cut in the middle", async () => {
    for (const end of ["\n", "\r\n", "\r"]) {
      const bytes = encoder.encode(
        [": häl 😀", "", "data: größer 😀", "data: zwei", "", "data: ende", "", "", ""].join(end)
      )
      for (let at = 1; at < bytes.length; at++) {
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            for (const chunk of [bytes.slice(0, at), bytes.slice(at)]) controller.enqueue(chunk)
            controller.close()
          }
        })
        const data: Array<string> = []
        for await (const event of readEvents(body, manualClock())) data.push(event.data)
        assert.deepStrictEqual(data, ["größer 😀\nzwei", "ende"], `${JSON.stringify(end)} cut at ${at}`)
      }
    }
  })

  it("fails on an event of many lines, or of one line that ends, that is too long; comments may go on", async () => {
    for (const text of [`data: ${"x".repeat(70_000)}\n\n`, "data: 0123456789\n".repeat(7_000)])
      await all([text]).then(
        () => assert.fail("it was read"),
        (cause) => assert.match(String(cause), /too long/)
      )
    assert.lengthOf(
      await all([`: ${"x".repeat(70_000)}\n`, ": ping\n\n".repeat(20_000), "data: abcd\n\n".repeat(20_000)]),
      20_000
    )
  })

  it("drops an event that was cut off, and fails on one that does not end", async () => {
    assert.deepStrictEqual(await all(["data: half"]), [])
    await all([`data: ${"x".repeat(70_000)}`]).then(
      () => assert.fail("it was read"),
      (cause) => assert.match(String(cause), /too long/)
    )
  })
})
