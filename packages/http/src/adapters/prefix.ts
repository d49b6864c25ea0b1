/** Where the API is mounted in a host's address space. */
import { GovernorError } from "@flyball/core"

const FORM = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)+$/

/**
 * A prefix without a slash at its end; empty for the root.
 *
 * - Fails: throws `GovernorError`, code `invalid_option`, for what is no path of plain segments.
 */
export const readPrefix = (given: string | null | undefined): string => {
  if (given === undefined || given === null || given === "" || given === "/") return ""
  const prefix = typeof given === "string" ? given.replace(/\/$/, "") : ""
  if (!FORM.test(prefix))
    throw new GovernorError(
      "invalid_option",
      "`prefix` is expected to be a path of plain segments, such as /flyball or /internal/flyball."
    )
  return prefix
}

/** Path and query below the prefix; null for what is not below it. */
export const belowPrefix = (url: string, prefix: string): string | null => {
  const local = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "")
  if (prefix === "") return local === "" ? "/" : local
  if (!local.startsWith(prefix)) return null
  const rest = local.slice(prefix.length)
  return rest === "" ? "/" : rest.startsWith("/") ? rest : rest.startsWith("?") ? `/${rest}` : null
}
