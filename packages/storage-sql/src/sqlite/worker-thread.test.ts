import { assert, describe, it } from "vitest"
import { WorkerThread } from "./worker-thread.ts"

const opened = async (): Promise<WorkerThread> => {
  const thread = new WorkerThread({ op: "open", role: "both", file: ":memory:", busyTimeoutMs: 1_000, small: false })
  await new Promise((done) => thread.open(done))
  return thread
}

describe("the host's end of a storage worker", () => {
  it("hands out answers that came together in turns of the event loop, in order", async () => {
    const thread = await opened()
    let turn = 0
    let ended = false
    const next = (): void => {
      turn++
      if (!ended) setImmediate(next)
    }
    next()
    const answered: Array<readonly [index: number, turn: number]> = []
    await Promise.all(Array.from({ length: 200 }, (_, index) =>
      new Promise<void>((done) => thread.send<"head">({ op: "head" }, [], (outcome) => {
        assert.isTrue(outcome.ok)
        answered.push([index, turn])
        done()
      }))))
    ended = true
    await thread.close()
    assert.deepStrictEqual(answered.map(([index]) => index), Array.from({ length: 200 }, (_, index) => index))
    const counts = new Map<number, number>()
    for (const [, at] of answered) counts.set(at, (counts.get(at) ?? 0) + 1)
    // A message and the rest of the one before may meet in a turn.
    assert.isAtMost(Math.max(...counts.values()), 60)
  })

  it("gives what was answered before it died, and the reason to those that were not", async () => {
    const thread = await opened()
    const outcomes: Array<boolean> = []
    await Promise.all(Array.from({ length: 200 }, (_, index) =>
      new Promise<void>((done) => thread.send<"head">({ op: "head" }, [], (outcome) => {
        outcomes.push(outcome.ok)
        if (index === 0) void thread.crash()
        done()
      }))))
    assert.lengthOf(outcomes, 200)
    assert.isTrue(outcomes[0])
    // Whoever was answered was answered before whoever was not.
    assert.deepStrictEqual(outcomes, outcomes.toSorted((a, b) => Number(b) - Number(a)))
    await thread.close()
  })
})
