/** Ingest keys in the embedding API, derived from the contract. */
import type { Info, IngestKeyCreate, IngestKeyMinted, IngestKeyOut, Input } from "@flyball/contract"
import type { ActOptions, CallOptions } from "../call-options.ts"

/** An ingest key to mint. */
export interface IngestKeyInput extends Input<typeof IngestKeyCreate> {}

/** An ingest key, without the key. */
export interface IngestKeyInfo extends Info<typeof IngestKeyOut> {}

/** A minted key: the only answer with `key`. */
export interface IngestKeyMintedInfo extends Info<typeof IngestKeyMinted> {}

/** The tokens of agents that call the HTTP API of this governor. Spec: document 1 section 5; decision 0037. */
export interface IngestKeysClient {
  /** Makes a key. The answer shows it this once: only its SHA-256 is kept. */
  mint(input: IngestKeyInput, options?: ActOptions): Promise<IngestKeyMintedInfo>
  /** Oldest first, revoked ones too. */
  list(options?: CallOptions): Promise<ReadonlyArray<IngestKeyInfo>>
  /** Revokes a key for good. One that is revoked already is answered as it is. */
  revoke(id: string, options?: ActOptions): Promise<IngestKeyInfo>
}
