/** The kill switch through the plain client. */
import { decode, KillActivateIn, KillReleaseIn, KillStatusQuery } from "@flyball/contract"
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { everyUnit } from "../../foundation/scope.ts"
import { Kill } from "../../verdicts/kill/service.ts"
import { type Acting, acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded, query } from "./input.ts"
import type { KillClient } from "./kill-client-types.ts"

const decodeActivate = decode(KillActivateIn)
const decodeRelease = decode(KillReleaseIn)
const decodeStatus = query(decode(KillStatusQuery))

/** The kill switch over a client. */
export const killClient = (client: Client, own: Writer): KillClient => killOver(client, acting(client, own))

const killOver = ({ run }: Client, act: Acting): KillClient => ({
  activate: (input, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeActivate, input), (read) =>
          Kill.use((kill) => kill.activate(read, writer, everyUnit, { dryRun: options?.dryRun === true }))
        ),
      options
    ),
  release: (input, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeRelease, input), (read) => Kill.use((kill) => kill.release(read, writer))),
      options
    ),
  status: (targetType, targetId, options) =>
    run(
      Effect.flatMap(
        decodeStatus({
          target_type: targetType,
          target_id: targetId,
          ...(options?.nonce === undefined ? {} : { nonce: options.nonce })
        }),
        (read) =>
          Kill.use((kill) =>
            kill.status(
              { type: read.target_type === "model" ? "model" : "agent", id: read.target_id },
              everyUnit,
              read.nonce
            )
          )
      ),
      options
    ),
  activation: (id, options) =>
    run(
      Kill.use((kill) => kill.activation(id)),
      options
    )
})
