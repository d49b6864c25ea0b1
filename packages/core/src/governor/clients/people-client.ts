/** Pseudonyms of people through the plain client. */
import { decode, PersonIn } from "@flyball/contract"
import { Effect } from "effect"
import { HOST_ISSUER } from "../../registry/principals/host-issuer.ts"
import { Principals } from "../../registry/principals/service.ts"
import type { Client } from "./client.ts"
import { decoded } from "./input.ts"
import type { PeopleClient } from "./types/people-client-types.ts"

const decodePerson = decode(PersonIn)

/** Pseudonyms of people over a client. */
export const peopleClient = ({ run }: Client): PeopleClient => ({
  writer: (person, options) =>
    run(
      Effect.flatMap(decoded(decodePerson, person), ({ issuer, subject }) =>
        Principals.use((principals) => principals.writerFor(issuer ?? HOST_ISSUER, subject))
      ).pipe(Effect.map(({ id }) => id)),
      options
    ),
  get: (id, options) =>
    run(
      Principals.use((principals) => principals.get(id)),
      options
    )
})
