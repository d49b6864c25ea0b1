/** `flyball release`: releases one activation of the kill switch from the host. */
import { decode, KillReleaseIn } from "@flyball/contract"
import { Kill } from "@flyball/core"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { operator, readInput, writing } from "./kill-command.ts"

const decodeRelease = decode(KillReleaseIn)

/** Says what still holds. The rule of the second person counts here too. */
export const run = command("release", async (args) => {
  const { positionals, values } = readArguments(args, { reason: { type: "string" } }, true)
  const input = readInput(decodeRelease, {
    ...(positionals.length === 0 ? {} : { activation_event: positionals.join(" ") }),
    ...(values.reason === undefined ? {} : { reason: values.reason })
  })
  return writing(async (runtime) => {
    const { status } = await runtime.runPromise(Kill.use((kill) => kill.release(input, operator)))
    console.log(
      status.activation_event === null
        ? `Nothing holds for ${status.target_id} any more.`
        : `${status.activation_event} still holds for ${status.target_id}: ${status.response}.`
    )
    return exitStatus.ok
  })
})
