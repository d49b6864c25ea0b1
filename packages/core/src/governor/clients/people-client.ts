/** Pseudonyms of people through the plain client. */
import { decode, PersonIn } from "@flyball/contract"
import { Effect } from "effect"
import type { PeopleClient } from "../governor.ts"
import { HOST_ISSUER, Principals } from "../../registry/principals/service.ts"
import type { Client } from "./client.ts"
import { decoded } from "./input.ts"

const decodePerson = decode(PersonIn)

/** Pseudonyms of people over a client. */
export const peopleClient = ({ run }: Client): Pick<PeopleClient, "writer"> => ({
  writer: (person, options) =>
    run(
      Effect.flatMap(decoded(decodePerson, person), ({ issuer, subject }) =>
        Principals.use((principals) => principals.writerFor(issuer ?? HOST_ISSUER, subject))
      ).pipe(Effect.map(({ id }) => id)),
      options
    )
})
