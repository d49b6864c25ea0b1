/** The kill switch as a host sees it: what its rows do not say. */
import { decode, KillStatusQuery } from "@flyball/contract"
import { Effect } from "effect"
import { targetOf } from "../../verdicts/kill/module.ts"
import { Kill, type TaggedStatus } from "../../verdicts/kill/service.ts"
import type { KillClient } from "../governor.ts"
import type { Client } from "./client.ts"
import { query } from "./input.ts"

const decodeStatus = query(decode(KillStatusQuery))

/** How long one wait of a watch is at most: closing the governor waits for it. Unit: milliseconds. */
const WATCH_TURN_MS = 1_000

/** The state of a target after one with this tag; null where it is the same for a while. */
const changeAfter = (targetType: string, targetId: string, tag: string | null) =>
  Effect.flatMap(decodeStatus({ target_type: targetType, target_id: targetId }), (read) =>
    Kill.use((kill) => kill.statusAfter(targetOf(read), tag, tag === null ? 0 : WATCH_TURN_MS))
  )

/** Watches the state of a target. */
export const watchKill = ({ run }: Client): KillClient["watch"] =>
  async function* (targetType, targetId, options) {
    for (let tag: string | null = null; ;) {
      const changed: TaggedStatus | null = await run(changeAfter(targetType, targetId, tag), options)
      if (changed === null) continue
      tag = changed.tag
      yield changed.status
    }
  }
