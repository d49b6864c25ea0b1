/** The response policy through the plain client. */
import { decode, ResponsePolicyIn } from "@flyball/contract"
import { Effect } from "effect"
import type { Writer } from "../../foundation/writer.ts"
import { ResponsePolicies } from "../../verdicts/response-policy/service.ts"
import { acting } from "./acting.ts"
import type { Client } from "./client.ts"
import { decoded } from "./input.ts"
import type { ResponsePolicyClient } from "./types/response-policy-client-types.ts"

const decodePolicy = decode(ResponsePolicyIn)

/** The response policy over a client. */
export const responsePolicyClient = (client: Client, own: Writer): ResponsePolicyClient => {
  const act = acting(client, own)
  return {
    get: (options) =>
      client.run(ResponsePolicies.use((policies) => policies.get()).pipe(Effect.map(({ rows }) => rows)), options),
    version: (options) =>
      client.run(
        ResponsePolicies.use((policies) => policies.get()).pipe(Effect.map(({ version }) => version)),
        options
      ),
    set: (rows, options) =>
      act(
        (writer) =>
          Effect.flatMap(decoded(decodePolicy, rows), (input) =>
            ResponsePolicies.use((policies) => policies.set(input, writer, options?.ifVersion)).pipe(
              Effect.map((set) => set.rows)
            )
          ),
        options
      )
  }
}
