/** Webhooks: deliveries a second to receivers in another process, on SQLite and Postgres; and what one receiver that never answers costs 99 others. Spec: document 2 section 6. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { deliveryEngine, governorLayer, keysLayerOf, layerOf, OutboxBell, Storage, type StorageChoice, systemHost, Webhooks } from "@flyball/core"
import { dataFolder, logMailer, memorySecretBox, webhookSender } from "@flyball/node"
import { postgresStorage, sqliteStorage } from "@flyball/storage-sql"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { Effect, Layer, ManagedRuntime } from "effect"
import { type Benchmark, figure, type Line, median, quantile } from "./harness.ts"
import { file, type Running, start } from "./server-process.ts"

/** Receivers of one event. */
const WEBHOOKS = 100
/** Events of a round of the throughput. */
const EVENTS = 100
const ROUNDS = 3
/** Events a second, and how many, while delays are measured: far from all that it can do, so that delays are no queue's. */
const PACED = { events: 30, everyMs: 200, rounds: 5 }

/** Sender and store in this process, with so many webhooks of which the first may lead into a hole. */
const open = async (storage: StorageChoice, keysDir: string, receivers: Running, hole: boolean) => {
  const base = governorLayer({ origin: "flyball.example/bench" }).pipe(
    Layer.provideMerge(Layer.mergeAll(webhookSender({ egressAllow: ["127.0.0.1"], allowHttp: true }), memorySecretBox, logMailer)),
    Layer.provideMerge(layerOf(storage)),
    Layer.provide(keysLayerOf(dataFolder({ dir: keysDir, origin: "flyball.example/bench" })))
  )
  const runtime = ManagedRuntime.make(base)
  const context = await runtime.context()
  const { ports } = await report(receivers)
  for (let index = 0; index < WEBHOOKS; index++) {
    const url = `http://127.0.0.1:${hole && index === 0 ? ports.at(-1)! : ports[index]!}/`
    await runtime.runPromise(Webhooks.use((webhooks) => webhooks.create({ url, events: ["agent.registered"] }, systemHost)))
  }
  const sending = (): ManagedRuntime.ManagedRuntime<never, unknown> => ManagedRuntime.make(deliveryEngine().pipe(Layer.provide(Layer.succeedContext(context))))
  return {
    // As a service of the governor does: the commit, and then the bell that wakes the engine.
    happened: () => runtime.runPromise(Storage.use((store) => store.commit({ events: [{ type: "agent.registered", data: {} }] })).pipe(Effect.andThen(OutboxBell.use((bell) => Effect.sync(() => bell.ring("deliveries")))))),
    /** Starts the engine; the answer stops it. */
    send: async () => {
      const engine = sending()
      await engine.context()
      return () => engine.dispose()
    },
    close: () => runtime.dispose()
  }
}

/** Where the receivers are, the hole the last of them, and how late each delivery came since the last report. Unit: milliseconds. */
const report = async (receivers: Running): Promise<{ readonly ports: ReadonlyArray<number>; readonly delaysMs: ReadonlyArray<number> }> =>
  (await (await fetch(`http://127.0.0.1:${receivers.port}/`)).json()) as { readonly ports: ReadonlyArray<number>; readonly delaysMs: ReadonlyArray<number> }

/** Deliveries a second, and processor time of this process for each, from the engine's start until the last is settled. */
const throughput = async (name: string, storage: StorageChoice, keysDir: string, receivers: Running, goal: number, say: (text: string) => void): Promise<Line> => {
  const rates: Array<number> = []
  const world = await open(storage, keysDir, receivers, false)
  try {
    for (let round = -1; round < ROUNDS; round++) {
      for (let event = 0; event < EVENTS; event++) await world.happened()
      const cpu = process.cpuUsage()
      const startedAt = performance.now()
      const stop = await world.send()
      let arrived = 0
      while (arrived < WEBHOOKS * EVENTS) {
        await pause(20)
        arrived += (await report(receivers)).delaysMs.length
      }
      // Its end settles what it has in hand.
      await stop()
      const ms = performance.now() - startedAt
      const { system, user } = process.cpuUsage(cpu)
      if (round >= 0) rates.push(WEBHOOKS * EVENTS / ms * 1_000)
      say(`${name}: ${figure(WEBHOOKS * EVENTS / ms * 1_000)} deliveries/s, ${figure((system + user) / (WEBHOOKS * EVENTS))} us of processor time for each`)
    }
  } finally {
    await world.close()
  }
  const value = figure(median(rates))
  return { name, value, unit: "deliveries/s", limit: null, ratio: null, goal: `>= ${goal}`, met: value >= goal }
}

/** The 99th percentile of the delays of 99 receivers, with another that answers or that never does, in turn. */
const beside = async (folder: string, receivers: Running, say: (text: string) => void): Promise<Line> => {
  const p99 = async (hole: boolean, round: number): Promise<number> => {
    const name = join(folder, `beside-${round}-${hole}`)
    const world = await open(sqliteStorage({ file: `${name}.db` }), `${name}-keys`, receivers, hole)
    const stop = await world.send()
    try {
      await report(receivers)
      for (let event = 0; event < PACED.events; event++) {
        await world.happened()
        await pause(PACED.everyMs)
      }
      await pause(1_000)
      return quantile((await report(receivers)).delaysMs, 0.99)
    } finally {
      await stop()
      await world.close()
    }
  }
  const pairs: Array<{ readonly well: number; readonly hole: number }> = []
  for (let round = -1; round < PACED.rounds; round++) {
    const holeFirst = round % 2 === 0
    const first = await p99(holeFirst, round)
    const second = await p99(!holeFirst, round)
    if (round >= 0) pairs.push(holeFirst ? { hole: first, well: second } : { hole: second, well: first })
    say(`webhooks.beside_a_hole: ${holeFirst ? second : first} ms without, ${holeFirst ? first : second} ms with`)
  }
  const [limit, value] = [median(pairs.map(({ well }) => well)), median(pairs.map(({ hole }) => hole))]
  const ratio = figure(median(pairs.map(({ hole, well }) => hole / well)))
  return { name: "webhooks.beside_a_hole", value: figure(value), unit: "ms (p99)", limit: figure(limit), ratio, goal: "ratio < 1.2", met: ratio < 1.2 }
}

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "webhooks",
  about: `${EVENTS} events to ${WEBHOOKS} webhooks a round, receivers in another process; and one of ${WEBHOOKS} receivers that never answers`,
  run: async (say) => {
    const folder = mkdtempSync(join(tmpdir(), "flyball-bench-"))
    const receivers = await start([file("./webhook-receivers.ts"), String(WEBHOOKS)], {})
    const postgres = await startPostgres()
    try {
      const database = await freshDatabase(postgres.url)
      return [
        await throughput("webhooks.sqlite", sqliteStorage({ file: join(folder, "throughput.db") }), join(folder, "sqlite-keys"), receivers, 2_000, say),
        await throughput("webhooks.postgres", postgresStorage({ url: database.url }), join(folder, "postgres-keys"), receivers, 5_000, say),
        await beside(folder, receivers, say)
      ]
    } finally {
      await postgres.stop()
      await receivers.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
