/** The access mapping through the plain door. */
import { Effect } from "effect"
import { resolveDraft, resolveInput } from "../../registry/access-mapping/resolve-input.ts"
import { AccessMapping } from "../../registry/access-mapping/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { AccessMappingDoor } from "./access-mapping-client-types.ts"
import { acting } from "./acting.ts"
import type { Door } from "./client.ts"
import { decodeClaims, decoded, decodeDraft, decodeMapping } from "./input.ts"

/** The access mapping over a door. */
export const accessMappingDoor = (door: Door, own: Writer): AccessMappingDoor => {
  const act = acting(door, own)
  return {
    get: (options) => door.run(AccessMapping.use((mapping) => mapping.get), options),
    set: (mapping, options) => act((writer) => Effect.flatMap(decoded(decodeMapping, mapping), (input) => AccessMapping.use((access) => access.set(input, writer))), options),
    resolve: (claims, options) =>
      door.run(Effect.flatMap(decoded(decodeClaims, claims), (input) => AccessMapping.use((access) => Effect.map(access.current, (mapping) => resolveInput(mapping, input)))), options),
    resolveDraft: (draft, options) => door.run(Effect.map(decoded(decodeDraft, draft), resolveDraft), options)
  }
}
