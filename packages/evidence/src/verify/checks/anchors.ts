/** Evidence outside the operator's reach: cosigners, and a checkpoint that the user kept. Spec: format 1 section 6. */
import { equalBytes, toBase64 } from "../../bytes.ts"
import type { Crypto } from "../../crypto.ts"
import { emptyRoot } from "../../merkle/fold.ts"
import { isSameKey, signatureType } from "../../note/vkey.ts"
import { quorumMet, quorumWitnesses } from "../../policy/policy.ts"
import type { Findings } from "../findings.ts"
import type { NoteJudgement } from "./signatures.ts"
import { judgeNote } from "./signatures.ts"
import type { ReadPack } from "../pack-facts.ts"
import type { Anchoring, ReportedCosignature } from "../report.ts"
import type { Trust } from "../trust.ts"

/** The result of all anchors. */
export interface Anchors {
  readonly anchoring: Anchoring
  /** The trusted checkpoint is larger than the pack's. */
  readonly truncated: boolean
  /** Demands that the pack does not meet, one sentence each. The exit is 2 at best. */
  readonly missing: ReadonlyArray<string>
  readonly cosignatures: ReadonlyArray<ReportedCosignature>
}

/** Greatest age that the user accepts. */
export interface Freshness {
  readonly maxAgeMs: number
  readonly nowMs: number
}

/** Judges the anchors of a pack that was read to its end. */
export const judgeAnchors = (
  crypto: Crypto,
  pack: ReadPack,
  given: { readonly trust: Trust; readonly freshness: Freshness | null; readonly checkpoint: NoteJudgement }
): Anchors => {
  const { checkpoint, freshness, trust } = given
  const missing: Array<string> = []
  const trusted = trust.checkpoint === null ? "not given" : judgeTrusted(crypto, pack, trust, missing)
  reportSilentWitnesses(pack, trust, checkpoint)
  const cosignatures = cosignaturesOf(trust, checkpoint)
  const quorum = trust.policy?.quorum ?? null
  const met = quorum === null || quorumMet(quorum, new Set(cosignatures.map((one) => one.policyName)))
  // A witness outside the quorum counts for nothing: neither that the checkpoint was seen, nor when.
  const named = quorum === null ? null : quorumWitnesses(quorum)
  const counting = cosignatures.filter((one) => named === null || named.has(one.policyName))
  if (!met) {
    const share = `${cosignatures.length} of ${trust.witnesses.length} known witnesses cosigned the checkpoint`
    missing.push(`The policy's quorum is not reached: ${share}. ${silentOf(named!, cosignatures)}`)
  }
  const fallback: Anchoring = trusted === "same" ? "consistent_with_trusted_checkpoint" : "none"
  let anchoring: Anchoring = met && counting.length > 0 ? "witnessed" : fallback
  if (freshness !== null && !isFresh(pack.findings, pack.checkpoint.line, counting, freshness)) {
    anchoring = counting.length > 0 ? "stale" : fallback
  }
  const reported = cosignatures.map(({ name, timeS }) => ({ name, timeS }))
  return { anchoring, truncated: trusted === "larger", missing, cosignatures: reported }
}

/** The witnesses that the quorum names and that did not cosign. */
const silentOf = (named: ReadonlySet<string>, cosignatures: ReadonlyArray<Cosigned>): string => {
  const silent = [...named].filter((name) => !cosignatures.some((one) => one.policyName === name))
  const more = silent.length - MAX_NAMED
  return `No cosignature by ${silent.slice(0, MAX_NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}.`
}

/** A policy may name a thousand witnesses. */
const MAX_NAMED = 20

/** Reports pinned witnesses without a line on the checkpoint. A line that does not verify has its own finding. */
const reportSilentWitnesses = (pack: ReadPack, { pinnedWitnesses }: Trust, { bad, cosigned }: NoteJudgement): void => {
  for (const name of pinnedWitnesses) {
    if ([...cosigned, ...bad].some(({ vkey }) => vkey.type === signatureType.cosignature && vkey.name === name))
      continue
    const expected = `a cosignature by the pinned witness ${name}`
    pack.findings.add("E_KEY_UNKNOWN", { line: pack.checkpoint.line, expected, found: "none" })
  }
}

interface Cosigned extends ReportedCosignature {
  readonly policyName: string
}

