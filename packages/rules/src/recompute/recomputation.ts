/**
 * Recomputes every evaluation of a chain from its records alone, and compares. The offline verifier runs it. It keeps
 * only the state that later evaluations depend on.
 *
 * Spec: envelopes.md 3.8; `envelope/1`; decisions 0025 and 0026.
 */
import { checkBody, type Crypto, portableCrypto } from "@flyball/evidence"
import { areNewerRules, newerRules } from "../records/rules-version.ts"
import type { Json, ReplayRecord } from "../records/record.ts"
import { numberedBefore } from "../evaluations/carried-records.ts"
import { GovernedState } from "../evaluations/governed-state.ts"
import { isLocal } from "./checks/local-verdict.ts"
import { isFolded, isHeldToCatalogue, isRecomputed } from "./recomputed-records.ts"
import { PublicationJudge, type RecomputedPublication } from "./checks/publication.ts"
import { problem, type Problem, ranked, type Recomputed } from "./recompute-verdict.ts"
import { type Judged, judgesOf, type RecordJudge } from "./judges.ts"
import { LATE_MS } from "./tolerances.ts"

/** Options of a recomputation: the origin of its records and how to read them. Spec: decision 0026. */
export interface RecomputeOptions {
  /**
   * True when the first record given is the genesis of a chain that follows no other. If not, earlier records are
   * unknown and nothing that depends on them is reported as wrong.
   */
  readonly fromGenesis: boolean
  /** SHA-256; the portable one by default. */
  readonly crypto?: Pick<Crypto, "sha256">
  /**
   * The longest window of any meter of the chain: older contributions are dropped. If absent, all are kept. Unit:
   * milliseconds.
   */
  readonly longestWindowMs?: number
  /**
   * Origin of this chain, from which evaluation ids derive. If absent, ids and duplicate evaluations are not checked.
   */
  readonly origin?: string
  /** False: nothing here counts decisions again, so none is kept. If absent, the newest are. Spec: decision 0074. */
  readonly keepsDecisions?: boolean
  /** Most work of all proofs of standing approvals, in states of a search. If absent, a minute or two of it. */
  readonly maxProofWork?: number
}

/** Kinds whose judges are kept: a hostile pack could name a new one in each record. */
const MAX_KINDS = 1_000

/** Recomputes a chain. Takes every record, in order, with parts whose commitments are checked. Spec: decision 0026. */
export class Recomputation {
  readonly #state: GovernedState
  readonly #publications: PublicationJudge
  readonly #judges: ReadonlyArray<RecordJudge>
  readonly #byKind = new Map<string, ReadonlyArray<RecordJudge>>()
  readonly #fromGenesis: boolean
  /** Time of the first record; null if unknown. */
  #beginMs: number | null = null
  /** Seq from which on the records of this chain are known; null before the first of them. */
  #first: number | null = null
  #unreadable = 0

  constructor(options: RecomputeOptions) {
    const { crypto = portableCrypto, fromGenesis } = options
    this.#fromGenesis = fromGenesis
    this.#state = new GovernedState(crypto.sha256)
    if (fromGenesis) this.#state.kills.epochIs(0)
    this.#publications = new PublicationJudge(this.#state)
    this.#judges = judgesOf(this.#state, crypto.sha256, options)
  }

  /** Records that do not match the catalogue. They changed nothing. */
  get unreadable(): number {
    return this.#unreadable
  }

