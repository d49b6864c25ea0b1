/** `flyball kill-status`: what is halted, since when, and who acknowledged. Reads only. */
import { Kill } from "@flyball/core"
import { Effect } from "effect"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { findTarget, namedTarget, targetFlags } from "./kill/target.ts"
import { activationLines, statusSentence } from "./kill/words.ts"
import { withHost } from "./with-host.ts"

/** Prints the state of a target, and every activation that reaches it. */
export const run = command("kill-status", async (args) => {
  const { positionals, values } = readArguments(args, { ...targetFlags, json: { type: "boolean" } }, true)
  const named = namedTarget(positionals, values)
  return withHost({ readOnly: true, small: true, keyless: true }, async (runtime) => {
    const { former = [], target, words } = await findTarget(runtime, named)
    const found = await runtime.runPromise(
      Kill.use((kill) =>
        Effect.forEach([target, ...former], (one) => Effect.all([kill.status(one), kill.holding(one)]))
      )
    )
    const [status] = found.find(([{ effective_response }]) => effective_response !== null) ?? found[0]!
    const all = new Map(found.flatMap(([, holding]) => holding).map((one) => [one.id, one]))
    const activations = [...all.values()]
    console.log(
      values.json === true
        ? JSON.stringify({ status, activations }, null, 2)
        : [statusSentence(words, status), ...activations.flatMap(activationLines)].join("\n")
    )
    return exitStatus.ok
  })
})
