/** The state of the kill switch in plain words, as the commands print it. */
import type { KillActivation, KillReach, KillStatus } from "@flyball/contract"
import { Agents } from "@flyball/core"
import { Effect } from "effect"
import type { HostRuntime } from "../../host/open-host.ts"
import { counted } from "../command.ts"

/** Items of a list that are printed; the rest is counted. `--json` has up to 10,000. */
const LISTED = 20

const effects: { readonly [response in KillActivation["response"]]: string } = {
  notify: "Operators are notified; agents continue",
  step_down: "Each agent acts one tier below its own",
  drain: "Actions under way may end; no new action begins",
  halt: "No new side effect begins",
  quarantine: "No new side effect begins, and the agent's keys may only read this state and acknowledge it"
}

/** Describes the effect of a response, as a sentence without its full stop. */
export const effectOf = (response: KillActivation["response"]): string => effects[response]

/** Whom an activation reaches, a line for each sort. */
export const reachLines = async (runtime: HostRuntime, reach: KillReach): Promise<ReadonlyArray<string>> => {
  const named = await runtime.runPromise(
    Effect.forEach(reach.agents.slice(0, LISTED), (id) =>
      Agents.use((agents) => agents.get(id)).pipe(
        Effect.map(({ name }) => `${name} (${id})`),
        Effect.catchTag("AgentNotFound", () => Effect.succeed(id))
      )
    )
  )
  const instances = (reach.instances ?? []).slice(0, LISTED).map(instanceName)
  return [
    reach.agent_count === 0
      ? "It reaches no registered agent."
      : `It reaches ${list(counted(reach.agent_count, "agent"), named, reach.agent_count)}`,
    reach.instance_count === null
      ? "Which of their instances were seen in the last hour is read behind the halt: flyball kill-status lists them."
      : reach.instance_count === 0
        ? "None of their instances was seen in the last hour."
        : `Seen in the last hour: ${list(counted(reach.instance_count, "instance"), instances, reach.instance_count)}`,
    ...(reach.models.length === 0 ? [] : [`Models: ${reach.models.join(", ")}`])
  ]
}

const list = (count: string, names: ReadonlyArray<string>, all: number): string =>
  `${count}: ${names.join(", ")}${all > names.length ? `, and ${all - names.length} more` : ""}`

const instanceName = ({
  agent_id: agent,
  instance_id: instance
}: NonNullable<KillReach["instances"]>[number]): string => `${instance} of ${agent}`

/** The state of a target, in one sentence. */
export const statusSentence = (
  words: string,
  { drill, effective_response: effective, epoch, halted }: KillStatus
): string =>
  (halted
    ? `HALTED: ${words}. ${effectOf(effective!)}`
    : effective !== null
      ? `Not halted, under ${effective}: ${words}. ${effectOf(effective)}`
      : drill
        ? `Not halted: ${words}. A shadow drill is under way`
        : `Not halted: ${words}. No activation`) + ` (epoch ${epoch}).`

/** One activation: who, when, and how far its instances are. */
export const activationLines = (activation: KillActivation): ReadonlyArray<string> => {
  const { acknowledged, actor, expected, instances, reason, response, stopped, unconfirmed } = activation
  const drill = activation.drill === null ? "" : `, a ${activation.drill.mode} drill`
  const silent = instances.filter(({ state }) => state === "requested" || state === "unconfirmed")
  const all = expected ?? "not read yet"
  return [
    `${activation.id}: ${response}${drill} of ${activation.target_type} ${activation.target_id}, by ${actor} at ` +
      `${activation.activated_at}, epoch ${activation.epoch}${reason === null ? "" : `: ${JSON.stringify(reason)}`}`,
    `  acknowledged ${acknowledged}/${all}, stopped ${stopped}/${all}, unconfirmed ${unconfirmed}` +
      (activation.unlisted === 0 ? "" : `; ${activation.unlisted} more instances were seen and are not listed`),
    ...(silent.length === 0
      ? []
      : [
          "  silent: " +
            list(counted(silent.length, "instance"), silent.slice(0, LISTED).map(instanceName), silent.length)
        ])
  ]
}
