/**
 * Sends what was witnessed, in order and in batches, and tells the truth about what is not sent yet.
 *
 * Capture fails open: while the server is away decisions wait in the spool, and what the spool has no room for becomes
 * a gap in the chain. The server knows each decision by its `client_ref`, so that sending one again adds nothing.
 */
import { type ClientClock, pause } from "../clock.ts"
import type { Answer, Caller } from "../http/caller.ts"
import type { Problem } from "../problem.ts"
import type { Decision, Receipt } from "../wire.ts"
import { type Entry, type OwedGap, paid, widen } from "./entry.ts"
import type { Spool } from "./spool.ts"

/** Result of a flush. `pending`: entries that still wait; `rejected`: entries that the server refused for good. */
export interface Flushed {
  readonly accepted: number
  readonly duplicates: number
  readonly rejected: number
  readonly pending: number
}

/** Sends what was witnessed. */
export interface Recorder {
  /** Keeps an entry for sending; false where it became part of a gap. */
  readonly keep: (entry: Entry) => Promise<boolean>
  /** Sends one decision now and waits for its receipt; null where the server is away. Throws where it is refused. */
  readonly sendNow: (agentId: string, decision: Decision) => Promise<Receipt | null>
  /** Sends until nothing waits or the time is over. Unit: milliseconds. */
  readonly flush: (withinMs: number) => Promise<Flushed>
  readonly pending: () => number
  /** Ends sending. What waits stays in the spool. */
  readonly close: () => Promise<void>
}

/** Options of a recorder. Units: milliseconds. */
export interface RecorderOptions {
  readonly caller: Caller
  readonly spool: Spool
  readonly clock: ClientClock
  readonly timeoutMs: number
  readonly onProblem: (problem: Problem) => void
}

/** Time for which a first decision waits for others. Unit: milliseconds. */
const GATHER_MS = 250

/** Decisions of one request. The server takes 1,000; smaller batches lose less to one refusal. */
const BATCH = 200

/** Shortest and longest pause after a failure. Unit: milliseconds. */
const RETRY_MIN_MS = 200
const RETRY_MAX_MS = 60_000

/** A decision that the server refused. `status` and `answer` are the server's. */
export class DecisionRefused extends Error {
  override readonly name = "DecisionRefused"
  readonly status: number
  readonly answer: unknown
  constructor(status: number, answer: unknown) {
    super(`The server refused the decision with status ${status}: ${JSON.stringify(answer)?.slice(0, 500)}`)
    this.status = status
    this.answer = answer
  }
}

/** Result of sending a batch: the number of entries that are done with, or why none is. */
type Sent =
  | { readonly kind: "done"; readonly count: number }
  | { readonly kind: "away"; readonly reason: string; readonly retryAfterMs: number | null }

