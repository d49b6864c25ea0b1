/** Rows of the catalogue: the chain itself, what was erased from it and what left the house. */
import { choice, count, hash, id, keptPart, type KindRow, must, part, writer } from "./row.ts"

/** The rows, in the order of the specification's table. */
export const chainKinds: ReadonlyArray<KindRow> = [
  {
    kind: "chain.genesis",
    about: "Record 0. It names the chain and the keys that sign it.",
    body: [
      must("hash", choice("sha256-rfc6962")),
      must("origin", { type: "origin" }),
      must("vkeys", { type: "list", of: { type: "vkey" }, min: 1, max: 16 })
    ],
    parts: [
      keptPart(
        "previous",
        16_384,
        "`{checkpoint, origin, signed_root, signed_size, stored_root, stored_size}`: the chain that this one " +
          "follows after a recovery; never erased, always disclosed"
      ),
      part("reason", 16_384, "a JSON string: why a person gave up the chain before")
    ]
  },
  {
    kind: "part.erased",
    about: "The content and the salt of a part were deleted. `seq` is the record that has the part.",
    body: [
      must("name", { type: "part_name" }),
      must("reason", choice("subject_request", "legal_order", "retention", "captured_by_mistake", "security")),
      must("seq", count)
    ],
    parts: [keptPart("authority", 256, "`{writer}`: who erased it; this part is never erased")]
  },
  {
    kind: "evidence.exported",
    about: "An evidence pack was exported. `digest` is the digest in its Z line.",
    body: [
      must("digest", hash),
      must("pack_id", id("pck_")),
      must("pack_kind", choice("full", "range", "sparse")),
      must("tree_size", count),
      writer
    ],
    parts: []
  },
  {
    kind: "key.rotated",
    about:
      "A new key signs from this record on. The first checkpoint that covers this record carries the signatures of " +
      "both keys.",
    body: [must("from_key_id", { type: "key_id" }), must("to_vkey", { type: "vkey" })],
    parts: []
  }
]
