/** Answers of GET /chain/genesis as a server makes them, for tests. */
import {
  encodeRecord,
  formatCheckpoint,
  formatNote,
  NO_RECORD,
  noteSigner,
  portableCrypto,
  PREVIOUS,
  previousBytes,
  rootOfHashes,
  toBase64,
  toHex,
  utf8
} from "@flyball/evidence"

/** Options of a sample chain. `seed` numbers its key. */
export interface SampleChain {
  readonly origin: string
  readonly seed?: number
  /** The chain that it follows. */
  readonly after?: string
}

/** The genesis of a chain of two records. */
export const sampleGenesis = ({ after, origin, seed = 1 }: SampleChain) => {
  const signer = noteSigner(portableCrypto, { name: origin, seed: new Uint8Array(32).fill(seed) })
  const salt = new Uint8Array(32).fill(9)
  const previous =
    after === undefined
      ? null
      : previousBytes({
          origin: after,
          checkpoint: null,
          signedSize: 3,
          signedRootHex: "0a".repeat(32),
          storedSize: 2,
          storedRootHex: "0b".repeat(32)
        })
  const parts =
    previous === null ? [] : [{ c: toHex(portableCrypto.commitment(salt, PREVIOUS, previous)), name: PREVIOUS }]
  const record = encodeRecord({
    at: "2026-11-26T00:00:00.000Z",
    body: { hash: "sha256-rfc6962", origin, vkeys: [signer.vkey] },
    kind: "chain.genesis",
    parts,
    prev: NO_RECORD,
    seq: 0
  })
  const second = portableCrypto.leafHash(utf8("another record"))
  const root = rootOfHashes(portableCrypto, [portableCrypto.leafHash(record), second])
  const text = formatCheckpoint({ origin, size: 2, root })
  return {
    origin,
    record: new TextDecoder().decode(record),
    previous: previous === null ? null : { salt: toBase64(salt), bytes: toBase64(previous) },
    checkpoint: formatNote(text, [signer.line(text)]),
    proof: [`sha256:${toHex(second)}`],
    vkeys: [signer.vkey]
  }
}
