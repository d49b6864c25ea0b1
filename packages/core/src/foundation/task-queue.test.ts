import { assert, describe, it } from "vitest"
import { countingTurns } from "../testing/counting-turns.ts"
import { queueTask, tasksPerTurn } from "./task-queue.ts"

describe("work in turns", () => {
  it("runs tasks in order, a few in each turn, and never before the caller yields", () =>
    countingTurns(async (turn) => {
      const doneIn: Array<number> = []
      const order: Array<number> = []
      const all = new Promise<void>((done) => {
        for (let index = 0; index < tasksPerTurn * 5; index++) {
          queueTask(() => {
            order.push(index)
            doneIn.push(turn())
            if (order.length === tasksPerTurn * 5) done()
          })
        }
      })
      assert.deepStrictEqual(order, [])
      await all
      assert.deepStrictEqual(
        order,
        Array.from({ length: tasksPerTurn * 5 }, (_, index) => index)
      )
      const counts = new Map<number, number>()
      for (const at of doneIn) counts.set(at, (counts.get(at) ?? 0) + 1)
      assert.isAtMost(Math.max(...counts.values()), tasksPerTurn)
    }))

  it("ends a turn when what tasks and the reactions of their promises do has taken its time", () =>
    countingTurns(async (turn) => {
      const busy = (): void => {
        const untilMs = performance.now() + 1
        while (performance.now() < untilMs);
      }
      const doneIn: Array<number> = []
      await Promise.all(
        Array.from({ length: 6 }, () =>
          new Promise<void>((done) => queueTask(done)).then(() => {
            busy()
            doneIn.push(turn())
          })
        )
      )
      assert.strictEqual(new Set(doneIn).size, 6)
    }))

  it("takes tasks from tasks, and continues after one that throws", async () => {
    const order: Array<string> = []
    const thrown = new Promise<unknown>((caught) => {
      const listeners = process.listeners("uncaughtException")
      process.removeAllListeners("uncaughtException")
      process.once("uncaughtException", (error) => {
        for (const listener of listeners) process.on("uncaughtException", listener)
        caught(error)
      })
    })
    await new Promise<void>((done) => {
      queueTask(() => {
        order.push("first")
        queueTask(() => {
          order.push("last")
          done()
        })
        throw new Error("a caller's")
      })
      queueTask(() => order.push("second"))
    })
    assert.instanceOf(await thrown, Error)
    assert.deepStrictEqual(order, ["first", "second", "last"])
  })
})
