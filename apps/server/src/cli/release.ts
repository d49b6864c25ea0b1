/** `flyball release`: ends one activation of the kill switch from the host. */
import { isRecoveryReason, MAX_REASON } from "@flyball/core"
import { readArguments, UsageError } from "./arguments.ts"
import { command } from "./command.ts"
import { actFromHost } from "./host-acts/act-from-host.ts"

/** Releases one activation, and prints what still holds. */
export const run = command("release", async (args) => {
  const {
    positionals: [id, more],
    values: { json = false, reason }
  } = readArguments(args, { reason: { type: "string" }, json: { type: "boolean" } }, true)
  if (id === undefined || more !== undefined)
    throw new UsageError("expected the id of one activation, kil_ and 26 characters; flyball kill-status lists them")
  if (reason === undefined) throw new UsageError("--reason TEXT is missing; it is sealed into the record")
  if (!isRecoveryReason(reason))
    throw new UsageError(`--reason should be 1 to ${MAX_REASON} characters, one of them visible`)
  return actFromHost(
    { command: "release", id, reason, json },
    {
      method: "POST",
      path: "/api/v1/bound/kill/release",
      role: "operator",
      body: { activation_event: id, reason }
    }
  )
})
