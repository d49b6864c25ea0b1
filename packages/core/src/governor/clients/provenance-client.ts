/** The provenance of agents, through the plain client. */
import { Effect } from "effect"
import { Provenance } from "../../registry/provenance/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded, decodeProvenance } from "./input.ts"
import type { ProvenanceClient } from "./types/provenance-client-types.ts"

/** Provenance over a client. */
export const provenanceClient = (client: Client, own: Writer): ProvenanceClient => {
  const act = acting(client, own)
  return {
    add: (agentId, piece, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeProvenance, piece), (input) =>
            Provenance.use((provenance) => provenance.add(agentId, input, writer))
          ),
        options
      ),
    list: (agentId, options) =>
      client.run(
        Provenance.use((provenance) => provenance.list(agentId)),
        options
      )
  }
}
