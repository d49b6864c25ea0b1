/** Drills through the plain client. */
import { decode, DrillIn, DrillListQuery } from "@flyball/contract"
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { Drills } from "../../verdicts/drills/service.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import type { DrillsClient } from "./types/drills-client-types.ts"
import { decoded, query } from "./input.ts"

const decodeDrill = decode(DrillIn)
const decodeList = query(decode(DrillListQuery))

/** Drills over a client. */
export const drillsClient = (client: Client, own: Writer): DrillsClient => {
  const act = acting(client, own)
  return {
    start: (drill, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeDrill, drill), (input) => Drills.use((drills) => drills.start(input, writer))),
        options
      ),
    get: (id, options) =>
      client.run(
        Drills.use((drills) => drills.get(id)),
        options
      ),
    list: (filter = {}, options) =>
      client.run(
        Effect.flatMap(decodeList(filter), (read) => Drills.use((drills) => drills.list(read))),
        options
      ),
    complete: (id, options) => act((writer) => Drills.use((drills) => drills.complete(id, writer)), options),
    attest: (id, options) => act((writer) => Drills.use((drills) => drills.attest(id, writer)), options)
  }
}
