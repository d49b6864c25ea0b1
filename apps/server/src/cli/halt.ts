/** `flyball halt`: stops an agent from the host, with no identity provider. */
import { decode, KillActivateIn } from "@flyball/contract"
import { Kill } from "@flyball/core"
import { readArguments } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { operator, readInput, writing } from "./kill-command.ts"

const decodeActivate = decode(KillActivateIn)

/** Prints the activation, which `release` takes. */
export const run = command("halt", async (args) => {
  const { positionals, values } = readArguments(
    args,
    { reason: { type: "string" }, response: { type: "string" }, model: { type: "boolean" } },
    true
  )
  const input = readInput(decodeActivate, {
    target_type: values.model === true ? "model" : "agent",
    ...(positionals.length === 0 ? {} : { target_id: positionals.join(" ") }),
    ...(values.reason === undefined ? {} : { reason: values.reason }),
    ...(values.response === undefined ? {} : { response: values.response })
  })
  return writing(async (runtime) => {
    const { activation_event, reach } = await runtime.runPromise(Kill.use((kill) => kill.activate(input, operator)))
    console.log(activation_event)
    console.error(
      `flyball: ${input.response} is in force for ${counted(reach.agent_count, "agent")}, with ` +
        `${counted(reach.instance_count, "instance")} seen in the last hour.`
    )
    return exitStatus.ok
  })
})