const cosignaturesOf = (trust: Trust, checkpoint: NoteJudgement): ReadonlyArray<Cosigned> => {
  // A witness that signed twice is one witness. Its newest time counts.
  const byName = new Map<string, Cosigned>()
  for (const { timeS, vkey } of checkpoint.cosigned) {
    for (const witness of trust.witnesses) {
      // Compared by key: one key may be pinned by itself and stand in the policy too.
      if (!isSameKey(witness.vkey, vkey) || !equalBytes(witness.vkey.publicKey, vkey.publicKey)) continue
      const before = byName.get(witness.name)
      if (before !== undefined && before.timeS >= timeS!) continue
      byName.set(witness.name, { name: vkey.name, policyName: witness.name, timeS: timeS! })
    }
  }
  return [...byName.values()]
}

/** The newest cosignature is young enough. A cosignature from the future says nothing about age. */
const isFresh = (
  findings: Findings,
  line: number,
  cosignatures: ReadonlyArray<Cosigned>,
  { maxAgeMs, nowMs }: Freshness
): boolean => {
  const times = cosignatures.map((one) => one.timeS * 1000).filter((ms) => ms <= nowMs + CLOCK_SKEW_MS)
  // Minus infinity without any: older than every bound.
  const newest = Math.max(...times)
  if (nowMs - newest <= maxAgeMs) return true
  const age = times.length === 0 ? "none" : `one ${Math.floor((nowMs - newest) / 1000)} s old`
  const expected = `a cosignature at most ${Math.floor(maxAgeMs / 1000)} s old`
  findings.add("E_STALE", { line, expected, found: age })
  return false
}

/** How far the clock of a cosigner may be ahead of the user's. */
const CLOCK_SKEW_MS = 5 * 60 * 1000

/** Compares the checkpoint that the user kept with the history of the pack. */
const judgeTrusted = (
  crypto: Crypto,
  pack: ReadPack,
  trust: Trust,
  missing: Array<string>
): "same" | "larger" | "other" => {
  const { findings, older, origin, tree } = pack
  const checkpoint = pack.checkpoint
  const trusted = trust.checkpoint!
  if (trusted.origin !== origin) {
    findings.add("E_ORIGIN", {
      line: null,
      expected: `a trusted checkpoint of ${origin}`,
      found: "one of another origin"
    })
    return "other"
  }
  if (!isSignedAsPinned(crypto, findings, trust, origin)) return "other"
  const compare = (root: Uint8Array): "same" | "other" => {
    if (equalBytes(root, trusted.root)) return "same"
    findings.add("E_SPLIT_VIEW", {
      line: checkpoint.line,
      expected: `root ${toBase64(trusted.root)} at size ${trusted.size}, as the trusted checkpoint says`,
      found: `root ${toBase64(root)}`
    })
    return "other"
  }
  if (trusted.size > checkpoint.size) {
    const expected = `at least the ${trusted.size} records of the trusted checkpoint`
    findings.add("E_ROLLBACK", { line: checkpoint.line, expected, found: `${checkpoint.size}` })
    return "larger"
  }
  if (trusted.size === checkpoint.size) return compare(checkpoint.root)
  if (trusted.size === 0) return compare(emptyRoot(crypto))
  if (older !== null && older.size === trusted.size && older.holds) return compare(older.root)
  const root = tree.holds ? tree.roots.get(trusted.size) : undefined
  if (root !== undefined) return compare(root)
  const why = "this pack does not hold what its root is computed from"
  const advice = "Ask for a full pack, or for one with that checkpoint inside."
  missing.push(`The trusted checkpoint of size ${trusted.size} could not be compared: ${why}. ${advice}`)
  return "other"
}

/** Without a pinned log key the checkpoint is believed as given, unless a line of a pinned witness does not verify. */
const isSignedAsPinned = (crypto: Crypto, findings: Findings, trust: Trust, origin: string): boolean => {
  const cosigners = trust.witnesses.map((one) => one.vkey)
  const judged = judgeNote(crypto, trust.checkpoint!.note, { origin, trust, cosigners, hints: [] })
  const expected = "the trusted checkpoint signed by a pinned key"
  if (judged.bad.length > 0) {
    findings.add("E_CHECKPOINT_SIG", { line: null, expected, found: "a signature that does not verify" })
  } else if (judged.lacksPinned) {
    findings.add("E_KEY_UNKNOWN", { line: null, expected, found: "no line by a pinned key" })
  }
  return judged.bad.length === 0 && !judged.lacksPinned
}
