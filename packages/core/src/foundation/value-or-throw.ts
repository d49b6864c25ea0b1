/** Turns the exit of an effect into its value, or into the error that a host gets. */
import { codeOf, reportedTag } from "@flyball/contract"
import { Cause, Exit, Option } from "effect"
import { GovernorError } from "./governor-error.ts"

/** The value of an exit, or the error that a host gets. */
export const valueOrThrow = <A, E>(exit: Exit.Exit<A, E>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  const failure = Cause.findErrorOption(exit.cause)
  if (Option.isSome(failure)) throw governorError(failure.value)
  if (Cause.hasInterruptsOnly(exit.cause)) throw aborted()
  throw new GovernorError("internal_error", "The governor failed. This is a bug; please report it with the cause.", {
    cause: Cause.squash(exit.cause)
  })
}

/** Converts a refusal or fault into a {@link GovernorError}. */
export const governorError = (error: unknown): GovernorError => {
  if (!isTagged(error))
    return new GovernorError("internal_error", "The governor failed. This is a bug; please report it with the cause.", {
      cause: error
    })
  const members = Object.fromEntries(Object.entries(error).filter(([name]) => !ownMembers.has(name)))
  const detail = "detail" in members ? members["detail"] : Object.keys(members).length === 0 ? null : members
  return new GovernorError(codeOf(reportedTag(error._tag, error)), error.message, { detail, cause: error })
}

/** A call that its own signal ended. Whether it had begun to write is not known; sending it again is safe. */
export const aborted = (): GovernorError =>
  new GovernorError(
    "aborted",
    "The call was aborted by its signal. If it was writing, send it again: it is idempotent."
  )

/** Any call after `close()`. */
export const closed = (): GovernorError => new GovernorError("closed", "This governor is closed. Open another one.")

const ownMembers = new Set(["_tag", "name", "message", "stack", "cause"])

const isTagged = (error: unknown): error is { readonly _tag: string; readonly message: string } =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string"
