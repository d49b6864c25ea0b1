/**
 * The whole of evaluating again with records in memory, as a pack's reader hands them over: bodies parsed, signals
 * still bytes. The catalogue's check, the folds, the decision under two meters
 * and a latch, settlements, the comparison of everything with the record, advice, ids, and whether anything stands
 * twice. One core. It has no goal of its own: that of re-execution is a
 * goal for what the research measured, which `envelopes-again.ts` measures.
 */
import { type PartContent, Recomputation, type Recomputed, type ReplayRecord } from "@flyball/rules"
import { canonicalBytes, fromUtf8, type JsonObject } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { figure, type Line, median } from "../harness.ts"
import { begin, evaluationsAfter } from "./chain.ts"

const SHAPE = { evaluations: 20_000, agents: 20, stepMs: 100 }
const ROUNDS = 11
/** Rounds in which code is still being compiled. */
const WARM_UP = 4
const HOUR_MS = 3_600_000

interface Timed {
  readonly record: ReplayRecord
  readonly atMs: number
}

/** One line: how many a second of processor time, all threads of the process together. */
export const recomputeInMemory = async (): Promise<Line> => {
  const { origin, records } = await recordsInMemory()
  const wrong = wrongOf(origin, records)
  if (wrong.length > 0)
    throw new Error(`Records that were planned are not what making them again says: ${JSON.stringify(wrong[0])}.`)
  const { changed, seq } = oneChanged(records)
  const named = wrongOf(origin, changed)
  if (named.length !== 1 || named[0]!.seq !== seq || named[0]!.verdict !== "outcome_mismatch")
    throw new Error(`The record at ${seq} was changed; named were ${JSON.stringify(named.slice(0, 3))}.`)
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    if (wrongOf(origin, records).length > 0) throw new Error("A record changed.")
    const { system, user } = process.cpuUsage(before)
    return system + user
  })
  const rate = figure((SHAPE.evaluations / median(times.slice(WARM_UP))) * 1e6)
  return {
    name:
      "evaluations made again whole, from bodies parsed and signals in bytes: two meters, a latch, " +
      "settlements, every comparison; one core",
    value: rate,
    unit: "evaluations/s of processor time",
    limit: null,
    ratio: null,
    goal: "measured, no goal",
    met: true
  }
}

const recordsInMemory = async (): Promise<{ readonly origin: string; readonly records: ReadonlyArray<Timed> }> => {
  const begun = await begin(SHAPE.agents)
  const records: Array<Timed> = []
  const add = (
    at: string,
    kind: string,
    body: JsonObject,
    parts: ReadonlyArray<{ readonly name: string; readonly bytes: Uint8Array }>
  ): void => {
    const present = parts.map(({ bytes, name }): readonly [string, PartContent] => [name, { state: "present", bytes }])
    records.push({
      atMs: Date.parse(at),
      record: { seq: records.length, kind, body: JSON.parse(fromUtf8(canonicalBytes(body))!), parts: new Map(present) }
    })
  }
  for (const { at, body, kind, parts } of begun.pack.records)
    add(
      at,
      kind,
      body,
      parts.map(({ disclosed, name }) => ({ name, bytes: disclosed!.bytes }))
    )
  for (const { at, body, kind, parts } of evaluationsAfter(begun, SHAPE)) add(at, kind, body, parts)
  return { origin: begun.pack.origin, records }
}

/** Records that are not as they should be. */
const wrongOf = (origin: string, records: ReadonlyArray<Timed>): ReadonlyArray<Recomputed> => {
  const again = new Recomputation({ fromGenesis: true, crypto: nodeCrypto, longestWindowMs: HOUR_MS, origin })
  const wrong: Array<Recomputed> = []
  for (const { atMs, record } of records) {
    const found = again.take(record, atMs)
    if (found !== null && found.verdict !== "ok") wrong.push(found)
  }
  return wrong
}

/** The chain with one record changed, and where that is. */
const oneChanged = (
  records: ReadonlyArray<Timed>
): { readonly changed: ReadonlyArray<Timed>; readonly seq: number } => {
  const place = records.findLastIndex(
    ({ record: { body, kind } }) => kind === "evaluation.made" && body["outcome"] === "deny"
  )
  const { atMs, record } = records[place]!
  return {
    changed: records.with(place, { atMs, record: { ...record, body: { ...record.body, outcome: "allow" } } }),
    seq: record.seq
  }
}