/** Starts to send what waits in the spool. */
export const startRecorder = (options: RecorderOptions): Recorder => {
  const { caller, clock, onProblem, spool, timeoutMs } = options
  const ending = new AbortController()
  const counts = { accepted: 0, duplicates: 0, rejected: 0 }
  let failures = 0
  let running: Promise<void> | null = null
  let wake = new AbortController()
  /** Resolved when the loop went idle or made a pause after a failure. */
  let passed: Array<() => void> = []

  const post = (path: string, json: object): Promise<Answer> =>
    caller.send({ method: "POST", path, json, timeoutMs, signal: ending.signal })

  const sendBatch = async (batch: ReadonlyArray<Entry>): Promise<Sent> => {
    const [first] = batch
    if (first === undefined) return { kind: "done", count: 0 }
    if (first.kind === "settle") return sendSettlement(first)
    const decisions = batch.flatMap((entry) => (entry.kind === "decision" ? [entry.decision] : []))
    const answer = await post(`/api/v1/agents/${first.agentId}/decisions`, { decisions })
    if (isAway(answer)) return awayOf(answer)
    if (answer.kind === "answer" && isSuccess(answer.status)) {
      for (const { duplicate } of receiptsOf(answer.body)) counts[duplicate ? "duplicates" : "accepted"]++
      return { kind: "done", count: batch.length }
    }
    // A batch is taken whole or not at all: halved again and again, only those that are refused are lost.
    if (decisions.length > 1) return sendBatch(batch.slice(0, Math.ceil(batch.length / 2)))
    return reject(answer, first.decision.client_ref)
  }

  const sendSettlement = async ({ clientRef, decisionId, settlement }: Extract<Entry, { kind: "settle" }>) => {
    const answer = await post(`/api/v1/decisions/${encodeURIComponent(decisionId)}/settle`, settlement)
    if (isAway(answer)) return awayOf(answer)
    if (answer.kind === "answer" && isSuccess(answer.status)) {
      counts[(answer.body as { readonly duplicate?: boolean } | null)?.duplicate === true ? "duplicates" : "accepted"]++
      return { kind: "done", count: 1 } as const
    }
    return reject(answer, clientRef)
  }

  const reject = (answer: Answer, clientRef: string): Sent => {
    counts.rejected++
    if (answer.kind === "answer") onProblem({ kind: "rejected", status: answer.status, clientRef, answer: answer.body })
    return { kind: "done", count: 1 }
  }

  /** Changes of the gaps that are not written yet, and the writing of those before them. */
  const changes: Array<(owed: ReadonlyArray<OwedGap>) => ReadonlyArray<OwedGap>> = []
  let writing: Promise<void> | null = null

  /** Losses and payments come at once: each builds on the one before it, and those that wait are written together. */
  const changeOwed = async (change: (owed: ReadonlyArray<OwedGap>) => ReadonlyArray<OwedGap>): Promise<void> => {
    changes.push(change)
    await writing
    if (!changes.includes(change)) return writing ?? undefined
    writing = spool
      .setOwed(changes.splice(0).reduce((owed, one) => one(owed), spool.owed()))
      .finally(() => (writing = null))
    return writing
  }

  /** Tells the chain of what was lost. A gap stays owed until the server has it. */
  const sendGaps = async (): Promise<Sent> => {
    for (const gap of spool.owed()) {
      const { agentId, ...body } = gap
      const answer = await post(`/api/v1/agents/${agentId}/capture-gaps`, body)
      if (isAway(answer)) return awayOf(answer)
      await changeOwed((owed) => paid(owed, gap))
      if (answer.kind === "answer" && !isSuccess(answer.status))
        onProblem({ kind: "rejected", status: answer.status, clientRef: `gap of ${gap.count}`, answer: answer.body })
    }
    return { kind: "done", count: 0 }
  }

  const step = async (): Promise<Sent> => {
    const batch = sameKind(await spool.first(BATCH))
    const sent = await sendBatch(batch)
    if (sent.kind === "away") return sent
    await spool.remove(sent.count)
    return sendGaps()
  }

  const loop = async (): Promise<void> => {
    while (!ending.signal.aborted && (spool.size() > 0 || spool.owed().length > 0)) {
      const sent = await step().catch((cause): Sent => ({
        kind: "away",
        reason: `the spool failed: ${String(cause)}`,
        retryAfterMs: null
      }))
      if (sent.kind === "done") {
        failures = 0
        continue
      }
      onProblem({ kind: "capture", reason: sent.reason, pending: spool.size() })
      const bound = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** failures++)
      passed.splice(0).forEach((call) => call())
      await rest(Math.max(sent.retryAfterMs ?? 0, RETRY_MIN_MS + clock.random() * (bound - RETRY_MIN_MS)))
    }
    passed.splice(0).forEach((call) => call())
  }

  /** A pause that a flush ends early. */
  const rest = async (ms: number): Promise<void> => {
    wake = new AbortController()
    await pause(clock, ms, AbortSignal.any([wake.signal, ending.signal]))
  }

  const run = (gatherMs: number): void => {
    if (running !== null || ending.signal.aborted) return
    running = rest(gatherMs)
      .then(loop)
      .finally(() => {
        running = null
        if (spool.size() > 0 && !ending.signal.aborted) run(0)
      })
  }

  const owe = async (agentId: string): Promise<void> => {
    const at = new Date(clock.nowMs()).toISOString()
    await changeOwed((owed) => [
      ...owed.filter((one) => one.agentId !== agentId),
      widen(
        owed.find((one) => one.agentId === agentId),
        agentId,
        at,
        1
      )
    ])
    onProblem({ kind: "lost", reason: "spool_full", count: 1 })
  }

  if (spool.size() > 0 || spool.owed().length > 0) run(0)
  return {
    keep: async (entry) => {
      const isKept = await spool.add(entry).catch((cause: unknown) => {
        onProblem({ kind: "spool", reason: String(cause) })
        return false
      })
      if (!isKept)
        await owe(entry.agentId).catch((cause: unknown) => onProblem({ kind: "spool", reason: String(cause) }))
      run(GATHER_MS)
      // A full batch ends the gathering, and never the pause after a failure: a server that is away is left alone.
      if (failures === 0 && spool.size() >= BATCH) wake.abort()
      return isKept
    },
    sendNow: async (agentId, decision) => {
      const answer = await post(`/api/v1/agents/${agentId}/decisions`, { decisions: [decision] })
      if (isAway(answer)) return null
      if (answer.kind === "answer" && isSuccess(answer.status)) return receiptsOf(answer.body)[0] ?? null
      throw new DecisionRefused(
        answer.kind === "answer" ? answer.status : 0,
        answer.kind === "answer" ? answer.body : null
      )
    },
    flush: async (withinMs) => {
      const before = { ...counts }
      const untilMs = clock.monotonicMs() + withinMs
      while ((spool.size() > 0 || spool.owed().length > 0) && clock.monotonicMs() < untilMs && !ending.signal.aborted) {
        const over = new Promise<void>((resolve) => passed.push(resolve))
        run(0)
        wake.abort()
        const ended = new AbortController()
        await Promise.race([over, pause(clock, untilMs - clock.monotonicMs(), ended.signal)])
        ended.abort()
        if (failures > 0) await pause(clock, Math.min(RETRY_MIN_MS, Math.max(0, untilMs - clock.monotonicMs())))
      }
      return {
        accepted: counts.accepted - before.accepted,
        duplicates: counts.duplicates - before.duplicates,
        rejected: counts.rejected - before.rejected,
        pending: spool.size()
      }
    },
    pending: () => spool.size(),
    close: async () => {
      ending.abort()
      await running
      await spool.close()
    }
  }
}

