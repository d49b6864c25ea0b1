/** Packs of a chain, as lines that a test can change, and closed again with the key. */
import type { PackHeader, PackKind, Report, VerifyOptions } from "@flyball/evidence"
import {
  concatBytes,
  consistencyProof,
  formatNote,
  fromUtf8,
  inclusionProof,
  packLines,
  packNoteText,
  rangeProof,
  toBase64,
  toHex,
  utf8,
  verifyPack
} from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import type { Chain } from "./chain.ts"
import { checkpointNote, readerOf } from "./chain.ts"

/** Contents of a pack. */
export interface PackPlan {
  readonly kind: PackKind
  readonly from?: number
  readonly to?: number
  /** Of a sparse pack: the records, ascending. */
  readonly seqs?: ReadonlyArray<number>
  /** Parts to disclose: all that were not erased, or none. */
  readonly disclose?: boolean
  readonly older?: number
  readonly note?: string
  readonly hints?: ReadonlyArray<string>
  readonly tokens?: ReadonlyArray<Uint8Array>
}

/** Makes a pack through the public writer. */
export const makePack = async (chain: Chain, plan: PackPlan): Promise<Uint8Array> => {
  const size = chain.records.length
  const { disclose = true, from = 0, kind, note = checkpointNote(chain), older, to = size - 1 } = plan
  const seqs = plan.seqs ?? Array.from({ length: to - from + 1 }, (_, i) => from + i)
  const header: PackHeader = {
    created: "2026-11-21T12:00:00.000Z",
    filter: kind === "sparse" ? { agent_id: "agt_1" } : {},
    from,
    generator: "property-tests/1",
    kind,
    to,
    tree_size: size
  }
  const lines = packLines(nodeCrypto, chain.origin)
  const out = [
    lines.open(header, note, {
      ...(older === undefined
        ? {}
        : {
            older: {
              note: checkpointNote(chain, older),
              proof: await consistencyProof(nodeCrypto, older, size, readerOf(chain))
            }
          }),
      hints: plan.hints ?? [],
      tokens: plan.tokens ?? []
    })
  ]
  for (const seq of seqs) {
    out.push(lines.record(chain.records[seq]!.bytes))
    if (kind === "sparse") out.push(lines.inclusion(seq, await inclusionProof(nodeCrypto, seq, size, readerOf(chain))))
  }
  if (kind !== "sparse") {
    const { left, right } = await rangeProof(nodeCrypto, from, to, size, readerOf(chain))
    out.push(lines.range(from, to, left, right))
  }
  const erased = chain.erasures.filter((one) => seqs.includes(one.seq))
  for (const seq of disclose ? seqs : []) {
    for (const part of chain.records[seq]!.parts) {
      if (!erased.some((one) => one.seq === seq && one.name === part.name))
        out.push(lines.disclosed(seq, part.name, part.salt, part.bytes))
    }
  }
  for (const one of erased) if (seqs.includes(one.erasingSeq)) out.push(lines.erased(one.seq, one.name, one.erasingSeq))
  const closed = await lines.close(
    (message) => nodeCrypto.ed25519Sign(chain.seed, message),
    chain.signer.name,
    chain.signer.keyId
  )
  return concatBytes(...out, closed.bytes)
}

/** The lines of a pack without their newlines. */
export const linesOf = (pack: Uint8Array): ReadonlyArray<string> => fromUtf8(pack)!.slice(0, -1).split("\n")

/** The pack of some lines, as they are. */
export const packOf = (lines: ReadonlyArray<string>): Uint8Array => utf8(`${lines.join("\n")}\n`)

/** The pack of some lines with Z and N made again by the log's key: what an operator who tampers would do. */
export const reseal = (
  chain: Chain,
  lines: ReadonlyArray<string>,
  changes: { readonly size?: number; readonly origin?: string; readonly count?: number } = {}
): Uint8Array => {
  const kept = lines.filter((line) => !/^[ZN] /.test(line))
  const body = utf8(`${kept.join("\n")}\n`)
  const digest = nodeCrypto.sha256(body)
  const size = changes.size ?? chain.records.length
  const text = packNoteText(changes.origin ?? chain.origin, size, digest)
  return packOf([
    ...kept,
    `Z ${changes.count ?? kept.length} ${toHex(digest)}`,
    `N ${toBase64(utf8(formatNote(text, [chain.signer.line(text)])))}`
  ])
}

/** Verifies a pack in memory with the chain's key pinned, unless other options are given. */
export const check = (pack: Uint8Array, chain: Chain, options: VerifyOptions = {}): Promise<Report> =>
  verifyPack(nodeCrypto, [pack], { vkeys: [chain.signer.vkey], ...options })

/** The codes of a report's findings, each once, sorted. */
export const codesOf = (report: Report): ReadonlyArray<string> =>
  [...new Set(report.findings.map((finding) => finding.code))].sort()
