/** Ingest keys through the plain client. */
import { decode, IngestKeyCreate } from "@flyball/contract"
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { IngestKeys } from "../../registry/ingest-keys/service.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded } from "./input.ts"
import type { IngestKeysClient } from "./types/ingest-keys-client-types.ts"

const decodeMint = decode(IngestKeyCreate)

/** Ingest keys over a client. */
export const ingestKeysClient = (client: Client, own: Writer): IngestKeysClient => {
  const act = acting(client, own)
  return {
    mint: (input, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeMint, input), (read) => IngestKeys.use((keys) => keys.mint(read, writer))),
        options
      ),
    list: (options) =>
      client.run(
        IngestKeys.use((keys) => keys.list),
        options
      ),
    revoke: (id, options) => act((writer) => IngestKeys.use((keys) => keys.revoke(id, writer)), options)
  }
}