/** The longest run of entries that one request can carry: decisions of one agent, or one settlement. */
const sameKind = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const [first] = entries
  if (first === undefined || first.kind === "settle") return entries.slice(0, 1)
  const end = entries.findIndex((one) => one.kind !== "decision" || one.agentId !== first.agentId)
  return end < 0 ? entries : entries.slice(0, end)
}

/**
 * A key that is refused may be replaced while the process runs: what waits is kept. So is it on 408. A claim that the
 * key may not make is refused for good: the others of a batch do not wait for it.
 */
const isAway = (answer: Answer): boolean =>
  answer.kind === "unreachable" ||
  answer.status === 401 ||
  (answer.status === 403 && !claimsTooMuch(answer.body)) ||
  answer.status === 408

const claimsTooMuch = (body: unknown): boolean =>
  typeof body === "object" && body !== null && (body as { readonly code?: unknown }).code === "capture_not_mediated"

const awayOf = (answer: Answer): Sent =>
  answer.kind === "unreachable"
    ? { kind: "away", reason: answer.reason, retryAfterMs: answer.retryAfterMs }
    : { kind: "away", reason: `status ${answer.status}`, retryAfterMs: null }

const isSuccess = (status: number): boolean => status === 200 || status === 201

const receiptsOf = (body: unknown): ReadonlyArray<Receipt> =>
  (body as { readonly receipts?: ReadonlyArray<Receipt> } | null)?.receipts ?? []
