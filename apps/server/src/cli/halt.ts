/** `flyball halt`: stops agents from the host, also while nobody can sign in. */
import { type KillChanged, killResponses } from "@flyball/contract"
import { isRecoveryReason, Kill, MAX_REASON } from "@flyball/core"
import type { HostRuntime } from "../host/open-host.ts"
import type { KillResponse } from "@flyball/rules"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { hostOperator, openForChange } from "./kill/open-for-change.ts"
import { findTarget, type FoundTarget, namedTarget, targetFlags } from "./kill/target.ts"
import { effectOf, reachLines, statusSentence } from "./kill/words.ts"
import { withHost } from "./with-host.ts"

const isResponse = (text: string): text is KillResponse => killResponses.some((response) => response === text)

/** Activates the kill switch, and prints whom that reaches. */
export const run = command("halt", async (args) => {
  const { positionals, values } = readArguments(
    args,
    {
      ...targetFlags,
      reason: { type: "string" },
      response: { type: "string" },
      "dry-run": { type: "boolean" },
      json: { type: "boolean" }
    },
    true
  )
  const named = namedTarget(positionals, values)
  const { reason, response = "halt" } = values
  const [dryRun, json] = [values["dry-run"] === true, values.json === true]
  if (!isResponse(response)) throw new UsageError(`--response should be one of ${killResponses.join(", ")}`)
  if (reason === undefined && !dryRun) throw new UsageError("--reason TEXT is missing; it is sealed into the record")
  if (reason !== undefined && !isRecoveryReason(reason))
    throw new UsageError(`--reason should be 1 to ${MAX_REASON} characters, one of them visible`)
  const activate = async (runtime: HostRuntime, found: FoundTarget): Promise<number> => {
    const changed = await runtime.runPromise(
      Kill.use((kill) =>
        kill.activateTarget(
          {
            target: found.target,
            response,
            reason: reason ?? null,
            drill: null,
            breakerId: null,
            actor: hostOperator.id,
            requestedBy: null
          },
          { dryRun }
        )
      )
    )
    console.log(json ? JSON.stringify(changed, null, 2) : (await lines(runtime, found, response, changed)).join("\n"))
    return exitStatus.ok
  }
  // Reads first: what is named wrongly is refused before anything waits for the store's lock.
  let found: FoundTarget | undefined
  const looked = await withHost({ readOnly: true, small: true, keyless: true }, async (runtime) => {
    found = await findTarget(runtime, named)
    return dryRun ? activate(runtime, found) : exitStatus.ok
  })
  if (dryRun) return looked
  const { id, type } = found!.target
  return openForChange(
    type === "agent" || type === "model"
      ? { path: "/api/v1/bound/kill/activate", body: { target_type: type, target_id: id, response, reason: reason! } }
      : null,
    (runtime) => activate(runtime, found!)
  )
})

const lines = async (
  runtime: HostRuntime,
  { words }: FoundTarget,
  response: KillResponse,
  { activation_event: id, reach, status }: KillChanged
): Promise<ReadonlyArray<string>> => [
  id === null
    ? `Dry run, nothing was recorded: ${response} of ${words}. ${effectOf(response)}.`
    : `Activated ${id}: ${response} of ${words}.`,
  ...(await reachLines(runtime, reach)),
  `${id === null ? "Now: " : ""}${statusSentence(words, status)}`,
  ...(id === null ? [] : [`To end it: flyball release ${id} --reason TEXT`])
]
