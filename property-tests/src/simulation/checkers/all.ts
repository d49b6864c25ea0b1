/** All checkers, and how they are run. */
import { Effect } from "effect"
import { breakersChecker } from "./breakers.ts"
import { captureChecker } from "./capture.ts"
import { chainChecker } from "./chain.ts"
import { type Checked, type Checker, readRecords } from "./checked.ts"
import { deliveriesChecker } from "./deliveries.ts"
import { driftChecker } from "./drift.ts"
import { evaluationsChecker } from "./evaluations.ts"
import { extractionsChecker } from "./extractions.ts"
import { flowsChecker } from "./flows.ts"
import { guardChecker } from "./guard.ts"
import { killChecker } from "./kill.ts"
import { monitorsChecker } from "./monitors.ts"
import { outboxChecker } from "./outbox.ts"
import { packsChecker } from "./packs.ts"
import { plansChecker } from "./plans.ts"
import { quotasChecker } from "./quotas.ts"
import { replayChecker } from "./replay.ts"
import { reviewsChecker } from "./reviews.ts"
import { screensChecker } from "./screens.ts"
import { standingsChecker } from "./standings.ts"
import { toolsChecker } from "./tools.ts"
import { tracksChecker } from "./tracks.ts"

const checkers: { readonly [name: string]: Checker } = {
  chain: chainChecker,
  replay: replayChecker,
  guard: guardChecker,
  capture: captureChecker,
  outbox: outboxChecker,
  deliveries: deliveriesChecker,
  evaluations: evaluationsChecker,
  kill: killChecker,
  breakers: breakersChecker,
  reviews: reviewsChecker,
  standings: standingsChecker,
  screens: screensChecker,
  flows: flowsChecker,
  tools: toolsChecker,
  drift: driftChecker,
  quotas: quotasChecker,
  monitors: monitorsChecker,
  tracks: tracksChecker,
  plans: plansChecker,
  extractions: extractionsChecker,
  packs: packsChecker
}

/** Runs every checker over the world as it is now. A checker that fails has found something too. */
export const checkAll = Effect.fnUntraced(function* (world: Omit<Checked, "records">) {
  const records = yield* readRecords(world.ports.storage)
  const problems = [...world.ledger.problems]
  for (const [name, checker] of Object.entries(checkers)) {
    problems.push(
      ...(yield* checker({ ...world, records }).pipe(
        Effect.catch((error) =>
          Effect.succeed([`${name}: ${error instanceof Error ? error.message : JSON.stringify(error)}`])
        )
      ))
    )
  }
  return problems
})
