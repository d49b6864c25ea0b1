/** The kill switch through the plain client. */
import {
  ActivationPutAside,
  decode,
  KillAckIn,
  KillActivateIn,
  KillEventsQuery,
  KillReleaseIn,
  KillRequestIn,
  KillStatusQuery
} from "@flyball/contract"
import { Effect } from "effect"
import { Chain } from "../../chain/chain.ts"
import type { Writer } from "../../foundation/writer.ts"
import { everyUnit } from "../../foundation/scope.ts"
import { Kill, type TaggedStatus } from "../../verdicts/kill/service.ts"
import { type Acting, acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded, query } from "./input.ts"
import type { KillClient } from "./types/kill-client-types.ts"

const decodeActivate = decode(KillActivateIn)
const decodeRelease = decode(KillReleaseIn)
const decodeAck = decode(KillAckIn)
const decodeRequest = decode(KillRequestIn)
const decodeEvents = query(decode(KillEventsQuery))
const decodeStatus = query(decode(KillStatusQuery))

/** The kill switch over a client. */
export const killClient = (client: Client, own: Writer): KillClient => killOver(client, own, acting(client, own))

/** How long one wait of a watch is at most: closing the governor waits for it. Unit: milliseconds. */
const WATCH_TURN_MS = 1_000

const targetOf = (read: KillStatusQuery) =>
  ({ type: read.target_type === "model" ? "model" : "agent", id: read.target_id }) as const

/** The state of a target after one with this tag; null where it is the same for a while. */
const changeAfter = (targetType: string, targetId: string, tag: string | null) =>
  Effect.flatMap(decodeStatus({ target_type: targetType, target_id: targetId }), (read) =>
    Kill.use((kill) => kill.statusAfter(targetOf(read), tag, tag === null ? 0 : WATCH_TURN_MS))
  )

const killOver = ({ run }: Client, own: Writer, act: Acting): KillClient => ({
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
        (read) => Kill.use((kill) => kill.status(targetOf(read), everyUnit, read.nonce))
      ),
      options
    ),
  ack: (input, options) =>
    run(
      Effect.flatMap(decoded(decodeAck, input), (read) => Kill.use((kill) => kill.ack(read, own))),
      options
    ),
  request: (input, options) =>
    act(
      (writer) =>
        Effect.flatMap(decoded(decodeRequest, input), (read) => Kill.use((kill) => kill.request(read, writer))),
      options
    ),
  events: (filter = {}, options) =>
    run(
      Effect.flatMap(decodeEvents(filter), (read) => Kill.use((kill) => kill.events(read))),
      options
    ),
  watch: async function* (targetType, targetId, options) {
    for (let tag: string | null = null; ;) {
      const changed: TaggedStatus | null = await run(changeAfter(targetType, targetId, tag), options)
      if (changed === null) continue
      tag = changed.tag
      yield changed.status
    }
  },
  activation: (id, options) =>
    run(
      Kill.use((kill) => kill.activation(id)),
      options
    ),
  certificate: (id, options) =>
    run(
      Effect.gen(function* () {
        const { tree_size: size } = yield* (yield* Chain).head
        const found = yield* (yield* Kill).certify(id, size)
        return found ?? (yield* new ActivationPutAside({ activationId: id }))
      }),
      options
    )
})
