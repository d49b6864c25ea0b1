/** Rows of the catalogue: digests of positions. */
import type { BodyOf } from "./body-type.ts"
import { count, hash, id, type KindRow, must, writer } from "./row.ts"

const recorded = [
  must("bucket_id", id("bkt_")),
  must("digest", hash),
  must("from_ms", count),
  must("positions", { type: "integer", min: 1, max: 7_200 }),
  must("revision", { type: "integer", min: 1, max: 1_000_000 }),
  writer
] as const

/** The body of `positions.recorded`. */
export type PositionsRecordedBody = BodyOf<typeof recorded>

/** The rows, in the order of the specification's table. */
export const trackingKinds: ReadonlyArray<KindRow> = [
  {
    kind: "positions.recorded",
    about:
      "The positions of one vehicle in the hour from `from_ms`: how many, and SHA-256 over their salt, a line feed " +
      "and their columns as canonical JSON. An erasure deletes the salt too. Late positions make a `revision`.",
    body: recorded,
    parts: []
  }
]
