/** Finds verdicts that let a gateway act, and after which the chain says nothing of what became of the action. */
import { formatInstant } from "@flyball/evidence"
import type { ReplayRecord } from "@flyball/rules"
import { FirstOf, textOf } from "./bounded.ts"
import type { Listed, UnfollowedSummary } from "./summary.ts"

/** Verdicts that are open at once; further ones are counted and not followed. A megabyte. */
const MAX_OPEN = 10_000

/**
 * Follows allowed evaluations of ingest keys that were minted with `capture: mediated`. A decision that names one ends
 * it, and a capture gap of its agent all before the gap.
 */
export class Unfollowed {
  readonly #mediated = new Set<string>()
  readonly #open = new Map<string, UnfollowedSummary>()
  #untracked = 0

  take({ body, kind, seq }: Pick<ReplayRecord, "body" | "kind" | "seq">, atMs: number): void {
    switch (kind) {
      case "ingest_key.minted":
        if (body["capture"] === "mediated" && this.#mediated.size < MAX_OPEN) this.#mediated.add(textOf(body["key_id"]))
        return
      case "evaluation.made": {
        const allowed = body["outcome"] === "allow" || body["outcome"] === "allow_with_notice"
        if (!allowed || body["mode"] === "shadow" || !this.#mediated.has(textOf(body["writer"]))) return
        if (this.#open.size >= MAX_OPEN) return void this.#untracked++
        const evaluation = textOf(body["evaluation_id"])
        const agent = textOf(body["agent_id"])
        this.#open.set(evaluation, { seq, at: formatInstant(atMs), agent_id: agent, evaluation_id: evaluation })
        return
      }
      case "decision.witnessed":
        return void this.#open.delete(textOf(body["evaluation_id"]))
      case "capture.gap": {
        const agent = textOf(body["agent_id"])
        for (const [id, one] of this.#open) if (one.agent_id === agent) this.#open.delete(id)
      }
    }
  }

  listed(): Listed<UnfollowedSummary> & { readonly untracked: number } {
    const first = new FirstOf<UnfollowedSummary>()
    for (const one of this.#open.values()) first.add(() => one)
    return { ...first.listed(), untracked: this.#untracked }
  }
}
