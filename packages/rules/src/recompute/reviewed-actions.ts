/** Keeps what was reviewed, for the proof of a standing approval that is made from it. Bounded. */
import type { PartContent, ReplayRecord } from "../records/record.ts"
import type { ActionInputs } from "../standing-approvals/pins.ts"
import type { EvaluationBody } from "../evaluations/evaluation-body.ts"
import { signalsOf } from "../evaluations/signals-part.ts"

/** An evaluation that opened a review. `inputs` null: a part of them is not shown, or something was left out. */
export interface ReviewedEvaluation {
  readonly body: Pick<EvaluationBody, "as_of_ms" | "effective_tier" | "layers" | "tier" | "waivers">
  readonly inputs: ActionInputs | null
}

/** Kept at most, the latest: parts of 64 MiB together, of 10,000 evaluations. */
export const MAX_REVIEWED_BYTES = 64 * 1_048_576
const MAX_REVIEWED = 10_000

interface Kept {
  readonly body: ReviewedEvaluation["body"]
  /** Copies, since a reader may use its buffer again. Null: not all of them are shown. */
  readonly parts: { readonly [name in "action" | "args" | "signals"]?: Uint8Array } | null
  readonly size: number
}

/** Evaluations that opened reviews, by id. The oldest are dropped beyond the bounds. */
export class ReviewedActions {
  readonly #kept = new Map<string, Kept>()
  readonly #maxBytes: number
  #size = 0

  /** Unit: bytes of parts. */
  constructor(maxBytes = MAX_REVIEWED_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** Keeps an evaluation that opens a review. */
  opened(body: EvaluationBody, parts: ReplayRecord["parts"]): void {
    const { as_of_ms, effective_tier, evaluation_id: id, layers, tier, waivers } = body
    const read = ["action", "args", "signals"].map((name) => [name, parts.get(name)] as const)
    const isShown =
      body.args_redacted !== true &&
      parts.has("signals") &&
      read.every(([, part]) => part === undefined || part.state === "present")
    const copies = isShown
      ? Object.fromEntries(read.flatMap(([name, part]) => (part === undefined ? [] : [[name, bytesOf(part)]])))
      : null
    const size = Object.values(copies ?? {}).reduce((sum, bytes) => sum + bytes.length, 0)
    this.closed(id)
    this.#kept.set(id, {
      body: {
        as_of_ms,
        layers,
        tier,
        ...(effective_tier === undefined ? {} : { effective_tier }),
        ...(waivers === undefined ? {} : { waivers })
      },
      parts: copies,
      size
    })
    this.#size += size
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#maxBytes && this.#kept.size <= MAX_REVIEWED) break
      this.closed(oldest)
    }
  }

  /** Drops an evaluation: its review ended without an approval, so nothing is proposed from it. */
  closed(id: string): void {
    this.#size -= this.#kept.get(id)?.size ?? 0
    this.#kept.delete(id)
  }

  /** Null where it lies before the records here, or was dropped. */
  get(id: string): ReviewedEvaluation | null {
    const kept = this.#kept.get(id)
    if (kept === undefined) return null
    const { body, parts } = kept
    return {
      body,
      inputs:
        parts === null
          ? null
          : {
              action: parts.action === undefined ? null : (signalsOf(parts.action) as string),
              signals: signalsOf(parts.signals!),
              args: parts.args === undefined ? undefined : signalsOf(parts.args)
            }
    }
  }
}

const bytesOf = (part: PartContent): Uint8Array => (part.state === "present" ? part.bytes.slice() : new Uint8Array())