  /**
   * Compares a version with the versions in force before it, as the publication gate did. Call it with the record of
   * the publication, checked against the catalogue, before {@link take}.
   */
  compare(record: ReplayRecord): RecomputedPublication {
    if (!this.#fromGenesis)
      return { notCompared: "The versions in force before it are from before the first record here." }
    if (this.#unreadable > 0)
      return { notCompared: "A record before it cannot be read, so the versions in force before it are unknown." }
    return this.#publications.judge(record)
  }

  /**
   * Takes one record. Returns a result for every evaluation and every verdict that an SDK gave, and for another record
   * in which a judge finds a problem; null otherwise, and for records of chains before this one. Never throws.
   *
   * - Unit: `atMs` is the record's own time, milliseconds since 1970 UTC. Without it no time is checked.
   * - `before`: for a record of a chain that a recovery replaced, the number of records between that chain's first
   *   record and record 0 of this chain. Oldest chain first.
   */
  take(record: ReplayRecord, atMs: number | null = null, before = 0): Recomputed | null {
    const { body, kind, seq } = record
    const isOfThisChain = before === 0
    this.#beginMs ??= atMs
    if (isOfThisChain && isRecomputed(kind)) this.#first ??= this.#fromGenesis ? 0 : seq
    const unlike = isHeldToCatalogue(kind) ? checkBody(kind, body) : null
    if (unlike !== null) this.#unreadable++
    const judged = {
      record: numberedBefore(record, before),
      atMs,
      beginMs: this.#beginMs,
      isOfThisChain,
      first: this.#first ?? seq,
      isWhole: this.#fromGenesis && this.#unreadable === 0
    }
    const judges = this.#judgesOf(kind, isOfThisChain)
    if (unlike !== null) {
      for (const { skip } of judges) skip?.(judged)
      return isOfThisChain && kind === "evaluation.made" ? resultOf(record, unreadable(body, unlike), null) : null
    }
    const found: Array<Problem> = []
    const guarded = (name: string, step: RecordJudge["take"]): void => {
      try {
        const one = step(judged)
        if (one !== null) found.push(one)
      } catch (cause) {
        const reason = `The judge of the ${name} failed on the record: ${String(cause).slice(0, 200)}`
        found.push(problem("not_judged", reason))
      }
    }
    for (const { name, take } of judges) guarded(name, take)
    if (isFolded(kind)) guarded("state", this.#fold)
    return isOfThisChain ? resultOf(record, ranked(found), atMs) : null
  }

  #judgesOf(kind: string, isOfThisChain: boolean): ReadonlyArray<RecordJudge> {
    const key = isOfThisChain ? kind : `before ${kind}`
    const known = this.#byKind.get(key)
    if (known !== undefined) return known
    const judges = this.#judges.filter((one) => one.sees(kind) && (isOfThisChain || one.ofAllChains))
    if (this.#byKind.size >= MAX_KINDS) this.#byKind.clear()
    this.#byKind.set(key, judges)
    return judges
  }

  readonly #fold = ({ isOfThisChain, record }: Judged): null => {
    this.#state.fold(record)
    // What a recovery put aside is another chain: this one continues from a copy.
    if (!isOfThisChain) this.#state.kills.epochIs(null)
    return null
  }
}

/** A record of newer rules may have members that this catalogue does not name. That is no sign of tampering. */
const unreadable = (body: ReplayRecord["body"], unlike: string): Problem =>
  areNewerRules(body) ? problem("withheld", newerRules(body)) : problem("trace_mismatch", unlike)

/** The result for a record; null for one that is no verdict and has no problem. `atMs`: null where it is not late. */
const resultOf = (record: ReplayRecord, found: Problem | null, atMs: number | null): Recomputed | null => {
  const { body, kind, seq } = record
  const [isEvaluation, isLocalVerdict] = [kind === "evaluation.made", isLocal(record)]
  if (found === null && !isEvaluation && !isLocalVerdict) return null
  return {
    seq,
    evaluationId: isEvaluation ? shown(body["evaluation_id"]) : "",
    agentId: shown(body["agent_id"]),
    verdict: found?.verdict ?? "ok",
    reason: found?.reason ?? null,
    isLate: isEvaluation && atMs !== null && atMs - Number(body["as_of_ms"]) > LATE_MS,
    ...(isLocalVerdict ? { isLocal: true } : {}),
    ...(found?.because === undefined ? {} : { because: found.because })
  }
}

/** A member of a body that may have any form: an object in it may have no text form. */
const shown = (value: Json | undefined): string => (typeof value === "string" ? value.slice(0, 200) : "")
