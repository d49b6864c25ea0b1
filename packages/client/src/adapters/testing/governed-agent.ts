/** A server that a test scripts, and an agent of it: verdicts per action, reviews that a test ends, halts. */
import { type Client, type ClientOptions, openClient } from "../../client.ts"
import { scriptedFetch, type Scripted, type SentRequest } from "../../testing/scripted-server.ts"
import type { ReviewState } from "../holds.ts"

/** A review of the scripted server. */
export interface Review {
  readonly action: string
  readonly digest: string
  status: string
  resolution: string | null
}

/** Answers of the scripted server; a test changes them as it goes. */
export interface Script {
  /** The outcome of an evaluation. Default: allow. */
  verdict: (request: { readonly action: string; readonly signals: { readonly [name: string]: unknown } }) => string
  /** The rule of verdicts; left out, one that is named by the outcome. */
  rule?: string
  halted: boolean
  /** The service is away: each request fails. */
  isAway: boolean
  /** The key was minted for a gateway: its decisions may say that they were mediated. */
  isGateway: boolean
}

/** A Flyball service that a test scripts: `handle` answers one request. */
export const scriptedService = () => {
  const script: Script = { verdict: () => "allow", halted: false, isAway: false, isGateway: false }
  const reviews = new Map<string, Review>()
  const evaluated: Array<{ readonly action: string; readonly outcome: string }> = []
  let epoch = 1
  let made = 0
  const waiting = new Set<() => void>()

  const evaluate = (json: SentRequest["json"]): Scripted => {
    let outcome = script.verdict(json)
    let reviewId: string | null = null
    let id = `evl_${++made}`
    if (outcome === "require_review") {
      const given = reviews.get(json.approval_id)
      const isBound = given?.action === json.action && given?.digest === json.action_digest
      if (isBound && given?.resolution === "approve" && given.status === "resolved") {
        given.status = "consumed"
        outcome = "allow"
      } else if (isBound && given?.status === "open") reviewId = json.approval_id
      else {
        reviewId = `rev_${reviews.size + 1}`
        id = `evl_${reviews.size + 1}`
        reviews.set(reviewId, { action: json.action, digest: json.action_digest, status: "open", resolution: null })
      }
    }
    evaluated.push({ action: json.action, outcome })
    return {
      status: 201,
      json: {
        id,
        outcome,
        matched_rule: script.rule ?? `rule-${outcome}`,
        valid_ms: 15_000,
        obligations: [],
        review_id: reviewId,
        suggestion: null
      }
    }
  }

  const handle = (sent: SentRequest): Scripted => {
    const path = sent.path.split("?")[0]!
    if (script.isAway) return "cut"
    if (path === "/api/v1/agents") return { status: 200, json: [{ id: "agt_1", name: "bot" }] }
    if (path.endsWith("/kill/stream")) return "hang"
    if (path.endsWith("/kill/ack")) return { status: 201, json: {} }
    if (path.endsWith("/kill/status"))
      return {
        status: 200,
        json: {
          halted: script.halted,
          drill: false,
          activation_event: script.halted ? "kll_1" : null,
          reason: script.halted ? "Pays twice." : null,
          effective_response: script.halted ? "halt" : null,
          epoch,
          origin: "a/b"
        }
      }
    if (path.endsWith("/bound/evaluations")) return evaluate(sent.json)
    if (path.endsWith("/instances/end")) return { status: 201, json: {} }
    if (path.endsWith("/settle")) return { status: 201, json: { duplicate: false } }
    if (path.includes("/bound/reviews/")) {
      const id = path.split("/").at(-1)!
      const review = reviews.get(id)
      if (review === undefined) return { status: 404, json: { code: "review_not_found", detail: "no" } }
      const isConsumed = review.status === "consumed"
      return { status: 200, json: { id, ...review, status: isConsumed ? "resolved" : review.status } }
    }
    if (sent.json === undefined) return { status: 404, json: { code: "not_found", detail: "no" } }
    const isClaimed = sent.json.decisions.some(({ capture }: { capture?: string }) => capture === "mediated")
    if (isClaimed && !script.isGateway) return { status: 403, json: { code: "capture_not_mediated", detail: "no" } }
    return {
      status: 201,
      json: {
        receipts: sent.json.decisions.map(({ client_ref }: { client_ref: string }) => ({
          client_ref,
          decision_id: `dec_${client_ref}`,
          duplicate: false
        }))
      }
    }
  }
  return {
    handle,
    script,
    evaluated,
    reviews,
    waiting,
    /** Ends a review. */
    resolve: (reviewId: string, resolution: string) => {
      const review = reviews.get(reviewId)!
      review.status = "resolved"
      review.resolution = resolution
      for (const one of waiting) one()
    },
    /** Halts the agent; it learns of it with its next poll. */
    halt: () => {
      script.halted = true
      epoch++
    }
  }
}

/** Opens a client on a scripted service and registers its agent. */
export const governedAgent = async (options: Partial<ClientOptions> = {}) => {
  const { evaluated, halt, handle, resolve, reviews, script, waiting } = scriptedService()
  const { fetch, seen } = scriptedFetch(handle)
  const client: Client = openClient({ url: "http://flyball.test", key: "k", fetch, pollMs: 50, ...options })
  const agent = await client.register({ name: "bot" })
  await agent.kill.refresh()

  /** Waits as the service does: answers the review as it stands when it is over or the time is. */
  const wait = async (
    reviewId: string,
    { signal, withinMs }: { readonly withinMs: number; readonly signal: AbortSignal }
  ): Promise<ReviewState> => {
    const review = reviews.get(reviewId)!
    if (review.status === "open" && !signal.aborted)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, withinMs)
        function done(): void {
          clearTimeout(timer)
          waiting.delete(done)
          resolve()
        }
        waiting.add(done)
        signal.addEventListener("abort", done)
      })
    return { ...review }
  }

  return {
    agent: Object.assign(agent, { reviews: { wait } }),
    client,
    script,
    evaluated,
    reviews,
    seen,
    resolve,
    /** How many calls wait for a person. */
    waits: () => waiting.size,
    halt: async () => {
      halt()
      await agent.kill.refresh()
    },
    /** The witnessed decisions, once everything that waits was sent. */
    witnessed: async () => {
      await client.flush(2_000)
      // oxlint-disable-next-line no-explicit-any
      return seen.flatMap(({ json, path }): ReadonlyArray<any> => (path.endsWith("/decisions") ? json.decisions : []))
    }
  }
}

/** Longer than a busy machine takes for anything that tests wait for, and shorter than their limit. */
const FACT_MS = 30_000

/** Resolves once a fact holds. Throws, and names the fact, where it does not within this time. Unit: milliseconds. */
export const until = async (fact: () => boolean, withinMs = FACT_MS): Promise<void> => {
  for (const endsAt = performance.now() + withinMs; !fact();) {
    if (performance.now() > endsAt) throw new Error(`Not so after ${withinMs} ms: ${String(fact)}`)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}
