/** The access mapping through the plain client. */
import { Effect } from "effect"
import { resolveDraft, resolveInput } from "../../registry/access-mapping/resolve-input.ts"
import { AccessMapping } from "../../registry/access-mapping/service.ts"
import type { Writer } from "../../foundation/writer.ts"
import type { AccessMappingClient } from "./types/access-mapping-client-types.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decodeClaims, decoded, decodeDraft, decodeMapping } from "./input.ts"

/** The access mapping over a client. */
export const accessMappingClient = (client: Client, own: Writer): AccessMappingClient => {
  const act = acting(client, own)
  return {
    get: (options) =>
      client.run(
        AccessMapping.use((mapping) => mapping.get),
        options
      ),
    set: (mapping, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodeMapping, mapping), (input) =>
            AccessMapping.use((access) => access.set(input, writer))
          ),
        options
      ),
    resolve: (claims, options) =>
      client.run(
        Effect.flatMap(decoded(decodeClaims, claims), (input) =>
          AccessMapping.use((access) => Effect.map(access.current, (mapping) => resolveInput(mapping, input)))
        ),
        options
      ),
    resolveDraft: (draft, options) => client.run(Effect.map(decoded(decodeDraft, draft), resolveDraft), options)
  }
}
