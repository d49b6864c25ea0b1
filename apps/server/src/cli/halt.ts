/** `flyball halt`: stops agents from the host, also while nobody can sign in. */
import { killResponses } from "@flyball/contract"
import { isRecoveryReason, MAX_REASON } from "@flyball/core"
import type { KillResponse } from "@flyball/rules"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { actFromHost } from "./host-acts/act-from-host.ts"
import { haltNow } from "./kill/acts.ts"
import { findTarget, type FoundTarget, namedTarget, targetFlags } from "./kill/target.ts"
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
  // Reads first: what is named wrongly is refused before a server is called or anything waits for the store's lock.
  let found: FoundTarget | undefined
  const status = await withHost({ readOnly: true, small: true, keyless: true }, async (runtime) => {
    found = await findTarget(runtime, named)
    if (dryRun) console.log(await haltNow(runtime, found, { response, reason: reason ?? null, json, dryRun }))
    return exitStatus.ok
  })
  if (dryRun) return status
  const { id, type } = found!.target
  return actFromHost(
    { command: "halt", named, response, reason: reason!, json },
    type === "agent" || type === "model"
      ? {
          method: "POST",
          path: "/api/v1/bound/kill/activate",
          role: "operator",
          body: { target_type: type, target_id: id, response, reason: reason! }
        }
      : null
  )
})
