/** The writer of an act: the one that a call names, or the governor's own. */
import type { Effect } from "effect"
import type { GovernorServices } from "../governor-layer.ts"
import { isCallersWriterId, type Writer } from "../../foundation/writer.ts"
import type { ActOptions } from "./call-options.ts"
import type { Client } from "./client.ts"
import { GovernorError } from "../../foundation/governor-error.ts"

/** Runs an act in the name of the call's writer. */
export type Acting = <A>(
  act: (writer: Writer) => Effect.Effect<A, unknown, GovernorServices>,
  options?: ActOptions | null
) => Promise<A>

/** Acts over a client; `own` is the writer of calls that name none. */
export const acting =
  ({ run }: Client, own: Writer): Acting =>
  async (act, options) =>
    run(act(writerOf(own, options?.writer)), options)

/** The writer of this id. Fails: throws `GovernorError` with `invalid_writer`. */
export const writerOf = (own: Writer, id: string | null | undefined): Writer => {
  if (id === undefined || id === null) return own
  if (!isCallersWriterId(id))
    throw new GovernorError(
      "invalid_writer",
      "The writer is expected to be `system:` and 1 to 64 of a-z, 0-9, _ and -, or an id `key_…` or `usr_…`. " +
        "Names of people do not belong there."
    )
  return { id }
}
