import type { RequestLog } from "@flyball/http/server"
import { assert, describe, it } from "vitest"
import { requestLog } from "./log.ts"

const request = (status: number, problem: string | null): RequestLog => ({
  requestId: "r",
  method: "POST",
  route: "/x",
  status,
  durationMs: 1.25,
  caller: "user",
  client: "192.0.2.1",
  problem
})

describe("the log of requests", () => {
  it("logs a recurring fault as an error once a minute, with the number of repetitions", () => {
    const lines: Array<readonly [string, unknown, unknown]> = []
    let nowMs = 0
    const write = requestLog(
      (level, _, members) => void lines.push([level, members?.["problem"], members?.["repeated"]]),
      () => nowMs
    )
    for (const atMs of [0, 1, 59_999, 60_000, 60_001]) {
      nowMs = atMs
      write(request(503, "StorageUnavailable: the disk is full\n    at one place"))
    }
    write(request(503, "StorageUnavailable: gone\n    at one place"))
    assert.deepEqual(
      lines.map(([level, , repeated]) => [level, repeated]),
      [
        ["error", undefined],
        ["info", undefined],
        ["info", undefined],
        ["error", 2],
        ["info", undefined],
        ["error", undefined]
      ]
    )
    // Each request keeps its own text: an operator who searches for one by its id finds what happened to it.
    for (const [, problem] of lines) assert.include(String(problem), "StorageUnavailable")
  })

  it("logs every defect as an error, and every answer as information, also while draining", () => {
    const levels: Array<string> = []
    const write = requestLog(
      (level) => void levels.push(level),
      () => 0
    )
    for (const entry of [request(500, "x"), request(500, "x"), request(200, null), request(503, null)]) write(entry)
    assert.deepEqual(levels, ["error", "error", "info", "info"])
  })
})
