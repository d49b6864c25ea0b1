/** `flyball kill-status`: the kill state of an agent or a model, from the store. */
import { decode, KillStatusQuery } from "@flyball/contract"
import { Kill } from "@flyball/core"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { readInput } from "./kill-command.ts"
import { withHost } from "./with-host.ts"

const decodeStatus = decode(KillStatusQuery)

/** Prints the status as JSON, as GET /bound/kill/status answers it. */
export const run = command("kill-status", async (args) => {
  const { positionals, values } = readArguments(args, { model: { type: "boolean" } }, true)
  const { target_id: id } = readInput(decodeStatus, {
    target_type: values.model === true ? "model" : "agent",
    ...(positionals.length === 0 ? {} : { target_id: positionals.join(" ") })
  })
  return withHost({ readOnly: true, small: true }, async (runtime) => {
    const target = { type: values.model === true ? "model" : "agent", id } as const
    console.log(JSON.stringify(await runtime.runPromise(Kill.use((kill) => kill.status(target))), null, 2))
    return exitStatus.ok
  })
})
