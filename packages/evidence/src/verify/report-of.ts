/** From a pack that was read to a report: the verdicts, and what they rest on. Spec: format 1 section 6. */
import { toHex } from "../bytes.ts"
import type { Note } from "../note/note.ts"
import { formatNote, signatureLine } from "../note/note.ts"
import { PACK_FORMAT } from "../pack/format.ts"
import type { Anchors } from "./checks/anchors.ts"
import type { NoteJudgement, PackSignatures } from "./checks/signatures.ts"
import { worse } from "./checks/signatures.ts"
import { notChecked, unlistedFindings } from "./not-checked.ts"
import type { PackFacts, ReadPack } from "./pack-facts.ts"
import type { CheckpointSigner, Completeness, ExitStatus, Report, ReportedKey, Verdicts } from "./report.ts"
import { statementOf } from "./statement.ts"
import type { Trust } from "./trust.ts"

/** Inputs of the report besides the pack. */
export interface Judgement {
  readonly trust: Trust
  readonly signatures: PackSignatures
  readonly anchors: Anchors
  readonly requireCompleteness: "full" | "range" | "any"
  /** Name of the file, for the report. */
  readonly file: string | null
}

/** The report on a pack that was read to its end. */
export const reportOn = (pack: ReadPack, judgement: Judgement): Report => {
  const { anchors, file, requireCompleteness, signatures, trust } = judgement
  const { checkpoint, closing, older } = signatures
  const { findings, header } = pack
  const integrity = findings.breaksIntegrity ? "broken" : "ok"
  const whole = integrity === "broken" ? "not_checked" : COMPLETENESS[header.kind]
  const verdicts: Verdicts = {
    integrity,
    authenticity: worse(checkpoint.authenticity, closing?.authenticity ?? "bad_signature"),
    completeness: anchors.truncated ? "truncated" : whole,
    anchoring: anchors.anchoring
  }
  const missing = [...anchors.missing, ...unmetDemand(requireCompleteness, verdicts)]
  const judged = [checkpoint, older, closing].filter((one) => one !== null)
  const counts = {
    records: pack.records.count,
    parts_disclosed: pack.parts.disclosed,
    parts_withheld: pack.parts.withheld,
    parts_erased: pack.parts.erased,
    ignored_signatures: judged.reduce((sum, one) => sum + one.ignored, 0)
  }
  const rest = {
    ...common(pack, file),
    verdicts,
    counts,
    keys: keysOf(judged, trust),
    cosignatures: anchors.cosignatures,
    exit: exitOf(pack, verdicts, missing)
  }
  return {
    ...rest,
    not_checked: [...missing, ...notChecked(pack, trust, counts)],
    statement: statementOf(rest),
    checkpoint: {
      size: pack.checkpoint.size,
      rootHex: toHex(pack.checkpoint.root),
      note: noteText(pack.checkpoint.note),
      signers: signersOf(checkpoint, trust)
    },
    roots: rootsOf(pack)
  }
}

/** The report on a file that cannot be read as a pack. */
export const reportUnreadable = (facts: PackFacts, file: string | null): Report => {
  const rest = {
    ...common(facts, file),
    verdicts: {
      integrity: "not_checked",
      authenticity: "not_checked",
      completeness: "not_checked",
      anchoring: "none"
    } as const,
    counts: {
      records: facts.records?.count ?? 0,
      parts_disclosed: 0,
      parts_withheld: 0,
      parts_erased: 0,
      ignored_signatures: 0
    },
    keys: [],
    cosignatures: [],
    exit: 3 as const
  }
  const stopped = "Nothing was checked to its end: reading stopped at a line that cannot be read."
  return {
    ...rest,
    not_checked: [stopped, ...unlistedFindings(facts.findings)],
    statement: statementOf(rest),
    checkpoint: null,
    roots: new Map()
  }
}

const common = (facts: Pick<PackFacts, "checkpoint" | "findings" | "header" | "origin">, file: string | null) => ({
  file,
  format: facts.origin === null ? null : PACK_FORMAT,
  origin: facts.origin,
  tree_size: facts.checkpoint?.size ?? facts.header?.tree_size ?? null,
  findings: facts.findings.listed(),
  findingCount: facts.findings.count,
  header: facts.header
})

const COMPLETENESS: { readonly [kind in "full" | "range" | "sparse"]: Completeness } = {
  full: "full",
  range: "range",
  sparse: "sparse_claimed"
}

const unmetDemand = (demand: Judgement["requireCompleteness"], { completeness }: Verdicts): ReadonlyArray<string> => {
  const isEnough = demand === "any" || completeness === "full" || (demand === "range" && completeness === "range")
  return isEnough ? [] : [`A ${demand} pack was required, and completeness is ${completeness}.`]
}

const exitOf = ({ findings }: ReadPack, verdicts: Verdicts, missing: ReadonlyArray<string>): ExitStatus => {
  if (findings.hasClass(3)) return 3
  if (findings.hasClass(1)) return 1
  const isSigned = verdicts.authenticity === "signed_by_pinned_key"
  return verdicts.integrity === "ok" && isSigned && missing.length === 0 && !findings.hasClass(2) ? 0 : 2
}

const keysOf = (judgements: ReadonlyArray<NoteJudgement>, trust: Trust): ReadonlyArray<ReportedKey> => {
  const keys = new Map<string, ReportedKey>()
  for (const judged of judgements) {
    for (const [role, lines] of [
      ["log", judged.signed],
      ["witness", judged.cosigned]
    ] as const) {
      for (const { vkey } of lines) {
        const pinned = role === "witness" || trust.logs.includes(vkey)
        const key = { key_id: toHex(vkey.keyId), name: vkey.name, role, pinned }
        keys.set(`${role} ${key.key_id} ${key.name}`, key)
      }
    }
  }
  return [...keys.values()]
}

const signersOf = ({ signed }: NoteJudgement, trust: Trust): ReadonlyArray<CheckpointSigner> =>
  signed.map(({ vkey }) => {
    const pinned = trust.logs.includes(vkey)
    return { keyId: toHex(vkey.keyId), publicKeyHex: toHex(vkey.publicKey), pinned }
  })

const rootsOf = ({ checkpoint, older, tree }: ReadPack): ReadonlyMap<number, string> => {
  const roots = new Map<number, string>()
  if (tree.holds) for (const [size, root] of tree.roots) roots.set(size, toHex(root))
  if (older?.holds === true) roots.set(older.size, toHex(older.root))
  roots.set(checkpoint.size, toHex(checkpoint.root))
  return roots
}

const noteText = ({ signatures, text }: Note): string =>
  formatNote(
    text,
    signatures.map(({ keyId, name, signature }) => signatureLine(name, keyId, signature))
  )
