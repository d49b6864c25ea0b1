/** A process that runs the executions of a store until it is killed. */
import { writeSync } from "node:fs"
import { Effect, Layer } from "effect"
import { flowsLayer } from "./flows.ts"

const { at, dir } = JSON.parse(process.argv[2]!) as { readonly at: { readonly postgres: string }; readonly dir: string }
await Effect.runPromise(
  Effect.scoped(
    Effect.andThen(
      Layer.build(flowsLayer(at, dir, true)),
      Effect.andThen(
        Effect.sync(() => writeSync(1, "runs\n")),
        Effect.never
      )
    )
  )
)
