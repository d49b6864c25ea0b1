import { assert, describe, it } from "vitest"
import { CommitLines } from "./commit-lines.ts"
import type { CommitTurn } from "./port.ts"

const item = (name: string, records = 1) => ({ name, weight: { records, bytes: records } })
const lines = () => new CommitLines<ReturnType<typeof item>>({ records: 500, bytes: 100_000 })
const turn = (of: CommitTurn["class"], key = ""): CommitTurn => ({ class: of, key })
const names = (batch: ReadonlyArray<{ readonly name: string }>): ReadonlyArray<string> => batch.map(({ name }) => name)

describe("CommitLines", () => {
  it("serves acts, then verdicts, then capture, and what names no turn as an act", () => {
    const waiting = lines()
    waiting.add(item("witness"), turn("capture", "a"))
    waiting.add(item("evaluation"), turn("verdict", "a"))
    waiting.add(item("halt"))
    assert.deepStrictEqual(names(waiting.take()), ["halt", "evaluation", "witness"])
    assert.isTrue(waiting.isEmpty)
    assert.deepStrictEqual(waiting.take(), [])
  })

  it("puts few records of capture beside what is more urgent, and large ones not at all", () => {
    const waiting = lines()
    for (let nth = 0; nth < 80; nth++) waiting.add(item(`single${nth}`), turn("capture", "a"))
    waiting.add(item("halt"))
    assert.lengthOf(waiting.take(), 51)
    waiting.add(item("large", 1_000), turn("capture", "b"))
    waiting.add(item("evaluation"), turn("verdict", "a"))
    assert.lengthOf(waiting.take(), 31)
    assert.deepStrictEqual(names(waiting.take()), ["large"])
  })

  it("gives keys turns, and a light commit of a key passes the batches of those that flood", () => {
    const waiting = lines()
    for (const key of ["a", "b"])
      for (const nth of [1, 2]) waiting.add(item(`${key}${nth}`, 1_000), turn("capture", key))
    const order = [...names(waiting.take())]
    waiting.add(item("c1"), turn("capture", "c"))
    while (!waiting.isEmpty) order.push(...names(waiting.take()))
    assert.deepStrictEqual(order, ["a1", "c1", "b1", "a2", "b2"])
  })

  it("starves nothing: a flood of acts and evaluations lets each other class pass", () => {
    const waiting = lines()
    waiting.add(item("witness", 1_000), turn("capture", "a"))
    waiting.add(item("evaluation", 500), turn("verdict", "a"))
    const order: Array<string> = []
    for (let nth = 0; nth < 20; nth++) {
      for (let more = 0; more < 500; more++) waiting.add(item("ack"), turn("act", "b"))
      order.push(...names(waiting.take()))
    }
    const passed = [order.indexOf("evaluation"), order.indexOf("witness")].sort((a, b) => a - b)
    assert.isAbove(passed[0]!, 0)
    assert.isBelow(passed[1]!, 6 * 500)
  })

  it("lets what lost a conflict keep its place in its class", () => {
    const waiting = lines()
    waiting.add(item("first"), turn("verdict", "a"))
    waiting.add(item("lost"), turn("verdict", "b"), true)
    waiting.add(item("halt"))
    assert.deepStrictEqual(names(waiting.take()), ["halt", "lost", "first"])
  })

  it("is full by records or by bytes, and counts nothing that was taken back", () => {
    const waiting = lines()
    const [heavy, one] = [{ name: "heavy", weight: { records: 1, bytes: 100_000 } }, item("one", 500)]
    waiting.add(heavy)
    assert.isTrue(waiting.isFull)
    assert.isTrue(waiting.remove(heavy))
    assert.isFalse(waiting.remove(heavy))
    assert.isFalse(waiting.isFull)
    waiting.add(one)
    assert.deepStrictEqual([waiting.isFull, waiting.isLarge(one), waiting.isLarge(heavy)], [true, true, false])
  })
})
