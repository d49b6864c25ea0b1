/** Replay: the documents equal the fold of the records. */
import { Replay } from "@flyball/core"
import { Effect } from "effect"
import { reading } from "./chain.ts"
import type { Checker } from "./checked.ts"

/** Says where documents and records differ. */
export const replayChecker: Checker = (world) =>
  reading(
    world,
    Replay.use(({ check }) =>
      Effect.map(check, ({ differences }) => differences.map((difference) => `replay: ${JSON.stringify(difference)}`))
    )
  )
