/**
 * Changes to a pack, each with the verifier's expected result. The table is the specification; its reader is a test.
 */
import {
  formatCheckpoint,
  formatNote,
  fromBase64,
  fromUtf8,
  noteSigner,
  signatureLine,
  toBase64,
  toHex,
  utf8
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { Chain } from "./chain.ts"
import { checkpointNote, makeChain, sealAll } from "./chain.ts"
import type { PackPlan } from "./packs.ts"
import { linesOf, makePack, reseal } from "./packs.ts"

/** One thing done to a pack. */
export interface Mutation {
  readonly name: string
  readonly plan: PackPlan
  /** Changes the lines. What it returns is closed again by the log's key, unless `open` says to leave Z and N alone. */
  readonly change: (lines: Array<string>, chain: Chain) => ReadonlyArray<string> | void
  readonly open?: boolean
  readonly exit: 1 | 2 | 3
  /** Exactly these codes. */
  readonly codes: ReadonlyArray<string>
}

/** The chain that every mutation starts from. Record 4 erases part `owner` of record 2. */
export const chain = makeChain({ seed: 7, length: 12 })
const stranger = makeChain({ seed: 8, length: 12, origin: "flyball.example/stranger" })

const full: PackPlan = { kind: "full" }
const range: PackPlan = { kind: "range", from: 3, to: 7 }
const sparse: PackPlan = { kind: "sparse", seqs: [1, 2, 4, 6, 9] }

/** Index of the n-th line with this tag. */
const at = (lines: ReadonlyArray<string>, tag: string, n = 0): number => {
  const found = lines.map((line, i) => (line.startsWith(`${tag} `) || line === tag ? i : -1)).filter((i) => i >= 0)[n]
  if (found === undefined) throw new Error(`There is no ${tag} line number ${n}.`)
  return found
}

const edit = (lines: Array<string>, tag: string, n: number, change: (payload: string) => string): void => {
  const i = at(lines, tag, n)
  lines[i] = `${tag} ${change(lines[i]!.slice(2))}`
}

const swap = (lines: Array<string>, a: number, b: number): void => {
  ;[lines[a], lines[b]] = [lines[b]!, lines[a]!]
}

/** A hash or signature in base64 with one bit changed. */
const flip = (text: string): string => {
  const bytes = fromBase64(text)!
  bytes[9]! ^= 1
  return toBase64(bytes)
}

const text64 = (payload: string): string => fromUtf8(fromBase64(payload)!)!
const base64 = (text: string): string => toBase64(utf8(text))
const header = (lines: Array<string>, change: object): void =>
  edit(lines, "H", 0, (json) => JSON.stringify({ ...(JSON.parse(json) as object), ...change }))
const recordLine = (seq: number): string => `R ${fromUtf8(chain.records[seq]!.bytes)}`
const isDisclosure = (line: string): boolean => line.startsWith("D ")
const disclosures = (lines: ReadonlyArray<string>): ReadonlyArray<number> =>
  lines.flatMap((line, i) => (isDisclosure(line) ? [i] : []))
const other = noteSigner(nodeCrypto, { name: chain.origin, seed: new Uint8Array(32).fill(9) })

/** N over what the lines are, signed by some line of signature. */
const closeWith = (lines: Array<string>, sign: (text: string) => string): void => {
  const resealed = linesOf(reseal(chain, lines))
  const text = text64(resealed.at(-1)!.slice(2)).split("\n\n")[0] + "\n"
  lines.splice(0, lines.length, ...resealed.slice(0, -1), `N ${base64(formatNote(text, [sign(text)]))}`)
}
const forged = (text: string): string =>
  signatureLine(chain.signer.name, chain.signer.keyId, nodeCrypto.ed25519Sign(new Uint8Array(32).fill(9), utf8(text)))

const dropped =
  (tag: string, n: number) =>
  (lines: Array<string>): void =>
    void lines.splice(at(lines, tag, n), 1)

/** Mutations of the records. */
const ofRecords: ReadonlyArray<Mutation> = [
  {
    name: "drop a record in the middle",
    plan: full,
    change: dropped("R", 5),
    exit: 1,
    codes: ["E_COUNT", "E_PART_MISMATCH", "E_SEQ"]
  },
  {
    name: "drop a record, and close nothing again",
    plan: full,
    change: dropped("R", 5),
    open: true,
    exit: 1,
    codes: ["E_COUNT", "E_PACK_DIGEST", "E_PART_MISMATCH", "E_SEQ"]
  },
  { name: "drop record 0", plan: full, change: dropped("R", 0), exit: 1, codes: ["E_COUNT", "E_SEQ"] },
  {
    name: "drop all records of a full pack",
    plan: { ...full, disclose: false },
    change: (lines) => lines.filter((line) => !/^[RE] /.test(line)),
    exit: 1,
    codes: ["E_COUNT"]
  },
  ...[1, 2, 3, 4, 5].map((k): Mutation => ({
    name: `truncate the tail by ${k}`,
    plan: { ...full, disclose: false },
    change: (lines) => void lines.splice(at(lines, "R", 12 - k), k),
    exit: 1,
    codes: ["E_COUNT"]
  })),
  ...[1, 2, 3].map((k): Mutation => ({
    name: `truncate the tail by ${k} and say so in the header and S`,
    plan: { ...full, disclose: false },
    change: (lines) => {
      lines.splice(at(lines, "R", 12 - k), k)
      header(lines, { to: 11 - k })
      edit(lines, "S", 0, () => `0 ${11 - k}`)
    },
    exit: 1,
    codes: ["E_COUNT", "E_PROOF"]
  })),
  {
    name: "insert a forged record",
    plan: full,
    change: (lines) => void lines.splice(at(lines, "R", 6), 0, recordLine(5).replace('"seq":5', '"seq":6')),
    exit: 1,
    codes: ["E_COUNT", "E_PREV", "E_SEQ"]
  },
  {
    name: "swap two neighbours",
    plan: { ...full, disclose: false },
    change: (lines) => swap(lines, at(lines, "R", 5), at(lines, "R", 6)),
    exit: 1,
    codes: ["E_ROOT", "E_SEQ", "E_TIME"]
  },
  {
    name: "duplicate a record",
    plan: full,
    change: (lines) => void lines.splice(at(lines, "R", 5), 0, recordLine(5)),
    exit: 1,
    codes: ["E_COUNT", "E_SEQ"]
  },
  {
    name: "change a record",
    plan: full,
    change: (lines) => edit(lines, "R", 5, (record) => record.replace("agt_", "agt_9")),
    exit: 1,
    codes: ["E_PREV", "E_ROOT"]
  },
  {
    name: "change the last record",
    plan: full,
    change: (lines) => edit(lines, "R", 11, (record) => record.replace("agt_", "agt_9")),
    exit: 1,
    codes: ["E_ROOT"]
  },
  {
    name: "change a record of a range",
    plan: range,
    change: (lines) => edit(lines, "R", 2, (record) => record.replace("agt_", "agt_9")),
    exit: 1,
    codes: ["E_PREV", "E_ROOT"]
  },
  {
    name: "change a record of a sparse pack",
    plan: { ...sparse, disclose: false },
    change: (lines) => edit(lines, "R", 3, (record) => record.replace("agt_", "agt_9")),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "replace a suffix and chain it again",
    plan: { ...full, disclose: false },
    change: (lines) => {
      const changed = sealAll(
        chain.records.slice(6).map((record) => ({ ...record, body: { ...record.body, action: "nothing" } })),
        chain.records.slice(0, 6)
      )
      changed.forEach((record, seq) => edit(lines, "R", seq, () => fromUtf8(record.bytes)!))
    },
    exit: 1,
    codes: ["E_ROOT"]
  },
  {
    name: "splice a record of another chain in",
    plan: { ...full, disclose: false },
    change: (lines) => edit(lines, "R", 7, () => fromUtf8(stranger.records[7]!.bytes)!),
    exit: 1,
    codes: ["E_PREV", "E_ROOT", "E_TIME"]
  },
  {
    name: "splice all records of another chain in",
    plan: { ...full, disclose: false },
    change: (lines) => stranger.records.forEach((record, seq) => edit(lines, "R", seq, () => fromUtf8(record.bytes)!)),
    exit: 1,
    codes: ["E_ORIGIN", "E_ROOT"]
  },
  {
    name: "set the seq of a record",
    plan: full,
    change: (lines) => edit(lines, "R", 11, (record) => record.replace('"seq":11', '"seq":13')),
    exit: 1,
    codes: ["E_PART_MISMATCH", "E_ROOT", "E_SEQ"]
  },
  {
    name: "a sparse pack whose records do not ascend",
    plan: { ...sparse, disclose: false },
    change: (lines) => {
      const r = at(lines, "R", 0)
      lines.splice(at(lines, "R", 1) + 2, 0, ...lines.splice(r, 2))
    },
    exit: 1,
    codes: ["E_SEQ", "E_TIME"]
  },
  {
    name: "a sparse pack with a record beyond to",
    plan: { ...sparse, disclose: false },
    change: (lines) => header(lines, { to: 8 }),
    exit: 1,
    codes: ["E_SEQ"]
  },
  {
    name: "a sparse pack with a record twice",
    plan: { ...sparse, disclose: false },
    change: (lines) =>
      void lines.splice(at(lines, "R", 1), 0, ...lines.slice(at(lines, "R", 1), at(lines, "R", 1) + 2)),
    exit: 1,
    codes: ["E_SEQ"]
  }
]

/** Mutations of proofs, counts and the header. */
const ofProofs: ReadonlyArray<Mutation> = [
  {
    name: "an inclusion proof without its last hash",
    plan: sparse,
    change: (lines) => edit(lines, "I", 2, (line) => line.slice(0, line.lastIndexOf(" "))),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "an inclusion proof with a hash too many",
    plan: sparse,
    change: (lines) => edit(lines, "I", 2, (line) => `${line} ${line.split(" ")[1]}`),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "an inclusion proof with a bit changed",
    plan: sparse,
    change: (lines) =>
      edit(lines, "I", 2, (line) =>
        line
          .split(" ")
          .map((field, i) => (i === 2 ? flip(field) : field))
          .join(" ")
      ),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "the proof of another record",
    plan: sparse,
    change: (lines) => swap(lines, at(lines, "I", 1), at(lines, "I", 2)),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "the proof of another record under this one's seq",
    plan: sparse,
    change: (lines) => edit(lines, "I", 1, (line) => lines[at(lines, "I", 3)]!.replace(/^I \d+/, line.split(" ")[0]!)),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "no proof at all",
    plan: sparse,
    change: (lines) => edit(lines, "I", 1, (line) => line.split(" ")[0]!),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "a hash beside the range changed",
    plan: range,
    change: (lines) =>
      edit(lines, "S", 0, (line) =>
        line
          .split(" ")
          .map((field, i) => (i === 2 ? flip(field) : field))
          .join(" ")
      ),
    exit: 1,
    codes: ["E_ROOT"]
  },
  {
    name: "a hash beside the range left out",
    plan: range,
    change: (lines) => edit(lines, "S", 0, (line) => line.slice(0, line.lastIndexOf(" "))),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "hashes beside a full pack",
    plan: full,
    change: (lines) => edit(lines, "S", 0, (line) => `${line} ${toBase64(new Uint8Array(32))}`),
    exit: 1,
    codes: ["E_PROOF"]
  },
  {
    name: "S with another range",
    plan: range,
    change: (lines) => edit(lines, "S", 0, (line) => line.replace("3 7", "3 8")),
    exit: 1,
    codes: ["E_COUNT"]
  },
  {
    name: "a header with another tree size",
    plan: range,
    change: (lines) => header(lines, { tree_size: 13 }),
    exit: 1,
    codes: ["E_COUNT"]
  },
  {
    name: "a header with from after to",
    plan: range,
    change: (lines) => header(lines, { from: 8 }),
    exit: 1,
    codes: ["E_COUNT", "E_SEQ"]
  },
  {
    name: "a header with to behind the tree",
    plan: { ...range, to: 11 },
    change: (lines) => header(lines, { to: 12 }),
    exit: 1,
    codes: ["E_COUNT"]
  },
  {
    name: "a range that calls itself full",
    plan: range,
    change: (lines) => header(lines, { kind: "full" }),
    exit: 1,
    codes: ["E_COUNT"]
  }
]

/** Mutations of disclosed and erased parts. */
const ofParts: ReadonlyArray<Mutation> = [
  {
    name: "swap the contents of two parts",
    plan: full,
    change: (lines) => {
      const [a, b] = disclosures(lines) as [number, number]
      const [left, right] = [lines[a]!.split(" "), lines[b]!.split(" ")]
      lines[a] = [...left.slice(0, 3), ...right.slice(3)].join(" ")
      lines[b] = [...right.slice(0, 3), ...left.slice(3)].join(" ")
    },
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "use the salt of another part",
    plan: full,
    change: (lines) => {
      const [a, b] = disclosures(lines) as [number, number]
      const [left, right] = [lines[a]!.split(" "), lines[b]!.split(" ")]
      lines[a] = [...left.slice(0, 3), right[3], left[4]].join(" ")
    },
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "change the content of a part",
    plan: full,
    change: (lines) => edit(lines, "D", 1, (line) => line.replace(/ [^ ]*$/, ` ${base64("{}")}`)),
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "empty a part",
    plan: full,
    change: (lines) => edit(lines, "D", 1, (line) => line.replace(/ [^ ]*$/, " ")),
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "disclose a part under another name",
    plan: full,
    change: (lines) => edit(lines, "D", 0, (line) => line.replace(/^(\d+) [a-z]+/, "$1 unknown")),
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "disclose a part of a record that the pack does not hold",
    plan: { ...range, disclose: false },
    change: (lines) => void lines.splice(at(lines, "S") + 1, 0, `D 9 args ${toBase64(new Uint8Array(32))} e30=`),
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "disclose a part twice",
    plan: full,
    change: (lines) => void lines.splice(at(lines, "D"), 0, lines[at(lines, "D")]!),
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "disclose out of order",
    plan: full,
    change: (lines) => swap(lines, at(lines, "D", 0), at(lines, "D", 1)),
    exit: 1,
    codes: ["E_PART_MISMATCH"]
  },
  {
    name: "take the erasing record out of a sparse pack",
    plan: { ...sparse, disclose: false },
    change: (lines) => void lines.splice(at(lines, "R", 2), 2),
    exit: 1,
    codes: ["E_PART_UNEXPLAINED"]
  },
  {
    name: "take the erasing record out of a full pack",
    plan: { ...full, disclose: false },
    change: dropped("R", 4),
    exit: 1,
    codes: ["E_COUNT", "E_PART_UNEXPLAINED", "E_SEQ"]
  },
  {
    name: "claim an erasure that never was",
    plan: { ...full, disclose: false },
    change: (lines) => edit(lines, "E", 0, () => "2 profile 4"),
    exit: 1,
    codes: ["E_PART_UNEXPLAINED"]
  },
  {
    name: "name another erasing record",
    plan: { ...full, disclose: false },
    change: (lines) => edit(lines, "E", 0, () => "2 owner 5"),
    exit: 1,
    codes: ["E_PART_UNEXPLAINED"]
  },
  {
    name: "state an erasure twice",
    plan: { ...full, disclose: false },
    change: (lines) => void lines.splice(at(lines, "E"), 0, lines[at(lines, "E")]!),
    exit: 1,
    codes: ["E_PART_UNEXPLAINED"]
  },
  {
    name: "disclose and erase one part",
    plan: { ...full, disclose: false },
    change: (lines, { records }) => {
      const { bytes, name, salt } = records[2]!.parts[0]!
      lines.splice(at(lines, "E"), 0, `D 2 ${name} ${toBase64(salt)} ${toBase64(bytes)}`)
    },
    exit: 1,
    codes: ["E_PART_UNEXPLAINED"]
  },
  {
    name: "erase a part of a record that the pack does not hold",
    plan: { ...sparse, seqs: [1, 4, 6], disclose: false },
    change: (lines) => void lines.push("E 2 owner 4"),
    exit: 1,
    codes: ["E_PART_UNEXPLAINED"]
  }
]

/** Mutations of what is signed, and by whom. */
const ofSignatures: ReadonlyArray<Mutation> = [
  {
    name: "a checkpoint signed by another key under the log's key id",
    plan: full,
    change: (lines) =>
      edit(lines, "C", 0, (note) => {
        const text = `${text64(note).split("\n\n")[0]}\n`
        return base64(formatNote(text, [forged(text)]))
      }),
    exit: 1,
    codes: ["E_CHECKPOINT_SIG"]
  },
  {
    name: "a checkpoint with a right and a wrong line by the log's key",
    plan: full,
    change: (lines) =>
      edit(lines, "C", 0, (note) => {
        const text = `${text64(note).split("\n\n")[0]}\n`
        return base64(formatNote(text, [chain.signer.line(text), forged(text)]))
      }),
    exit: 1,
    codes: ["E_CHECKPOINT_SIG"]
  },
  {
    name: "a checkpoint signed by another key",
    plan: full,
    change: (lines) =>
      edit(lines, "C", 0, (note) => {
        const text = `${text64(note).split("\n\n")[0]}\n`
        return base64(formatNote(text, [other.line(text)]))
      }),
    exit: 2,
    codes: ["E_KEY_UNKNOWN"]
  },
  {
    name: "a checkpoint with another root",
    plan: full,
    change: (lines) =>
      edit(lines, "C", 0, () => {
        const text = formatCheckpoint({ origin: chain.origin, size: 12, root: new Uint8Array(32) })
        return base64(formatNote(text, [chain.signer.line(text)]))
      }),
    exit: 1,
    codes: ["E_ROOT"]
  },
  {
    name: "a checkpoint of another chain",
    plan: { ...full, disclose: false, note: checkpointNote(stranger) },
    change: () => undefined,
    exit: 1,
    codes: ["E_KEY_UNKNOWN", "E_ORIGIN", "E_ROOT"]
  },
  {
    name: "a pack closed by another key under the log's key id",
    plan: full,
    open: true,
    change: (lines) => closeWith(lines, forged),
    exit: 1,
    codes: ["E_PACK_SIG"]
  },
  {
    name: "a pack closed by another key",
    plan: full,
    open: true,
    change: (lines) => closeWith(lines, other.line),
    exit: 2,
    codes: ["E_KEY_UNKNOWN"]
  },
  {
    name: "a pack wholly made by another key that it names itself",
    plan: { ...full, hints: [other.vkey] },
    open: true,
    change: (lines) => {
      edit(lines, "C", 0, (note) => {
        const text = `${text64(note).split("\n\n")[0]}\n`
        return base64(formatNote(text, [other.line(text)]))
      })
      closeWith(lines, other.line)
    },
    exit: 2,
    codes: ["E_KEY_UNKNOWN"]
  },
  {
    name: "the checkpoint's note as the closing one",
    plan: full,
    open: true,
    change: (lines) => edit(lines, "N", 0, () => lines[2]!.slice(2)),
    exit: 1,
    codes: ["E_PACK_SIG"]
  },
  {
    name: "the closing note as the checkpoint",
    plan: full,
    change: (lines) => edit(lines, "C", 0, () => lines.at(-1)!.slice(2)),
    exit: 1,
    codes: ["E_ORIGIN", "E_ROOT"]
  },
  {
    name: "a closing note of four lines",
    plan: full,
    open: true,
    change: (lines) => closeWith2(lines, (text) => `${text}more\n`),
    exit: 1,
    codes: ["E_PACK_SIG"]
  },
  {
    name: "a closing note that is none",
    plan: full,
    open: true,
    change: (lines) => edit(lines, "N", 0, () => base64("hello\n")),
    exit: 1,
    codes: ["E_PACK_SIG"]
  },
  {
    name: "the closing note of another pack",
    plan: full,
    open: true,
    change: (lines) =>
      edit(lines, "N", 0, (note) =>
        base64(resign(text64(note), (text) => text.replace(/\n[^\n]+\n$/, `\n${toBase64(new Uint8Array(32))}\n`)))
      ),
    exit: 1,
    codes: ["E_PACK_DIGEST"]
  },
  {
    name: "a closing note with another size",
    plan: full,
    open: true,
    change: (lines) =>
      edit(lines, "N", 0, (note) => base64(resign(text64(note), (text) => text.replace("\n12\n", "\n13\n")))),
    exit: 1,
    codes: ["E_COUNT"]
  },
  {
    name: "a closing note with another origin",
    plan: full,
    open: true,
    change: (lines) =>
      edit(lines, "N", 0, (note) => base64(resign(text64(note), (text) => text.replace("/chain/", "/other/")))),
    exit: 1,
    codes: ["E_ORIGIN"]
  },
  {
    name: "a closing note with another origin and another size",
    plan: full,
    open: true,
    change: (lines) =>
      edit(lines, "N", 0, (note) =>
        base64(resign(text64(note), (text) => text.replace("/chain/", "/other/").replace("\n12\n", "\n13\n")))
      ),
    exit: 1,
    codes: ["E_PACK_SIG"]
  },
  {
    name: "Z with another number of lines",
    plan: full,
    open: true,
    change: (lines) => edit(lines, "Z", 0, (line) => line.replace(/^\d+/, "7")),
    exit: 1,
    codes: ["E_COUNT"]
  },
  {
    name: "Z with another digest",
    plan: full,
    open: true,
    change: (lines) => edit(lines, "Z", 0, (line) => line.replace(/ [0-9a-f]{64}/, ` ${toHex(new Uint8Array(32))}`)),
    exit: 1,
    codes: ["E_PACK_DIGEST"]
  },
  {
    name: "a line changed and nothing closed again",
    plan: full,
    open: true,
    change: (lines) => header(lines, { generator: "somebody else" }),
    exit: 1,
    codes: ["E_PACK_DIGEST"]
  },
  {
    name: "the origin of the first line changed",
    plan: full,
    change: (lines) => void (lines[0] = "evidence-pack/v1 flyball.example/other"),
    exit: 1,
    codes: ["E_KEY_UNKNOWN", "E_ORIGIN"]
  }
]

const resign = (note: string, change: (text: string) => string): string => {
  const text = change(`${note.split("\n\n")[0]}\n`)
  return formatNote(text, [chain.signer.line(text)])
}
const closeWith2 = (lines: Array<string>, change: (text: string) => string): void =>
  edit(lines, "N", 0, (note) => base64(resign(text64(note), change)))

/** Mutations of the older checkpoint: rolled back, forked, or proven wrongly. */
const ofHeads: ReadonlyArray<Mutation> = [
  {
    name: "two heads: an older checkpoint of the same size and another root",
    plan: { ...full, older: 12 },
    change: (lines) =>
      edit(lines, "G", 0, () => {
        const text = formatCheckpoint({ origin: chain.origin, size: 12, root: new Uint8Array(32) })
        return base64(formatNote(text, [chain.signer.line(text)]))
      }),
    exit: 1,
    codes: ["E_SPLIT_VIEW"]
  },
  {
    name: "an older checkpoint with another root",
    plan: { ...full, older: 7 },
    change: (lines) =>
      edit(lines, "G", 0, () => {
        const text = formatCheckpoint({ origin: chain.origin, size: 7, root: new Uint8Array(32) })
        return base64(formatNote(text, [chain.signer.line(text)]))
      }),
    exit: 1,
    codes: ["E_CONSISTENCY"]
  },
  {
    name: "an older checkpoint that is larger",
    plan: { ...full, older: 7 },
    change: (lines) => edit(lines, "G", 0, () => base64(checkpointNote(makeChain({ seed: 7, length: 13 })))),
    exit: 1,
    codes: ["E_CONSISTENCY"]
  },
  {
    name: "a consistency proof with a bit changed",
    plan: { ...full, older: 7 },
    change: (lines) =>
      edit(lines, "X", 0, (line) =>
        line
          .split(" ")
          .map((hash, i) => (i === 1 ? flip(hash) : hash))
          .join(" ")
      ),
    exit: 1,
    codes: ["E_CONSISTENCY"]
  },
  {
    name: "no consistency proof",
    plan: { ...full, older: 7 },
    change: (lines) => void (lines[at(lines, "X")] = "X"),
    exit: 1,
    codes: ["E_CONSISTENCY"]
  },
  {
    name: "an older checkpoint of another chain",
    plan: { ...full, older: 7 },
    change: (lines) => edit(lines, "G", 0, () => base64(checkpointNote(stranger, 7))),
    exit: 1,
    codes: ["E_CONSISTENCY", "E_KEY_UNKNOWN", "E_ORIGIN"]
  },
  {
    name: "an older checkpoint with a forged signature",
    plan: { ...full, older: 7 },
    change: (lines) =>
      edit(lines, "G", 0, (note) => {
        const text = `${text64(note).split("\n\n")[0]}\n`
        return base64(formatNote(text, [forged(text)]))
      }),
    exit: 1,
    codes: ["E_CHECKPOINT_SIG"]
  },
  {
    name: "an older checkpoint that no pinned key signed",
    plan: { ...full, older: 7 },
    change: (lines) =>
      edit(lines, "G", 0, (note) => {
        const text = `${text64(note).split("\n\n")[0]}\n`
        return base64(formatNote(text, [other.line(text)]))
      }),
    exit: 2,
    codes: ["E_KEY_UNKNOWN"]
  }
]

/** The whole table. */
export const mutations: ReadonlyArray<Mutation> = [...ofRecords, ...ofProofs, ...ofParts, ...ofSignatures, ...ofHeads]

/** The pack that a mutation makes. */
export const mutate = async (mutation: Mutation): Promise<Uint8Array> => {
  const lines = [...linesOf(await makePack(chain, mutation.plan))]
  const changed = mutation.change(lines, chain) ?? lines
  return mutation.open === true ? utf8(`${changed.join("\n")}\n`) : reseal(chain, changed)
}
