/** Four real processes on one Postgres, some of which are killed (SIGKILL) while its clock steps by an hour. */
import { type ChildProcess, spawn } from "node:child_process"
import { setTimeout as pause } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { layerOf, Permits, Storage } from "@flyball/core"
import { postgresStorage } from "@flyball/storage-sql"
import { pickOf, seededSource } from "@flyball/testkit"
import { givenDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
// Not promised by the package: nothing that ships may set a store's clock.
import { shiftPostgresClock } from "../../../packages/storage-sql/src/postgres/test-clock.ts"
import { runs } from "../runs.ts"
import { type Admission, overAdmission } from "./laws.ts"
import { EXACT, PERMITS, POLICIES, QUOTA } from "./limited.ts"

const database = givenDatabase({ beforeAll, afterAll })
const program = fileURLToPath(new URL("./limiting-process.ts", import.meta.url))
const PROCESSES = 4
const HOUR_MS = 3_600_000
const EVENTS = runs(4, 40)
/** How long a process may use what it took ahead, before it hears of a step. Unit: milliseconds. */
const AHEAD_MS = 1_000

/** Lines of a process that lives until it is killed. */
interface Life {
  readonly lines: Array<ReadonlyArray<string>>
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
  /** Resolves at its first line that begins so. */
  readonly said: (word: string) => Promise<void>
}

const live = (url: string, name: string): Life => {
  const child = spawn(process.execPath, [program, url, name], { stdio: ["ignore", "pipe", "inherit"] })
  const lines: Array<ReadonlyArray<string>> = []
  const waits: Array<{ readonly word: string; readonly done: () => void }> = []
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const whole = `${text}${chunk}`.split("\n")
    text = whole.pop()!
    for (const line of whole) {
      lines.push(line.split(" "))
      for (const { done, word } of waits) if (line.startsWith(word)) done()
    }
  })
  const ended = new Promise((resolve, reject) => {
    child.on("close", (status, signal) =>
      signal === "SIGKILL" ? resolve(signal) : reject(new Error(`${name} ended by itself with ${status ?? signal}`))
    )
  })
  ended.catch(() => {})
  return {
    lines,
    child,
    ended,
    said: (word) => Promise.race([new Promise<void>((done) => waits.push({ word, done })), ended.then(() => undefined)])
  }
}

const admissionsOf = (lines: ReadonlyArray<ReadonlyArray<string>>, ...words: ReadonlyArray<string>) =>
  lines
    .filter((line) => words.every((word, index) => line[index] === word))
    .map((line): Admission => ({ fromMs: Number(line[words.length]), toMs: Number(line[words.length + 1]), cost: 1 }))

/** Most calls that surely ran at once: a killed process ran its last ones to an instant that nobody knows. */
const mostAtOnce = (lines: ReadonlyArray<ReadonlyArray<string>>): number => {
  const changes = lines
    .filter(([tag]) => tag === "held" || tag === "free")
    .toSorted(([tagA, , a], [tagB, , b]) => Number(a) - Number(b) || (tagA === "free" ? -1 : tagB === "free" ? 1 : 0))
  const freed = new Set(changes.flatMap(([tag, id]) => (tag === "free" ? [id] : [])))
  let [now, most] = [0, 0]
  for (const [tag, id] of changes) {
    if (!freed.has(id)) continue
    now += tag === "held" ? 1 : -1
    most = Math.max(most, now)
  }
  return most
}

describe("four processes on one Postgres", { timeout: 600_000 }, () => {
  it("keep to limits, permits and quotas, though they are killed and the clock steps", async () => {
    const clock = await shiftPostgresClock(database.url)
    const pick = pickOf(seededSource("limits"))
    const lives: Array<Life> = []
    const start = (): Life => {
      const life = live(database.url, `p${lives.length}`)
      lives.push(life)
      return life
    }
    const running = Array.from({ length: PROCESSES }, start)
    await Promise.all(running.map(({ said }) => said("rows")))
    assert.lengthOf(
      lives.flatMap(({ lines }) => admissionsOf(lines, "exact")),
      EXACT.limit,
      "all of the limit, and no more"
    )
    const forward: Array<readonly [number, number]> = []
    const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6
    for (let event = 0; event < EVENTS; event++) {
      await pause(300 + pick(2_000))
      if (pick(3) === 0) {
        const isForward = pick(2) === 0
        const fromMs = clockMs()
        await clock.shift(isForward ? HOUR_MS : -HOUR_MS)
        // Units of the second before the step, and all units of the window behind it.
        if (isForward) forward.push([fromMs, clockMs() + AHEAD_MS])
        continue
      }
      const index = pick(PROCESSES)
      running[index]!.child.kill("SIGKILL")
      await running[index]!.ended
      running[index] = start()
      await running[index].said("took")
    }
    for (const { child, ended } of running) {
      child.kill("SIGKILL")
      await ended
    }
    const lines = lives.flatMap((life) => life.lines)
    for (const policy of POLICIES) {
      const admissions = admissionsOf(lines, "took", policy.name)
      assert.isNull(overAdmission(policy, admissions, forward))
      assert.isAbove(admissions.length, policy.limit, "windows pass, and admit again")
    }
    // A process that lapsed in a step forward is heard of again within five seconds.
    if (forward.length === 0) assert.isAtMost(mostAtOnce(lines), PERMITS)
    await clock.shift(20_000)
    await Effect.gen(function* () {
      const permits = yield* Permits
      for (let n = 0; n < PERMITS; n++) assert.isTrue((yield* permits.hold("calls", PERMITS)).held)
      assert.isFalse((yield* permits.hold("calls", PERMITS)).held)
      const storage = yield* Storage
      const [reserved, settled, unsure] = yield* spent(lines, yield* storage.list("reservations"))
      const period = new Date((yield* storage.asOf).ms).toISOString().slice(0, 7)
      const [used] = yield* storage.counters([`${QUOTA.unit}:${QUOTA.resource}:${period}`])
      assert.isAtMost(used!, QUOTA.limit)
      assert.isAtLeast(used!, reserved! + settled!)
      assert.isAtMost(used!, reserved! + settled! + unsure!)
    }).pipe(
      Effect.provide(Permits.layer.pipe(Layer.provideMerge(layerOf(postgresStorage({ url: database.url }))))),
      Effect.runPromise
    )
  })
})

const spent = (
  lines: ReadonlyArray<ReadonlyArray<string>>,
  open: ReadonlyArray<{ readonly body: { readonly [name: string]: unknown } }>
) =>
  Effect.sync(() => {
    const sum = (amounts: ReadonlyArray<number>): number => amounts.reduce((total, amount) => total + amount, 0)
    const of = (tag: string) =>
      new Map(lines.flatMap(([word, id, actual]) => (word === tag ? [[id!, Number(actual)]] : [])))
    const settled = of("settled")
    const unsure = [...of("settling")].flatMap(([id, actual]) => (settled.has(id) ? [] : [actual]))
    return [sum(open.map(({ body }) => Number(body["amount"]))), sum([...settled.values()]), sum(unsure)]
  })
