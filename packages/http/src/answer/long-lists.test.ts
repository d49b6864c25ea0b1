/** Lists of long items: their text is made a little at a time, as it is taken. */
import { EventEmitter } from "node:events"
import type { ServerResponse } from "node:http"
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { json } from "./answer.ts"
import { writeAnswer } from "./write-answer.ts"

/** A response that takes one piece at a time, and what was made before each. */
const slowResponse = (made: () => number) => {
  const taken: Array<{ readonly text: string; readonly made: number }> = []
  const heads: Array<unknown> = []
  const response = Object.assign(new EventEmitter(), {
    destroyed: false,
    writeHead: (status: number, headers: unknown) => void heads.push(status, headers),
    write: (text: string) => {
      taken.push({ text, made: made() })
      setImmediate(() => response.emit("drain"))
      return false
    },
    end: (text?: string) => void taken.push({ text: text ?? "", made: made() })
  })
  return { taken, heads, response: response as unknown as ServerResponse }
}

/** Items that count how many were made into text. */
const countedItems = (count: number, length: number) => {
  let made = 0
  const value = "x".repeat(length)
  return {
    made: () => made,
    items: Array.from({ length: count }, (_, id) => ({ toJSON: () => (made++, { id, value }) }))
  }
}

const writing = { requestId: "r", bodiless: false, stallMs: 1_000 }
const write = (count: number, length: number, options = writing) => {
  const { items, made } = countedItems(count, length)
  const { heads, response, taken } = slowResponse(made)
  return Effect.runPromise(writeAnswer(response, 200, json(items), options)).then(() => ({
    taken,
    heads,
    text: taken.map(({ text }) => text).join("")
  }))
}

describe("a list", () => {
  it("that is long is made while it is taken, and is whole", async () => {
    const { taken, text } = await write(100, 20_000)
    assert.deepStrictEqual(
      (JSON.parse(text) as Array<{ id: number }>).map(({ id }) => id),
      Array.from({ length: 100 }, (_, id) => id)
    )
    taken.forEach(({ made }, piece) => assert.isAtMost(made, (piece + 1) * 4))
  })

  it("that is short goes out in one piece that says its length", async () => {
    for (const count of [0, 1, 3]) {
      const { heads, taken, text } = await write(count, 100)
      assert.strictEqual(taken.length, 1)
      assert.strictEqual((JSON.parse(text) as Array<unknown>).length, count)
      assert.include(heads[1] as Array<string>, String(text.length))
    }
  })

  it("that ends with a piece, or has no text of its own, is JSON", async () => {
    for (const [count, length] of [
      [2, 70_000],
      [1, 70_000],
      [4, 32_768]
    ] as const)
      assert.strictEqual((JSON.parse((await write(count, length)).text) as Array<unknown>).length, count)
  })

  it("is not made for who asks for its head alone", async () => {
    assert.strictEqual((await write(100, 20_000, { ...writing, bodiless: true })).text, "")
  })
})

describe("an object with a list", () => {
  const around = { from: 'a"b', left_out: undefined, few: [1, 2] }
  const writeObject = (count: number, length: number) => {
    const { items, made } = countedItems(count, length)
    const { heads, response, taken } = slowResponse(made)
    const value = { ...around, agents: items, after: { count }, last: null }
    return Effect.runPromise(writeAnswer(response, 200, json(value), writing)).then(() => ({
      heads,
      taken,
      text: taken.map(({ text }) => text).join(""),
      plain: JSON.stringify(value)
    }))
  }

  it("that is long is made while it is taken, and is the object's own JSON", async () => {
    const { plain, taken, text } = await writeObject(100, 20_000)
    assert.strictEqual(text, plain)
    taken.forEach(({ made }, piece) => assert.isAtMost(made, (piece + 1) * 4))
  })

  it("that is short goes out in one piece that says its length", async () => {
    for (const count of [0, 3, 65, 100]) {
      const { heads, plain, taken, text } = await writeObject(count, 10)
      assert.strictEqual(taken.length, 1)
      assert.strictEqual(text, plain)
      assert.include(heads[1] as Array<string>, String(text.length))
    }
  })

  it("that is an object of nothing else is its own JSON", async () => {
    const { items, made } = countedItems(100, 10)
    const { response, taken } = slowResponse(made)
    await Effect.runPromise(writeAnswer(response, 200, json({ agents: items }), writing))
    assert.strictEqual(taken.map(({ text }) => text).join(""), JSON.stringify({ agents: items }))
  })
})
