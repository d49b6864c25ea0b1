/**
 * Gives another package that serves over an open governor access to its services, and lets closing the governor wait
 * for it.
 */
import type { Context } from "effect"
import type { Capability } from "../capability/capability.ts"
import { GovernorError } from "../foundation/governor-error.ts"
import type { Storage } from "../storage/port.ts"
import type { GovernorServices } from "./governor-layer.ts"
import type { Governor } from "./governor.ts"

/** Internals of an open governor, for packages that serve its API. */
export interface Mount {
  readonly context: Context.Context<GovernorServices | Storage>
  readonly capabilities: ReadonlyArray<Capability>
  /**
   * Counts one more call under way; the answer counts it off again. `close` waits for the calls that were counted.
   *
   * - Fails: throws `GovernorError`, code `closed`.
   */
  readonly enter: () => () => void
  /** Reports whether the governor is being closed: what continues without an end of its own ends now. */
  readonly isClosing: () => boolean
}

/** Beside the handle and not in it: a host without Effect sees nothing of this. */
const mounts = new WeakMap<object, Mount>()

/** Lets {@link mountOn} find the inside of this governor. */
export const setMount = (governor: Governor, mount: Mount): void => void mounts.set(governor, mount)

/**
 * Returns the internals of a governor that `openGovernor` opened.
 *
 * - Fails: throws `GovernorError`, code `invalid_option`, for anything else.
 */
export const mountOn = (governor: Governor): Mount => {
  const mount = typeof governor === "object" && governor !== null ? mounts.get(governor) : undefined
  if (mount === undefined)
    throw new GovernorError(
      "invalid_option",
      "The governor is expected to be what `await openGovernor(…)` resolved to, of the same copy of @flyball/core."
    )
  return mount
}
