/** Cost of a receiver that never answers to 99 others: their delays beside it, and beside one that answers, in turn. */
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { sqliteStorage } from "@flyball/storage-sql"
import { figure, type Line, median, quantile } from "./harness.ts"
import type { Running } from "./server-process.ts"
import { openWorld, report, WEBHOOKS } from "./webhooks-world.ts"

/**
 * Events of a round, each owed to all webhooks: 400 deliveries a second, far from all that it can do, so that delays
 * are no queue's.
 */
const PACED = { events: 8, everyMs: 250, pairs: 21 }
/**
 * Pairs by rank, from below and from above, between which the true median lies nineteen times of twenty: the binomial
 * distribution of 21.
 */
const CERTAIN_RANK = 6

/**
 * The 99th percentile of the delays from commit to arrival.
 *
 * Two governors stay, one with a hole among its webhooks, and take turns at getting events; the other's engine idles
 * meanwhile. So what the hole costs while nothing happens, its time limits and retries, is in both, and so is what else
 * the machine does. The difference is whether events are owed to the hole too.
 */
export const besideAHole = async (folder: string, receivers: Running, say: (text: string) => void): Promise<Line> => {
  const opened = [false, true].map((hole) =>
    openWorld(
      sqliteStorage({ file: join(folder, `beside-${hole}.db`) }),
      join(folder, `beside-${hole}-keys`),
      receivers,
      hole
    )
  )
  const [well, hole] = [await opened[0]!, await opened[1]!]
  const stops = [await well.send(), await hole.send()]
  const p99 = async (world: typeof well): Promise<number> => {
    await report(receivers)
    for (let event = 0; event < PACED.events; event++) {
      await world.happened()
      await pause(PACED.everyMs)
    }
    const healthy = PACED.events * (world === hole ? WEBHOOKS - 1 : WEBHOOKS)
    const delaysMs: Array<number> = []
    for (let polls = 0; delaysMs.length < healthy && polls < 500; polls++) {
      delaysMs.push(...(await report(receivers)).delaysMs)
      await pause(10)
    }
    return quantile(delaysMs, 0.99)
  }
  const pairs: Array<{ readonly well: number; readonly hole: number }> = []
  try {
    for (let round = -2; round < PACED.pairs; round++) {
      const first = await p99(round % 2 === 0 ? hole : well)
      const second = await p99(round % 2 === 0 ? well : hole)
      if (round >= 0) pairs.push(round % 2 === 0 ? { hole: first, well: second } : { hole: second, well: first })
    }
  } finally {
    await Promise.all(stops.map((stop) => stop()))
    await Promise.all([well.close(), hole.close()])
  }
  const ratios = pairs.map((pair) => pair.hole / pair.well).sort((a, b) => a - b)
  const [low, high] = [figure(ratios[CERTAIN_RANK - 1]!), figure(ratios.at(-CERTAIN_RANK)!)]
  say(
    `webhooks.beside_a_hole: ratios of ${pairs.length} pairs, median between ${low} and ${high} (95 %); all: ` +
      `${ratios.map(figure).join(" ")}`
  )
  const ratio = figure(median(ratios))
  return {
    name: "webhooks.beside_a_hole",
    value: figure(median(pairs.map((pair) => pair.hole))),
    unit: "ms (p99)",
    limit: figure(median(pairs.map((pair) => pair.well))),
    ratio,
    goal: "ratio < 1.2",
    met: ratio < 1.2
  }
}
