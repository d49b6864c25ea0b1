/** State of the kill switch by the records up to one. */
import { parseInstant } from "@flyball/evidence"
import type { AutonomyTier } from "../agents/document.ts"
import type { JsonMap, ReplayRecord } from "../records/record.ts"
import type { KillTarget } from "./document.ts"
import { type AgentReach, reaches } from "./reach.ts"
import { type DrillMode, halts, type KillResponse, type KillTargetType } from "./response.ts"
import type { ReachingActivation } from "./state.ts"

/** An activation, from its record. */
export interface KnownActivation {
  readonly id: string
  readonly target: KillTarget
  readonly epoch: number
  readonly response: KillResponse
  readonly drill: { readonly drillId: string; readonly mode: DrillMode } | null
  readonly actor: string
  /** The key that requested it; null where none did. */
  readonly requestedBy: string | null
  readonly highestTier: AutonomyTier | null
  readonly activatedAtMs: number
  /** Seq of its record. */
  readonly seq: number
}

/** An activation that was released, and the record of that. */
export interface KnownRelease {
  readonly activation: KnownActivation
  readonly releasedSeq: number
}

/** The activations. */
export class KnownKills {
  /** Null: not known. */
  #epoch: number | null = null
  readonly #live = new Map<string, KnownActivation>()
  /** The released activations. */
  readonly #released = new Map<string, KnownRelease>()
  /** The released activations that halted, in order. */
  readonly #lifted: Array<KnownRelease> = []

  /** One that holds; undefined where none of this id does. */
  live(id: string): KnownActivation | undefined {
    return this.#live.get(id)
  }

  /** One that was released; undefined where none of this id was. */
  released(id: string): KnownActivation | undefined {
    return this.#released.get(id)?.activation
  }

  /** True when a record here has the activation, released ones included. */
  knows(id: string): boolean {
    return this.#live.has(id) || this.#released.has(id)
  }

  /** The activations that hold. */
  get all(): ReadonlyArray<KnownActivation> {
    return [...this.#live.values()]
  }

  /** True when no activation holds. */
  get isQuiet(): boolean {
    return this.#live.size === 0
  }

  /** The activations that reach an agent. */
  of(agent: AgentReach): ReadonlyArray<ReachingActivation> {
    const found: Array<ReachingActivation> = []
    for (const { drill, epoch, id, response, target } of this.#live.values()) {
      const via = reaches(target, agent)
      if (via !== null) found.push({ id, epoch, response, drill: drill?.mode ?? null, via })
    }
    return found
  }

  /** Halts that were released behind a record. */
  liftedSince(seq: number): ReadonlyArray<KnownRelease> {
    return this.#lifted.slice(this.#lifted.findLastIndex(({ releasedSeq }) => releasedSeq <= seq) + 1)
  }

  /** The activations that held once a record was the last one. */
  at(seq: number): ReadonlyArray<KnownActivation> {
    const then = [...this.#released.values()].flatMap(({ activation, releasedSeq }) =>
      releasedSeq > seq ? [activation] : []
    )
    return [...then, ...this.#live.values()].filter((activation) => activation.seq <= seq)
  }

  /** Sets the epoch as far as it is known: none has begun, or nothing is known. */
  epochIs(epoch: 0 | null): void {
    this.#epoch = epoch
  }

  /** The epoch that the next activation or release begins; null: not known. */
  get nextEpoch(): number | null {
    return this.#epoch === null ? null : this.#epoch + 1
  }

  /** Adds one record, in order. Records of other kinds change nothing. */
  fold({ body, kind, seq }: ReplayRecord): void {
    const id = String(body["activation_id"])
    if (kind === "kill.activated" || kind === "kill.released") this.#epoch = Number(body["epoch"])
    if (kind === "kill.activated") this.#live.set(id, activationOf(id, seq, body))
    const activation = this.#live.get(id)
    if (kind !== "kill.released" || activation === undefined) return
    this.#live.delete(id)
    const released = { activation, releasedSeq: seq }
    this.#released.set(id, released)
    if (halts(activation.response) && activation.drill?.mode !== "shadow") this.#lifted.push(released)
  }
}

const activationOf = (id: string, seq: number, body: JsonMap): KnownActivation => {
  const drill = body["drill"] as JsonMap | undefined
  return {
    id,
    seq,
    target: { type: String(body["target_type"]) as KillTargetType, id: String(body["target_id"]) },
    epoch: Number(body["epoch"]),
    response: String(body["response"]) as KillResponse,
    drill:
      drill === undefined ? null : { drillId: String(drill["drill_id"]), mode: String(drill["mode"]) as DrillMode },
    actor: String(body["writer"]),
    requestedBy: typeof body["requested_by"] === "string" ? body["requested_by"] : null,
    highestTier: typeof body["highest_tier"] === "string" ? (body["highest_tier"] as AutonomyTier) : null,
    activatedAtMs: parseInstant(String(body["activated_at"])) ?? 0
  }
}
