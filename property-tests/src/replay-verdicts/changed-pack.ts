/**
 * Packs that who holds the key takes apart, changes and seals again: hashes, root and signatures are right, and only
 * replay can find it.
 */
import type { GovernorServices } from "@flyball/core"
import type { Storage } from "@flyball/core/storage"
import { canonicalBytes, type JsonObject, toHex } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { type OpenPack, openPack, type OpenRecord, sealPack } from "@flyball/testkit"
import { Effect } from "effect"
import { exported, inBoundedWorld } from "./bounded-world.ts"
import { replayed, type ReplayedPack } from "./replayed.ts"

const seed = new Uint8Array(32).fill(7)

/** Runs a life in a new governor; returns its answer, and the full pack taken apart. */
export const lived = async <A>(
  life: Effect.Effect<A, unknown, GovernorServices | Storage>
): Promise<{ readonly answer: A; readonly open: OpenPack }> => {
  const [answer, { pack }] = await inBoundedWorld(Effect.all([life, exported({ kind: "full" })]))
  return { answer, open: openPack(pack) }
}

/** Sealed by who holds the key. */
export const sealed = (open: OpenPack) => sealPack(nodeCrypto, open, seed)

/** Sealed again and replayed. */
export const resealed = async (open: OpenPack): Promise<ReplayedPack> => {
  const { pack, vkey } = await sealed(open)
  return replayed(pack, vkey)
}

/** The pack with records changed where they stand. */
export const changed = (
  open: OpenPack,
  seqs: number | ReadonlyArray<number>,
  change: (record: OpenRecord) => OpenRecord
): OpenPack => ({
  ...open,
  records: open.records.map((record, seq) => ([seqs].flat().includes(seq) ? change(record) : record))
})

/** The pack with the body of one record changed. */
export const withBody = (open: OpenPack, seq: number, change: (body: JsonObject) => JsonObject): OpenPack =>
  changed(open, seq, (record) => ({ ...record, body: change(record.body) }))

/** The record with another content of a part, or with none shown. */
export const withPart = (record: OpenRecord, name: string, bytes: Uint8Array | null): OpenRecord => ({
  ...record,
  parts: record.parts.map((part) =>
    part.name === name ? { ...part, disclosed: bytes === null ? null : { salt: part.disclosed!.salt, bytes } } : part
  )
})

/** A part's JSON. */
export const partOf = (record: OpenRecord, name: string): JsonObject =>
  JSON.parse(new TextDecoder().decode(record.parts.find((part) => part.name === name)!.disclosed!.bytes))

/** A publication of which record and diff both say that it changes nothing. */
export const calledEqual = (record: OpenRecord): OpenRecord => {
  const diff = canonicalBytes({ ...partOf(record, "diff"), change: "equal", transitions: [] })
  return withPart(
    { ...record, body: { ...record.body, change: "equal", diff_digest: toHex(nodeCrypto.sha256(diff)) } },
    "diff",
    diff
  )
}

/** Records as what folds them takes them. */
export const asRead = ({ records }: OpenPack) =>
  records.map(({ body, kind, parts }, seq) => ({
    seq,
    kind,
    body,
    parts: new Map(
      parts.map(({ disclosed, name }) => [
        name,
        disclosed === null ? { state: "withheld" as const } : { state: "present" as const, bytes: disclosed.bytes }
      ])
    )
  }))
