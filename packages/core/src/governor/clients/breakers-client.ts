/** Circuit breakers through the plain client. */
import { BreakerCreate, BreakerPreviewIn, BreakerReleaseIn, BreakerUpdate, decode } from "@flyball/contract"
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { Breakers } from "../../verdicts/breakers/service.ts"
import { acting } from "./acting.ts"
import type { BreakersClient } from "./types/breakers-client-types.ts"
import type { Client } from "./client.ts"
import { decoded } from "./input.ts"

const decodeCreate = decode(BreakerCreate)
const decodeUpdate = decode(BreakerUpdate)
const decodeRelease = decode(BreakerReleaseIn)
const decodePreview = decode(BreakerPreviewIn)

/** Breakers over a client. */
export const breakersClient = (client: Client, own: Writer): BreakersClient => {
  const act = acting(client, own)
  return {
    arm: (agentId, breaker, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeCreate, breaker), (input) =>
            Breakers.use((breakers) => breakers.arm(agentId, input, writer))
          ),
        options
      ),
    update: (breakerId, change, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeUpdate, change), (input) =>
            Breakers.use((breakers) => breakers.update(breakerId, input, writer))
          ),
        options
      ),
    release: (breakerId, why = {}, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeRelease, why), (input) =>
            Breakers.use((breakers) => breakers.release(breakerId, input, writer))
          ),
        options
      ),
    list: (agentId, options) =>
      client.run(
        Breakers.use((breakers) => breakers.list(agentId)),
        options
      ),
    check: (options) =>
      client.run(
        Breakers.use((breakers) => breakers.check()),
        options
      ),
    preview: (agentId, trial, options) =>
      client.run(
        Effect.flatMap(decoded(decodePreview, trial), (input) =>
          Breakers.use((breakers) => breakers.preview(agentId, input))
        ),
        options
      )
  }
}
