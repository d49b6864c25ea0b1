/** Packs to try verdicts on. For tests only. */
import { concatBytes, toBase64, toHex, utf8 } from "../bytes.ts"
import { formatCheckpoint } from "../checkpoint/checkpoint.ts"
import type { Crypto } from "../crypto.ts"
import type { JsonObject } from "../json/value.ts"
import type { NodeReader } from "../merkle/coords.ts"
import { consistencyProof, inclusionProof } from "../merkle/prove.ts"
import { rootOfHashes } from "../merkle/root.ts"
import { formatNote } from "../note/note.ts"
import { noteSigner } from "../checkpoint/sign.ts"
import { packLines, packNoteText } from "../pack/lines.ts"
import { encodeRecord } from "../record/encode.ts"
import { formatInstant } from "../record/instant.ts"
import { NO_RECORD } from "../record/record.ts"

/** Name of every sample chain. */
export const SAMPLE_ORIGIN = "flyball.example/sample"

/** Makes the signature line of a text. */
export type MakeLine = (text: string) => string

/** Deviations of a pack from an ordinary one. */
export interface SamplePlan {
  readonly length: number
  /** Chains of different marks show different histories. */
  readonly mark?: string
  /** Of a sparse pack: its records. Without it the pack is full. */
  readonly seqs?: ReadonlyArray<number>
  readonly older?: number
  /** Signature lines of the checkpoint, in place of the log's. */
  readonly lines?: ReadonlyArray<MakeLine>
  readonly hints?: ReadonlyArray<string>
  /**
   * Keys that the chain had, oldest first: record 0 names the first, and each record after it rotates to the next.
   * Without it there is the log's alone.
   */
  readonly keys?: ReadonlyArray<string>
  /** Changes the text of N before it is signed. */
  readonly closing?: (text: string) => string
}

/** A log whose packs are made to order. */
export const sampleLog = (crypto: Crypto) => {
  const seed = new Uint8Array(32).fill(9)
  const signer = noteSigner(crypto, { name: SAMPLE_ORIGIN, seed })

  const recordsOf = ({ keys = [signer.vkey], length, mark = "a" }: SamplePlan): ReadonlyArray<Uint8Array> => {
    const records: Array<Uint8Array> = []
    let prev = NO_RECORD
    for (let seq = 0; seq < length; seq++) {
      const to = keys[seq]
      const [kind, body]: readonly [string, JsonObject] =
        seq === 0
          ? ["chain.genesis", { hash: "sha256-rfc6962", origin: SAMPLE_ORIGIN, vkeys: [to!] }]
          : to === undefined
            ? ["sample.made", { mark }]
            : ["key.rotated", { from_key_id: keys[seq - 1]!.split("+")[1]!, to_vkey: to }]
      const record = encodeRecord({ at: formatInstant(1_795_219_200_000 + seq), body, kind, parts: [], prev, seq })
      records.push(record)
      prev = toHex(crypto.leafHash(record))
    }
    return records
  }

  const note = (
    plan: SamplePlan,
    size: number = plan.length,
    lines: ReadonlyArray<MakeLine> = [signer.line]
  ): string => {
    const hashes = recordsOf(plan).map((record) => crypto.leafHash(record))
    const text = formatCheckpoint({ origin: SAMPLE_ORIGIN, size, root: rootOfHashes(crypto, hashes.slice(0, size)) })
    return formatNote(
      text,
      lines.map((line) => line(text))
    )
  }

  const pack = async (plan: SamplePlan): Promise<Uint8Array> => {
    const { closing = (text: string) => text, hints = [], length, lines = [signer.line], older, seqs } = plan
    const records = recordsOf(plan)
    const hashes = records.map((record) => crypto.leafHash(record))
    const read: NodeReader = async (coords) =>
      coords.map(({ index, level }) => rootOfHashes(crypto, hashes.slice(index * 2 ** level, (index + 1) * 2 ** level)))
    const out = packLines(crypto, SAMPLE_ORIGIN)
    const bytes = [
      out.open(
        {
          created: formatInstant(0),
          filter: {},
          from: 0,
          generator: "sample/1",
          kind: seqs === undefined ? "full" : "sparse",
          to: length - 1,
          tree_size: length
        },
        note(plan, length, lines),
        {
          hints,
          ...(older === undefined
            ? {}
            : { older: { note: note(plan, older), proof: await consistencyProof(crypto, older, length, read) } })
        }
      )
    ]
    for (const seq of seqs ?? records.keys()) {
      bytes.push(out.record(records[seq]!))
      if (seqs !== undefined) bytes.push(out.inclusion(seq, await inclusionProof(crypto, seq, length, read)))
    }
    if (seqs === undefined) bytes.push(out.range(0, length - 1, [], []))
    const { bytes: end, digest } = await out.close(() => new Uint8Array(64), SAMPLE_ORIGIN, signer.keyId)
    const text = closing(packNoteText(SAMPLE_ORIGIN, length, digest))
    return concatBytes(
      ...bytes,
      end.subarray(0, end.indexOf(0x0a) + 1),
      utf8(`N ${toBase64(utf8(formatNote(text, [signer.line(text)])))}\n`)
    )
  }

  return { note, pack, signer }
}
