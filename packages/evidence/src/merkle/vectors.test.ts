import { describe, expect, it } from "vitest"
import { fromBase64, toHex, utf8 } from "../bytes.ts"
import { portableCrypto } from "../crypto.ts"
import { nodeCrypto } from "../node/crypto.ts"
import { vectorText } from "../node/vectors.ts"
import { parseNote } from "../note/note.ts"
import { rootOfHashes } from "./root.ts"
import { verifyConsistency, verifyInclusion, verifySubtreeConsistency, verifySubtreeInclusion } from "./verify.ts"

/** One probe a line. Sizes go up to 2^64 - 1, so integers are read as `bigint` from their text. */
const probes = (file: string): ReadonlyArray<Probe> =>
  vectorText(`merkle-rfc6962/${file}`)
    .trim()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line, (_, value: unknown, context?: { source?: string }) =>
          typeof value === "number" ? BigInt(context!.source!) : value
        ) as Probe
    )

interface Probe {
  readonly [name: string]: unknown
  readonly desc: string
  readonly source: string
  readonly wantErr: boolean
  readonly proof: ReadonlyArray<string> | null
}

const bytes = (base64: unknown): Uint8Array => fromBase64(base64 as string)!
const proofOf = (probe: Probe): ReadonlyArray<Uint8Array> => (probe.proof ?? []).map(bytes)

describe.each([portableCrypto, nodeCrypto])("public Merkle vectors, $name", (crypto) => {
  const checks: ReadonlyArray<readonly [string, number, (probe: Probe) => boolean]> = [
    [
      "inclusion.ndjson",
      50,
      (probe) =>
        verifyInclusion(crypto, {
          seq: probe.leafIdx as bigint,
          size: probe.treeSize as bigint,
          leaf: bytes(probe.leafHash),
          proof: proofOf(probe),
          root: bytes(probe.root)
        })
    ],
    [
      "consistency.ndjson",
      50,
      (probe) =>
        verifyConsistency(crypto, {
          from: probe.size1 as bigint,
          to: probe.size2 as bigint,
          fromRoot: bytes(probe.root1),
          toRoot: bytes(probe.root2),
          proof: proofOf(probe)
        })
    ],
    [
      "subtreeinclusion.ndjson",
      102,
      (probe) =>
        verifySubtreeInclusion(crypto, {
          seq: probe.leafIdx as bigint,
          start: probe.start as bigint,
          end: probe.end as bigint,
          leaf: bytes(probe.leafHash),
          proof: proofOf(probe),
          root: bytes(probe.root)
        })
    ],
    [
      "subtreeconsistency.ndjson",
      60,
      (probe) =>
        verifySubtreeConsistency(crypto, {
          start: probe.start as bigint,
          end: probe.end as bigint,
          size: probe.size as bigint,
          subtreeRoot: bytes(probe.root1),
          root: bytes(probe.root2),
          proof: proofOf(probe)
        })
    ]
  ]

  it.each(checks)("%s: %i probes", (file, count, check) => {
    const all = probes(file)
    expect(all).toHaveLength(count)
    const wrong = all
      .filter((probe) => check(probe) === probe.wantErr)
      .map((probe) => `${probe.source}: ${probe.desc}, wantErr ${probe.wantErr}`)
    expect(wrong).toEqual([])
  })

  it("tessera's test log: leaf hashes, and the root of every checkpoint", () => {
    const log = JSON.parse(vectorText("merkle-rfc6962/tessera-testlog.json")) as {
      entries_utf8: ReadonlyArray<string>
      leaf_hashes_hex: ReadonlyArray<string>
      checkpoints: { readonly [size: string]: string }
    }
    const leaves = log.entries_utf8.map((entry) => crypto.leafHash(utf8(entry)))
    expect(leaves).toHaveLength(15)
    expect(leaves.map(toHex)).toEqual(log.leaf_hashes_hex)
    const sizes = Object.keys(log.checkpoints)
    expect(sizes.length).toBeGreaterThan(5)
    for (const size of sizes) {
      const note = parseNote(utf8(log.checkpoints[size]!))
      if (!note.ok) throw new Error(`checkpoint ${size} is no note`)
      const [, statedSize, root] = note.note.text.split("\n")
      expect([size, statedSize]).toEqual([size, size])
      expect(rootOfHashes(crypto, leaves.slice(0, Number(size)))).toEqual(fromBase64(root!))
    }
  })
})
