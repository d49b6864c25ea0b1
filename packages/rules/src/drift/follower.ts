/**
 * Follows the runs of one agent for a change of behaviour: an e-value that may be read at any time. The service and the
 * verifier follow alike. Spec: document 1 section 4, drift; decision 0073.
 */
import { type Crypto, type Slices, utf8 } from "@flyball/evidence"
import { type Component, generator, maxT, Wager } from "@flyball/statistics"
import type { JsonMap } from "../records/record.ts"
import { type DriftDecision, driftDecision, type DriftRun } from "./decision.ts"
import { componentsOf, type DimensionName, dimensions, prepare } from "./dimensions.ts"

/** The e-value at which there is an alarm: of epochs without a change at most one in so many has one. */
export const ALARM_AT = 20
/** Decisions of other runs after which a run is over. */
export const QUIET = 20
/** Runs of a block: each block is tested against all runs before it. */
const BLOCK_RUNS = 8
const PERMUTATIONS = 499
/** Runs after which an epoch is over: the next one begins with no memory of it. */
export const EPOCH_RUNS = 256
/** Decisions after which an epoch is over. */
export const EPOCH_DECISIONS = 4_096
/** A record of the agent: a decision, or its settlement. */
export interface FollowedRecord {
  readonly seq: number
  readonly kind: string
  readonly body: JsonMap
}

/** An alarm. Spec: format 1 section 8, `drift.alarmed`. */
export interface DriftAlarm {
  /** The decision with which the last run of the last block was over. */
  readonly asOfSeq: number
  /** With six significant digits. */
  readonly eValue: string
  /** The dimension that changed most in the last block. */
  readonly dimension: DimensionName
  /** Runs up to the end of the last block. */
  readonly runs: number
}

/** Follows one epoch of one agent: its decisions from a record on, as far as they name their run. */
export class DriftFollower {
  readonly #agentId: string
  readonly #fromSeq: number
  readonly #sha256: Crypto["sha256"]
  readonly #open = new Map<string, { readonly decisions: Array<DriftDecision>; last: number }>()
  readonly #over: Array<DriftRun> = []
  readonly #wager = new Wager()
  #decisions = 0
  #asOfSeq = -1
  /** Runs up to the end of the block that is tested next. */
  #next = 2 * BLOCK_RUNS

  /** `fromSeq`: the first record that counts. */
  constructor(agentId: string, fromSeq: number, sha256: Crypto["sha256"]) {
    this.#agentId = agentId
    this.#fromSeq = fromSeq
    this.#sha256 = sha256
  }

  /** The e-value after the last block. */
  get value(): number {
    return this.#wager.value
  }

  /** True when a block must be tested before the next record is taken. */
  get isDue(): boolean {
    return this.#over.length >= this.#next
  }

  /** True when the epoch is over. Another follower goes on behind it. */
  get isOver(): boolean {
    return this.#over.length >= EPOCH_RUNS || this.#decisions >= EPOCH_DECISIONS
  }

  /** Takes the next record of the agent. Those before `fromSeq`, and of other kinds, change nothing. */
  take({ body, kind, seq }: FollowedRecord): void {
    if (seq < this.#fromSeq) return
    if (kind === "decision.settled") return this.#settle(body)
    const id = body["run_id"]
    if (kind !== "decision.witnessed" || typeof id !== "string") return
    this.#decisions++
    this.#asOfSeq = seq
    const run = this.#open.get(id) ?? { decisions: [], last: 0 }
    run.decisions.push(driftDecision({ seq, hash: "", body }, null))
    run.last = this.#decisions
    this.#open.set(id, run)
    // Each has another last decision, and at most one fell silent with this one.
    for (const [other, { decisions, last }] of this.#open) {
      if (last > this.#decisions - QUIET) continue
      this.#open.delete(other)
      this.#over.push({ decisions })
    }
  }

  /** Tests the block that is due; answers the alarm, after which the epoch is over. */
  *test(): Slices<DriftAlarm | null> {
    const runs = this.#over.slice(0, this.#next)
    this.#next += BLOCK_RUNS
    const seed = this.#sha256(utf8(["drift/alarm/v1", this.#agentId, this.#fromSeq, runs.length].join("\n")))
    const prepared: Array<ReadonlyArray<Component>> = []
    for (const one of dimensions) {
      prepared.push(componentsOf(prepare(one, runs)))
      yield
    }
    const { families } = yield* maxT(
      {
        sizes: new Uint32Array(runs.length).fill(1),
        cut: runs.length - BLOCK_RUNS,
        families: prepared,
        permutations: PERMUTATIONS
      },
      generator(seed)
    )
    const [most] = families
      .flatMap(({ adjusted, p }, at) => (adjusted === null || p === null ? [] : [{ adjusted, p, at }]))
      .toSorted((a, b) => a.adjusted - b.adjusted || a.p - b.p || a.at - b.at)
    // Every run is alike.
    if (most === undefined) return null
    this.#wager.take(most.adjusted)
    return this.value < ALARM_AT
      ? null
      : {
          asOfSeq: this.#asOfSeq,
          eValue: this.value.toPrecision(6),
          dimension: dimensions[most.at]!.name,
          runs: runs.length
        }
  }

  #settle(body: JsonMap): void {
    const seq = body["decision_seq"]
    for (const { decisions } of this.#open.values()) {
      const at = decisions.findLastIndex((one) => one.seq === seq)
      if (at >= 0) decisions[at] = settled(decisions[at]!, body)
    }
  }
}

const settled = (decision: DriftDecision, body: JsonMap): DriftDecision => {
  const { costMicroUsd, latencyMs, outcome, tokens } = driftDecision({ seq: decision.seq, hash: "", body: {} }, body)
  return {
    ...decision,
    outcome,
    latencyMs: latencyMs ?? decision.latencyMs,
    costMicroUsd: costMicroUsd ?? decision.costMicroUsd,
    tokens: tokens ?? decision.tokens
  }
}
