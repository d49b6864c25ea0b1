/**
 * No request keeps other callers waiting: the worst ones that were found, each while somebody else asks for something
 * small.
 *
 * A caller's wait is the work that the server does between its question and its answer: time of this thread's
 * processor, in units of fixed work that is measured around it. On a machine that is busy with other things both take
 * longer. Spec: decision 0036.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { StorageChoice } from "@flyball/core"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { freshDatabase } from "@flyball/testkit/postgres"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, type World } from "./http-world.ts"

/** Longest work for which a request may hold up others. Unit: readings of {@link fixedText}. */
const MOST = 6

const list = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(",")
const decision = (ref: string, args: string): string => `{"client_ref":"${ref}","action":"pay","args":${args}}`
const batch = (name: string, args: (index: number) => string): string =>
  `{"decisions":[${list(1_000, (index) => decision(`${name}${index}`, args(index)))}]}`
const wrong =
  `{"client_ref":1,"action":2,"tool_server":3,"run_id":4,"step":"x","evaluation_id":5,` +
  `"model":6,"usage":7,"latency_ms":"q","mode":"w","zz":1}`
const keys = (count: number, prefix = "k"): string => list(count, (index) => `"${prefix}${index}":1`)
const agentBody = (more: string): string => `{"name":"x","org_unit":"claims",${more}}`

