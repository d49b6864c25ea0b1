/** What agents are made of, through the plain door. */
import { Effect } from "effect"
import { Provenance } from "../../registry/provenance/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import { acting } from "./acting.ts"
import type { Door } from "./client.ts"
import { decoded, decodeProvenance } from "./input.ts"
import type { ProvenanceDoor } from "./provenance-client-types.ts"

/** Provenance over a door. */
export const provenanceDoor = (door: Door, own: Writer): ProvenanceDoor => {
  const act = acting(door, own)
  return {
    add: (agentId, piece, options) => act((writer) => Effect.flatMap(decoded(decodeProvenance, piece), (input) => Provenance.use((provenance) => provenance.add(agentId, input, writer))), options),
    list: (agentId, options) => door.run(Provenance.use((provenance) => provenance.list(agentId)), options)
  }
}
