/** From a reading to a report: the verdicts, and what they rest on. Spec: format 1 section 6. */
import { toHex } from "../bytes.ts"
import type { Crypto } from "../crypto.ts"
import { formatNote, signatureLine } from "../note/note.ts"
import type { Note } from "../note/note.ts"
import { PACK_FORMAT } from "../pack/format.ts"
import type { Freshness } from "./anchors.ts"
import { judgeAnchors } from "./anchors.ts"
import type {
  CheckpointSigner,
  FindingCode,
  Completeness,
  ExitStatus,
  Report,
  ReportedKey,
  Verdicts
} from "./report.ts"
import { MAX_LISTED_FINDINGS } from "./report.ts"
import type { NoteJudgement } from "./judge-note.ts"
import { judgeNote, worse } from "./judge-note.ts"
import { notChecked } from "./not-checked.ts"
import type { PackReading } from "./pack-reading.ts"
import { statementOf } from "./statement.ts"
import type { Trust } from "./trust.ts"

/** What the user asked for beyond the default. */
export interface Demands {
  readonly completeness: "full" | "range" | "any"
  readonly freshness: Freshness | null
}

/** The report on a pack that was read to its end. */
export const conclude = (
  crypto: Crypto,
  reading: PackReading,
  trust: Trust,
  demands: Demands,
  file: string | null
): Report => {
  const { findings, header, origin } = reading
  const cosigners = trust.witnesses.map((one) => one.vkey)
  const judge = (note: Note, witnesses = cosigners): NoteJudgement =>
    judgeNote(crypto, note, { origin: origin!, trust, cosigners: witnesses, hints: reading.hints.vkeys })
  const checkpoint = judge(reading.checkpoint!.note)
  reportSignatures(reading, checkpoint, reading.checkpoint!.line, "E_CHECKPOINT_SIG")
  const older = reading.older === null ? null : judge(reading.older.note)
  if (older !== null) reportSignatures(reading, older, reading.older!.line, "E_CHECKPOINT_SIG")
  const { line, note } = reading.closing!
  const closing = note === null ? null : judge(note, [])
  if (closing !== null) reportSignatures(reading, closing, line, "E_PACK_SIG")
  const anchors = judgeAnchors(crypto, reading, { trust, freshness: demands.freshness, checkpoint })

  const judgements = [checkpoint, older, closing].filter((one) => one !== null)
  const integrity = findings.breaksIntegrity ? "broken" : "ok"
  const verdicts: Verdicts = {
    integrity,
    authenticity: worse(checkpoint.authenticity, closing?.authenticity ?? "bad_signature"),
    completeness: anchors.truncated ? "truncated" : integrity === "broken" ? "not_checked" : COMPLETENESS[header!.kind],
    anchoring: anchors.anchoring
  }
  const missing = [...anchors.missing, ...unmetDemand(demands, verdicts)]
  const counts = {
    records: reading.records!.count,
    parts_disclosed: reading.parts.disclosed,
    parts_withheld: reading.partsSkipped ? 0 : reading.parts.withheld(reading.partLog.count),
    parts_erased: reading.partsSkipped ? 0 : reading.erasures.count(),
    ignored_signatures: judgements.reduce((sum, one) => sum + one.ignored, 0)
  }
  const keys = keysOf(judgements, trust)
  const exit: ExitStatus = findings.hasClass(3)
    ? 3
    : findings.hasClass(1)
      ? 1
      : isAllThere(verdicts, reading, missing)
        ? 0
        : 2
  const rest = { ...common(reading, file), verdicts, counts, keys, cosignatures: anchors.cosignatures, exit }
  return {
    ...rest,
    not_checked: [...missing, ...notChecked(reading, trust, counts)],
    statement: statementOf(rest),
    checkpoint: {
      size: reading.checkpoint!.size,
      rootHex: toHex(reading.checkpoint!.root),
      note: noteText(reading.checkpoint!.note),
      signers: signersOf(checkpoint, trust)
    },
    roots: rootsOf(reading)
  }
}

