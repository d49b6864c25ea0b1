/** Recomputes an answer of GET /behavior/agents/{agent_id}/change from the records of a pack. */
import { inOneGo, readJson, type Report, toHex } from "@flyball/evidence"
import {
  type Annotation,
  annotationKinds,
  changeOf,
  driftDecision,
  type Json,
  type JsonMap,
  MAX_ANNOTATIONS
} from "@flyball/rules"
import type { BeginReading, Found } from "../readings.ts"
import type { RecordReader } from "../replay/pack-records.ts"
import { worstExit } from "../worst-exit.ts"

/** An answer that somebody was given: its members, and the parameters of its question. */
export interface GivenAnswer {
  readonly members: JsonMap
  readonly agentId: string
  readonly asOfSeq: number
  readonly lookback: number
  readonly window: number
}

/** Reads an answer; null where it is none. */
export const readAnswer = (bytes: Uint8Array): GivenAnswer | null => {
  const read = readJson(bytes)
  const members = read.ok ? (read.value as JsonMap | null) : null
  const params = members?.["params"] as JsonMap | null | undefined
  const [agentId, asOfSeq] = [members?.["agent_id"], members?.["as_of_seq"]]
  const [lookback, window] = [params?.["lookback"], params?.["window"]]
  return members !== null &&
    typeof agentId === "string" &&
    isWithin(asOfSeq, -1, Number.MAX_SAFE_INTEGER) &&
    isWithin(lookback, 10, 2_000) &&
    isWithin(window, 5, lookback / 2)
    ? { members, agentId, asOfSeq, lookback, window }
    : null
}

const isWithin = (value: unknown, low: number, high: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= low && (value as number) <= high

/** Annotations that are kept while it is not known where the windows begin. */
const MAX_KEPT = 10_000

interface Kept {
  readonly seq: number
  readonly body: JsonMap
  readonly bytes: Uint8Array
  settled: JsonMap | null
}

/** Recomputes the answer that was given. Memory holds as many decisions as the answer was made of. */
export const readAnswerAgain: BeginReading = async ({ answer, pack }, report) => {
  const why = whyNotAgain(report, answer!)
  if (why !== null) return { end: () => ({ effect: without(why) }) }
  const { agentId, asOfSeq, lookback, members, window } = answer!
  let decisions: Array<Kept> = []
  let annotations: Array<Annotation> = []
  const take: RecordReader["take"] = ({ body, kind, seq }, _, bytes) => {
    if (seq > asOfSeq || body["agent_id"] !== agentId) return
    if (kind === "decision.witnessed") {
      decisions.push({ seq, body, bytes: bytes(), settled: null })
      if (decisions.length >= 2 * lookback) decisions = decisions.slice(-lookback)
    } else if (kind === "decision.settled") {
      const settled = decisions.findLast((one) => one.seq === body["decision_seq"])
      if (settled !== undefined) settled.settled = body
    } else {
      annotations.push({ seq, kind })
      if (annotations.length > MAX_KEPT) annotations = annotations.filter((one) => one.seq >= decisions[0]!.seq)
    }
  }
  const end = (): Found => {
    const read = decisions.slice(-lookback)
    if (read.length < lookback && report.header!.from! > 0)
      return { effect: without("The answer was not recomputed: its first decisions are before this pack.") }
    const first = read.at(-2 * window)?.seq ?? Number.POSITIVE_INFINITY
    const made = inOneGo(
      changeOf(
        {
          agentId,
          lookback,
          window,
          asOfSeq,
          decisions: read.map(({ body, bytes, seq, settled }) =>
            driftDecision({ seq, hash: toHex(pack.crypto.leafHash(bytes)), body }, settled)
          ),
          annotations: annotations.filter(({ seq }) => seq >= first).slice(0, MAX_ANNOTATIONS)
        },
        (bytes) => pack.crypto.sha256(bytes)
      )
    )
    const differs = difference(made as unknown as Json, members, "")
    return {
      extras: { answer: { agent_id: agentId, as_of_seq: asOfSeq, differs } },
      effect: differs === null ? (noted) => noted : without("The answer that was given does not follow from this pack.")
    }
  }
  const kinds = new Set(["decision.witnessed", "decision.settled", ...annotationKinds])
  return { records: { kind: (kind) => kinds.has(kind), part: () => false, take }, end }
}

/** A JSON pointer to the first member that differs; null where none does. */
const difference = (made: Json | undefined, given: Json | undefined, path: string): string | null => {
  if (!isTree(made) || !isTree(given)) return made === given ? null : path
  if (Array.isArray(made) !== Array.isArray(given)) return path
  const [left, right] = [made as JsonMap, given as JsonMap]
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const found = difference(left[name], right[name], `${path}/${name}`)
    if (found !== null) return found
  }
  return null
}

const isTree = (value: Json | undefined): boolean => typeof value === "object" && value !== null

/** Why the answer cannot be recomputed; null where it may be. */
const whyNotAgain = ({ header, tree_size: size, verdicts }: Report, { asOfSeq }: GivenAnswer): string | null =>
  header === null || verdicts.integrity !== "ok"
    ? "The answer was not recomputed: the pack is not intact."
    : header.kind === "sparse"
      ? "The answer was not recomputed: that needs a full or range pack, since a decision may be left out of another."
      : asOfSeq >= (size ?? 0)
        ? `The answer was not recomputed: it is of record ${asOfSeq}, and the pack ends before.`
        : null

/** The report where the answer was to be recomputed, and could not be: status 2. */
const without =
  (why: string) =>
  (report: Report): Report => ({
    ...report,
    not_checked: [why, ...report.not_checked],
    exit: worstExit(report.exit, 2)
  })
