import { assert, describe, it } from "vitest"
import type { BreakerDocument } from "./document.ts"
import { AgentBreakers } from "./watch.ts"

const breaker: BreakerDocument = {
  agentId: "agt_1",
  name: "backlog",
  metric: "review_backlog",
  params: { max_open: 1 },
  mode: "shadow",
  response: null,
  confidenceBp: 0,
  enabled: true,
  createdBy: "usr_1",
  sinceSeq: 0,
  trip: null,
  lastActivationId: null
}

describe("the running windows of an agent", () => {
  it("are given the kinds of their metric alone: another evaluation that waits for a review does not end it", () => {
    const watched = new AgentBreakers()
    watched.put("brk_1", breaker, { seq: 0, atMs: 0 })
    const body = { review_id: "rev_1", expires_at_ms: 1_000 }
    watched.take({ seq: 1, atMs: 1, kind: "review.opened", body })
    watched.take({ seq: 2, atMs: 2, kind: "evaluation.made", body })
    const facts = { isActive: true, orphanedSinceMs: null, firstBadSeq: null }
    assert.deepInclude(watched.read("brk_1", { ms: 3, seq: 2 }, facts), { value: "1", fromSeq: 1 })
    watched.take({ seq: 3, atMs: 3, kind: "review.cancelled", body })
    assert.deepInclude(watched.read("brk_1", { ms: 4, seq: 3 }, facts), { value: "0", fromSeq: null })
  })
})
