/**
 * Webhooks: deliveries a second to receivers in another process, on SQLite and Postgres; and what one receiver that
 * never answers costs 99 others. Spec: document 2 section 6.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { StorageChoice } from "@flyball/core"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { type Benchmark, figure, type Line, median } from "./harness.ts"
import { countStarted, processUs } from "./processor-time.ts"
import { file, type Running, start } from "./server-process.ts"
import { sendBare } from "./webhooks-bare.ts"
import { besideAHole } from "./webhooks-beside.ts"
import { openWorld, report, WEBHOOKS } from "./webhooks-world.ts"

/** Events of a round of the throughput. */
const EVENTS = 100
const ROUNDS = 3
const DELIVERIES = WEBHOOKS * EVENTS
/** In flight to one receiver, as the engine has it. */
const PER_RECEIVER = 4

/** Where processor time went. Unit: microseconds for each delivery. */
interface Spent {
  readonly perSecond: number
  readonly thread: number
  /** Storage threads, and what V8 does in threads of its own: collecting garbage, compiling. */
  readonly otherThreads: number
  readonly postgres: number
  readonly receivers: number
}

const measured = async (receivers: Running, body: () => Promise<void>): Promise<Spent> => {
  const before = {
    all: process.cpuUsage(),
    thread: process.threadCpuUsage(),
    postgres: countStarted("postgres"),
    receivers: processUs(receivers.pid),
    at: performance.now()
  }
  await body()
  const ms = performance.now() - before.at
  const all = process.cpuUsage(before.all)
  const thread = process.threadCpuUsage(before.thread)
  const threadUs = thread.user + thread.system
  const each = (us: number): number => figure(us / DELIVERIES)
  return {
    perSecond: figure((DELIVERIES / ms) * 1_000),
    thread: each(threadUs),
    otherThreads: each(all.user + all.system - threadUs),
    postgres: each(before.postgres()),
    receivers: each(processUs(receivers.pid) - before.receivers)
  }
}

const sentenceOf = ({ otherThreads, perSecond, postgres, receivers, thread }: Spent): string =>
  `${perSecond} deliveries/s; processor time for each: ${thread} us in the host's thread, ${otherThreads} in ` +
  `its other threads, ${postgres} in Postgres, ${receivers} in the receivers`

/**
 * Deliveries a second from the engine's start until the last is settled, in turn with the same POSTs by `node:http`
 * alone.
 */
const throughput = async (
  name: string,
  storage: StorageChoice,
  keysDir: string,
  receivers: Running,
  goal: number,
  say: (text: string) => void
): Promise<Line> => {
  const rates: Array<{ readonly limit: number; readonly value: number }> = []
  const world = await openWorld(storage, keysDir, receivers, false)
  const ports = (await report(receivers)).ports.slice(0, WEBHOOKS)
  const sent = async (): Promise<void> => {
    const stop = await world.send()
    for (let arrived = 0; arrived < DELIVERIES; arrived += (await report(receivers)).delaysMs.length) await pause(20)
    // Its end settles what it has in hand.
    await stop()
  }
  try {
    for (let round = -1; round < ROUNDS; round++) {
      const bare = await measured(receivers, () => sendBare(ports, DELIVERIES, PER_RECEIVER))
      for (let event = 0; event < EVENTS; event++) await world.happened()
      await report(receivers)
      const ours = await measured(receivers, sent)
      if (round >= 0) rates.push({ limit: bare.perSecond, value: ours.perSecond })
      say(`${name}: ${sentenceOf(ours)}`)
      say(`${name}, node:http alone: ${sentenceOf(bare)}`)
    }
  } finally {
    await world.close()
  }
  const value = figure(median(rates.map((rate) => rate.value)))
  const limit = figure(median(rates.map((rate) => rate.limit)))
  return {
    name,
    value,
    unit: "deliveries/s",
    limit,
    ratio: figure(median(rates.map((rate) => rate.value / rate.limit))),
    goal: `>= ${goal}`,
    met: value >= goal
  }
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "webhooks",
  about:
    `${EVENTS} events to ${WEBHOOKS} webhooks a round, receivers in another process; and one of ` +
    `${WEBHOOKS} receivers that never answers`,
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const receivers = await start(process.execPath, [file("./webhook-receivers.ts"), String(WEBHOOKS)], {})
    const postgres = await startPostgres()
    try {
      const database = await freshDatabase(postgres.url)
      return [
        await throughput(
          "webhooks.sqlite",
          sqliteStorage({ file: join(folder, "throughput.db") }),
          join(folder, "sqlite-keys"),
          receivers,
          2_000,
          say
        ),
        await throughput(
          "webhooks.postgres",
          postgresStorage({ url: database.url }),
          join(folder, "postgres-keys"),
          receivers,
          4_000,
          say
        ),
        await besideAHole(folder, receivers, say)
      ]
    } finally {
      await postgres.stop()
      await receivers.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