/** The report on a file that could not be read as a pack. */
export const concludeUnreadable = (reading: PackReading, file: string | null): Report => {
  const rest = {
    ...common(reading, file),
    verdicts: {
      integrity: "not_checked",
      authenticity: "not_checked",
      completeness: "not_checked",
      anchoring: "none"
    } as const,
    counts: {
      records: reading.records?.count ?? 0,
      parts_disclosed: 0,
      parts_withheld: 0,
      parts_erased: 0,
      ignored_signatures: 0
    },
    keys: [],
    cosignatures: [],
    exit: 3 as const
  }
  return {
    ...rest,
    not_checked: [
      "Nothing was checked to its end: reading stopped at a line that cannot be read.",
      ...unlisted(reading)
    ],
    statement: statementOf(rest),
    checkpoint: null,
    roots: new Map()
  }
}

const common = (reading: PackReading, file: string | null) => ({
  file,
  format: reading.origin === null ? null : PACK_FORMAT,
  origin: reading.origin,
  tree_size: reading.checkpoint?.size ?? reading.header?.tree_size ?? null,
  findings: reading.findings.listed(),
  findingCount: reading.findings.count,
  header: reading.header
})

const COMPLETENESS: { readonly [kind in "full" | "range" | "sparse"]: Completeness } = {
  full: "full",
  range: "range",
  sparse: "sparse_claimed"
}

const reportSignatures = (reading: PackReading, judged: NoteJudgement, line: number, code: FindingCode): void => {
  for (const { vkey } of judged.bad) {
    reading.findings.add(code, {
      line,
      expected: `a signature by key ${toHex(vkey.keyId)} of ${vkey.name}`,
      found: "one that does not verify"
    })
  }
  if (judged.lacksPinned)
    reading.findings.add("E_KEY_UNKNOWN", {
      line,
      expected: "a signature by a pinned key",
      found: "none by any of them"
    })
}

const unmetDemand = ({ completeness }: Demands, verdicts: Verdicts): ReadonlyArray<string> => {
  const enough =
    completeness === "any" ||
    verdicts.completeness === "full" ||
    (completeness === "range" && verdicts.completeness === "range")
  return enough ? [] : [`A ${completeness} pack was asked for, and completeness is ${verdicts.completeness}.`]
}

const isAllThere = (verdicts: Verdicts, reading: PackReading, missing: ReadonlyArray<string>): boolean =>
  verdicts.integrity === "ok" &&
  verdicts.authenticity === "signed_by_pinned_key" &&
  missing.length === 0 &&
  !reading.findings.hasClass(2)

const keysOf = (judgements: ReadonlyArray<NoteJudgement>, trust: Trust): ReadonlyArray<ReportedKey> => {
  const keys = new Map<string, ReportedKey>()
  for (const judged of judgements) {
    for (const [role, lines] of [
      ["log", judged.signed],
      ["witness", judged.cosigned]
    ] as const) {
      for (const { vkey } of lines) {
        const key = {
          key_id: toHex(vkey.keyId),
          name: vkey.name,
          role,
          pinned: role === "witness" || trust.logs.includes(vkey)
        }
        keys.set(`${role} ${key.key_id} ${key.name}`, key)
      }
    }
  }
  return [...keys.values()]
}

const signersOf = ({ signed }: NoteJudgement, trust: Trust): ReadonlyArray<CheckpointSigner> =>
  signed.map(({ vkey }) => ({
    keyId: toHex(vkey.keyId),
    publicKeyHex: toHex(vkey.publicKey),
    pinned: trust.logs.includes(vkey)
  }))

const rootsOf = (reading: PackReading): ReadonlyMap<number, string> => {
  const roots = new Map<number, string>()
  if (reading.tree!.holds) for (const [size, root] of reading.tree!.roots) roots.set(size, toHex(root))
  if (reading.olderHolds) roots.set(reading.older!.size, toHex(reading.older!.root))
  roots.set(reading.checkpoint!.size, toHex(reading.checkpoint!.root))
  return roots
}

const noteText = (note: Note): string =>
  formatNote(
    note.text,
    note.signatures.map(({ keyId, name, signature }) => signatureLine(name, keyId, signature))
  )

const unlisted = (reading: PackReading): ReadonlyArray<string> => {
  const more = reading.findings.count - MAX_LISTED_FINDINGS
  return more > 0 ? [`${more} more findings are not listed.`] : []
}
