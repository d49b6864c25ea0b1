import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { assert, describe, it } from "vitest"
import { WorkerThread } from "./worker-thread.ts"

const opened = async (file = ":memory:"): Promise<WorkerThread> => {
  const thread = new WorkerThread({ op: "open", role: "both", file, busyTimeoutMs: 1_000, small: false })
  await new Promise((done) => thread.open(done))
  return thread
}

describe("the host's end of a storage worker", () => {
  it("resolves answers that arrive together over several turns of the event loop, in order", async () => {
    const thread = await opened()
    let turn = 0
    let ended = false
    const next = (): void => {
      turn++
      if (!ended) setImmediate(next)
    }
    next()
    const answered: Array<readonly [index: number, turn: number]> = []
    await Promise.all(
      Array.from(
        { length: 200 },
        (_, index) =>
          new Promise<void>((done) =>
            thread.send<"head">({ op: "head" }, (outcome) => {
              assert.isTrue(outcome.ok)
              answered.push([index, turn])
              done()
            })
          )
      )
    )
    ended = true
    await thread.close()
    assert.deepStrictEqual(
      answered.map(([index]) => index),
      Array.from({ length: 200 }, (_, index) => index)
    )
    const counts = new Map<number, number>()
    for (const [, at] of answered) counts.set(at, (counts.get(at) ?? 0) + 1)
    // A message and the rest of the one before may meet in a turn.
    assert.isAtMost(Math.max(...counts.values()), 60)
  })

  it("reads a document once for many callers in one turn, and again after a write", async () => {
    const thread = await opened()
    const posted: Array<string> = []
    const { prototype } = await import("node:worker_threads").then(({ Worker }) => Worker)
    const { postMessage } = prototype
    prototype.postMessage = function (
      this: typeof prototype,
      requests: ReadonlyArray<{ readonly request: { readonly op: string } }>,
      ...rest
    ) {
      posted.push(...requests.map(({ request }) => request.op))
      return postMessage.call(this, requests, ...rest)
    }
    try {
      const get = (id: string) =>
        new Promise<boolean>((done) =>
          thread.send<"get">({ op: "get", collection: "agents", id }, (outcome) =>
            done(outcome.ok && outcome.value === null)
          )
        )
      const release = () =>
        new Promise<boolean>((done) =>
          thread.send<"releaseLease">({ op: "releaseLease", name: "n", holder: "h" }, (outcome) => done(outcome.ok))
        )
      assert.deepStrictEqual(
        await Promise.all([get("a"), get("a"), get("b"), get("a"), release(), get("a"), get("a")]),
        Array.from({ length: 7 }, () => true)
      )
      assert.deepStrictEqual(posted, ["get", "get", "releaseLease", "get"])
    } finally {
      prototype.postMessage = postMessage
    }
    await thread.close()
  })

  it("returns the answers sent before it died, and fails the others with the reason", async () => {
    const thread = await opened()
    const outcomes: Array<boolean> = []
    await Promise.all(
      Array.from(
        { length: 200 },
        (_, index) =>
          new Promise<void>((done) =>
            thread.send<"head">({ op: "head" }, (outcome) => {
              outcomes.push(outcome.ok)
              if (index === 0) void thread.crash()
              done()
            })
          )
      )
    )
    assert.lengthOf(outcomes, 200)
    assert.isTrue(outcomes[0])
    // Answered requests came before all unanswered ones.
    assert.deepStrictEqual(
      outcomes,
      outcomes.toSorted((a, b) => Number(b) - Number(a))
    )
    await thread.close()
  })

  it("sends requests made after it died to the next worker", async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-thread-"))
    // A database in memory would be lost with its worker, and no more requests would follow.
    const thread = await opened(join(folder, "store.db"))
    const worker = await postedTo(thread)
    const head = () =>
      new Promise<boolean>((done) => thread.send<"head">({ op: "head" }, (outcome) => done(outcome.ok)))
    const waiting = head()
    // The request above is sent in a later turn; the worker is gone before that.
    const ended = worker.terminate()
    worker.emit("exit", 1)
    const again = head()
    assert.deepStrictEqual([await waiting, await again], [false, true])
    await ended
    await thread.close()
    rmSync(folder, { recursive: true })
  })
})

/** The worker that requests are posted to. */
const postedTo = async (thread: WorkerThread): Promise<Worker> => {
  const { postMessage } = Worker.prototype
  try {
    return await new Promise((found) => {
      Worker.prototype.postMessage = function (this: Worker, ...args: Parameters<typeof postMessage>) {
        found(this)
        postMessage.apply(this, args)
      }
      thread.send<"head">({ op: "head" }, () => undefined)
    })
  } finally {
    Worker.prototype.postMessage = postMessage
  }
}
