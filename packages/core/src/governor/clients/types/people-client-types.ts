/** People in the embedding API, derived from the contract. */
import type { PersonIn, PrincipalOut } from "@flyball/contract"
import type { CallOptions } from "../call-options.ts"
import type { Info, Input } from "@flyball/contract"

/** A person: `subject` as the identity provider `issuer` names them. Without an issuer it is the host's own name. */
export interface PersonInput extends Input<typeof PersonIn> {}

/** The person behind a pseudonym. `issuer` and `subject` are null once the identity was erased. */
export interface PersonInfo extends Info<typeof PrincipalOut> {}

/**
 * Pseudonyms of people: records name these, never a name or an address. Spec: format 1 sections 1.2 and 8,
 * `principal.seen`; decision 0016.
 */
export interface PeopleClient {
  /**
   * The `writer` of this person's acts, `usr_…`. The same person gets the same one from every process and over the
   * mounted HTTP API; a new one at first sight, or after the identity was erased.
   */
  writer(person: PersonInput, options?: CallOptions): Promise<string>
  /** Who a pseudonym is. Fails: `principal_not_found`. */
  get(id: string, options?: CallOptions): Promise<PersonInfo>
}
