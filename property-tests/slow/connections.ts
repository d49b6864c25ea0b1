/**
 * `npm run slow -- connections [--pairs N] [--ended N] [--every N] [--seed S]`: over Postgres, a script past every cut
 * of its lines, N pairs of cuts (500
 * unless said), while the server ends N sessions (1,000), and the fault walk with every fault at the port. `--every N`
 * takes one in N of all cuts and faults.
 */
import { type Fault, faultKinds, faultsAt, noFaults } from "@flyball/testkit"
import { memoryStorage } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { postgresStorage } from "@flyball/storage-sql"
import { freshDatabase, startPostgres } from "@flyball/testkit/postgres"
import { type ConnectionWalks, connectionWalks } from "../src/connections/connection-walk.ts"
import { cutsOf, pairsOf } from "../src/connections/plans.ts"
import { walk } from "../src/faults/walk.ts"
import { numbersOf } from "./options.ts"

const PAIRS = 500
const ENDED = 1_000
const SEED = 20_261_121
/** Walks on one database, each with tables of its own. */
const PER_DATABASE = 150

/** Runs the proof. True when every walk went well. */
export const run = async (args: ReadonlyArray<string>): Promise<boolean> => {
  const { ended = ENDED, every = 1, pairs = PAIRS, seed = SEED } = numbersOf(args, ["pairs", "ended", "every", "seed"])
  const server = await startPostgres()
  const startedAt = performance.now()
  const seconds = (): string => ((performance.now() - startedAt) / 1_000).toFixed(1)
  const sampled = <A>(all: ReadonlyArray<A>): ReadonlyArray<A> => all.filter((_, index) => index % every === 0)
  let failed = 0

  /** Walks past each plan, on a new database now and then; `how` answers what came of it. */
  const go = async <Plan>(
    name: string,
    plans: ReadonlyArray<Plan>,
    how: (
      database: { readonly walks: ConnectionWalks; readonly url: string; readonly index: number },
      plan: Plan
    ) => Promise<string>
  ): Promise<void> => {
    const came = new Map<string, number>()
    for (let from = 0; from < plans.length; from += PER_DATABASE) {
      const { drop, url } = await freshDatabase(server.url)
      const walks = await connectionWalks(server.url)
      for (const [index, plan] of plans.slice(from, from + PER_DATABASE).entries()) {
        try {
          const what = await how({ walks, url, index }, plan)
          came.set(what, (came.get(what) ?? 0) + 1)
        } catch (error) {
          failed += 1
          console.log(
            `FAIL ${name} ${JSON.stringify(plan)}: ` +
              `${error instanceof Error ? error.message.slice(0, 1_000) : String(error)}`
          )
        }
      }
      await walks.close()
      await drop()
      console.log(
        `${name}: ${Math.min(from + PER_DATABASE, plans.length)} of ${plans.length} walks, ${failed} failed, ` +
          `${seconds()} s`
      )
    }
    console.log(`${name}: ${[...came].map(([what, times]) => `${times} ${what}`).join(", ")}`)
  }

  try {
    const probe = await connectionWalks(server.url)
    const { exchanges } = await probe.past([])
    await probe.close()
    const past = async (
      { walks }: { readonly walks: ConnectionWalks },
      cuts: Parameters<ConnectionWalks["past"]>[0]
    ): Promise<string> => {
      const { again, struck } = await walks.past(cuts)
      return (
        `with ${struck.length} cuts and ` +
        `${again.no + again.unknown === 0 ? "no" : again.unknown === 0 ? "sure" : "unsure"} faults reported`
      )
    }
    await go(
      "one cut",
      sampled(cutsOf(exchanges)).map((cut) => [cut]),
      past
    )
    await go("two cuts", pairsOf(exchanges, pairs, seed), past)
    await go("sessions that end", [ended], async ({ walks }, sessions) => {
      const { again, ended } = await walks.whileEnding(sessions)
      return `with ${ended} sessions ended, ${again.no} times nothing written, ${again.unknown} times unknown`
    })
    const { board } = await walk(memoryStorage({ crypto: nodeCrypto }), noFaults)
    const faults = [...board.calls].flatMap(([point, calls]) =>
      Array.from({ length: calls }, (_, index) =>
        faultKinds.map((kind): Fault => ({ point, call: index + 1, kind }))
      ).flat()
    )
    await go("faults at the port", sampled(faults), async ({ index, url }, fault) => {
      const { board, problems } = await walk(
        postgresStorage({ url, schema: `walk${index}`, maxConnections: 3 }),
        faultsAt(fault)
      )
      if (problems.length > 0) throw new Error(problems.join("; "))
      return `${fault.kind}${board.struck.length === 1 ? "" : ", not met"}`
    })
    console.log(`connections: ${failed} walks failed; ${seconds()} s`)
    return failed === 0
  } finally {
    await server.stop()
  }
}