/** Name, path below the agents, body, and the status of the answer. */
const shapes: ReadonlyArray<readonly [string, "agents" | "decisions", () => string, number]> = [
  ["unordered combining marks", "agents", () => agentBody(`"description":"${"\u0323\u0301".repeat(100_000)}"`), 422],
  [
    "unordered combining marks that just fit",
    "agents",
    () => agentBody(`"description":"${"\u0345\u0301".repeat(2_000)}"`),
    201
  ],
  ["90,000 members in args", "decisions", () => decision("keys", `{${keys(90_000)}}`), 201],
  ["100,001 members in args", "decisions", () => decision("keys", `{${keys(100_001)}}`), 422],
  ["80,000 unknown members", "agents", () => agentBody(keys(80_000)), 422],
  ["16,000 unknown members", "agents", () => agentBody(keys(16_000)), 422],
  [
    "unknown members as far as the body goes",
    "decisions",
    () => `{"client_ref":"x","action":"a",${keys(1_200_000)}}`,
    422
  ],
  ["330,000 empty objects", "decisions", () => decision("objects", `[${list(330_000, () => "{}")}]`), 201],
  [
    "empty objects as far as the body goes",
    "decisions",
    () => decision("many", `[${list(5_500_000, () => "{}")}]`),
    422
  ],
  ["a wrong batch", "decisions", () => `{"decisions":[${list(1_000, () => wrong)}]}`, 422],
  [
    "a wrong batch of 14 MB",
    "decisions",
    () => `{"decisions":[${list(1_000, () => decision("w", `"${"x".repeat(14_000)}","zz":1`))}]}`,
    422
  ],
  ["a batch of 14.4 MB of text", "decisions", () => batch("t", () => `"${"x".repeat(14_300)}"`), 201],
  ["a batch of 14.4 MB of members", "decisions", () => batch("m", (index) => `{${keys(1_000, `n${index}_`)}}`), 201],
  [
    "a batch of 14.4 MB of small objects",
    "decisions",
    () => batch("s", () => `[${list(230, () => `{"b":1,"a":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":1}`)}]`),
    201
  ],
  [
    "a batch of one-megabyte arguments",
    "decisions",
    () => `{"decisions":[${list(15, (index) => decision(`l${index}`, `"${"x".repeat(1_000_000)}"`))}]}`,
    201
  ],
  ["16 MB of white space", "decisions", () => " ".repeat(16_000_000), 422],
  ["a reference of 16 MB", "decisions", () => `{"action":"a","client_ref":"${"x".repeat(16_000_000)}"}`, 422],
  [
    "a value where text belongs",
    "decisions",
    () => `{"action":"a","client_ref":[${list(50, () => `[${list(100, () => `[${list(100, () => "1")}]`)}]`)}]}`,
    422
  ]
]

const processorMs = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** A body as long as one may be. */
const fixedText = `[${list(250_000, (index) => `{"name":"text ${index}","value":${index},"more":[true]}`)}]`

/** Measures how long one reading takes now: the least of three. */
const unitMs = (): number =>
  Math.min(
    ...[1, 2, 3].map(() => {
      const begun = processorMs()
      assert.lengthOf(JSON.parse(fixedText), 250_000)
      return processorMs() - begun
    })
  )

interface Place {
  readonly storage: StorageChoice
  readonly leave: () => void | Promise<void>
}

const sqlitePlace = (): Place => {
  const folder = mkdtempSync(join(tmpdir(), "flyball-event-loop-"))
  return {
    storage: sqliteStorage({ file: join(folder, "store.db") }),
    leave: () => rmSync(folder, { recursive: true })
  }
}
const postgresPlace = async (): Promise<Place> => {
  const { drop, url } = await freshDatabase(process.env["FLYBALL_TEST_PG_URL"]!)
  return { storage: postgresStorage({ url }), leave: drop }
}

describe.each([
  ["SQLite", sqlitePlace, shapes],
  ["Postgres", postgresPlace, shapes.filter(([name]) => name.includes("batch"))]
] as const)("other callers, on %s", { timeout: 120_000 }, (_, open, shapes) => {
  let place: Place
  let world: World
  let path: string
  beforeAll(async () => {
    place = await open()
    world = await openWorld({ storage: place.storage })
    path = `/api/v1/agents/${await world.register("courier")}/decisions`
  })
  afterAll(async () => {
    await world.close()
    await place.leave()
  })

  /** Over a socket of its own: what sends must not cost what is measured. Answers the status. */
  const ask = (method: string, target: string, body: Buffer): Promise<number> =>
    new Promise((resolve, reject) => {
      const head =
        `${method} ${target} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ` +
        `${world.admin}\r\ncontent-type: application/json\r\ncontent-length: ` +
        `${body.length}\r\nconnection: close\r\n\r\n`
      const socket = connect(world.port, "127.0.0.1")
      let first = ""
      socket.on("data", (chunk) => {
        if (first === "") first = chunk.toString("latin1", 0, 12)
      })
      socket.on("close", () => resolve(Number(first.slice(9))))
      socket.on("error", reject)
      socket.write(head)
      socket.write(body)
    })

  /** The longest that somebody else waited while a request was answered, in units. */
  const watched = async (
    request: () => Promise<number>
  ): Promise<{ readonly status: number; readonly waited: number; readonly answers: number }> => {
    const before = unitMs()
    let waitedMs = 0
    let answers = 0
    const over = new AbortController()
    const other = async (): Promise<void> => {
      while (!over.signal.aborted) {
        const requested = processorMs()
        assert.strictEqual(await ask("GET", "/api/v1/me", Buffer.alloc(0)), 200)
        waitedMs = Math.max(waitedMs, processorMs() - requested)
        answers++
      }
    }
    const asking = other()
    const status = await request()
    over.abort()
    await asking
    const unit = Math.max(before, unitMs())
    return { status, waited: waitedMs / unit, answers }
  }

  it.for(shapes)("do not wait for %s", async ([, where, body, expected]) => {
    const bytes = Buffer.from(body())
    const { answers, status, waited } = await watched(() =>
      ask("POST", where === "agents" ? "/api/v1/agents" : path, bytes)
    )
    assert.strictEqual(status, expected)
    assert.isAtLeast(answers, 1)
    assert.isBelow(waited, MOST)
  })

  it("do not wait for a query of many parameters", async () => {
    const query = `%${"&".repeat(15_000)}`
    const { status, waited } = await watched(() => ask("GET", `/api/v1/agents?${query}`, Buffer.alloc(0)))
    assert.strictEqual(status, 422)
    assert.isBelow(waited, MOST)
  })
})
