/**
 * Sends what was witnessed, in order and in batches, and tells the truth about what is not sent yet.
 *
 * Capture fails open: while the server is away decisions wait in the spool, and what the spool has no room for becomes
 * a gap in the chain. The server knows each decision by its `client_ref`, so that sending one again adds nothing.
 */
import { awaitedPause, type ClientClock, pause } from "../clock.ts"
import type { Answer, Caller } from "../http/caller.ts"
import { refusalText } from "../http/server-refused.ts"
import type { Problem } from "../problem.ts"
import type { Decision, Gap, Receipt } from "../wire.ts"
import { type Entry, type UnreportedGap, withLoss, withoutParts, withoutReported } from "./entry.ts"
import type { Spool } from "./spool.ts"

/** Result of a flush. `pending`: entries that still wait; `rejected`: those that were refused and became a gap. */
export interface Flushed {
  readonly accepted: number
  readonly duplicates: number
  readonly rejected: number
  readonly pending: number
}

/** Sends what was witnessed. */
export interface Recorder {
  /** Keeps an entry for sending; false where it became part of a gap, or came after the end. */
  readonly keep: (entry: Entry) => Promise<boolean>
  /** Sends one decision now and waits for its receipt; null where the server is away. Throws where it is refused. */
  readonly sendNow: (agentId: string, decision: Decision) => Promise<Receipt | null>
  /** Tells of an agent that the server knows: losses of nobody known count as its own. */
  readonly knows: (agentId: string) => void
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

/** Most decisions of one request. The server takes 1,000; smaller batches lose less to one refusal. */
const BATCH = 200

/** Most that one request carries, where one entry alone is not more. Unit: characters of JSON. */
const BATCH_CHARS = 1_048_576

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
  /** Decisions of the next request: fewer after one that was refused or too slow, more after one that was taken. */
  let batchSize = BATCH
  /** Until then the server wants no request; on the monotonic clock. */
  let notBeforeMs = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null
  let wake = new AbortController()
  /** Resolved when the loop went idle or made a pause after a failure. */
  let passed: Array<() => void> = []

  const post = (path: string, json: object): Promise<Answer> =>
    caller.send({ method: "POST", path, json, timeoutMs, signal: ending.signal })

  const postDecisions = (agentId: string, decisions: ReadonlyArray<Decision>): Promise<Answer> =>
    post(`/api/v1/agents/${agentId}/decisions`, { decisions })

  const sendBatch = async (batch: ReadonlyArray<Entry>): Promise<Sent> => {
    const [first] = batch
    if (first === undefined) return { kind: "done", count: 0 }
    if (first.kind === "settle") return sendSettlement(first)
    if (first.kind === "outcome") return sendOutcome(first)
    const decisions = batch.flatMap((entry) => (entry.kind === "decision" ? [entry.decision] : []))
    const answer = await postDecisions(first.agentId, decisions)
    const receipts = receiptsOf(answer, decisions)
    if (receipts !== null) {
      for (const { duplicate } of receipts) counts[duplicate ? "duplicates" : "accepted"]++
      batchSize = Math.min(BATCH, batchSize * 2)
      return { kind: "done", count: batch.length }
    }
    const fewer = Math.ceil(decisions.length / 2)
    if (isAway(answer)) {
      // It may have been too much for the line and the time of a request.
      if (answer.kind === "unreachable" && answer.isSlow) batchSize = fewer
      return awayOf(answer)
    }
    // A batch is taken whole or not at all: halved again and again, only those that are refused are lost.
    if (decisions.length > 1 && !concernsAgent(answer)) {
      batchSize = fewer
      return sendBatch(batch.slice(0, fewer))
    }
    const last = decisions.length > 1 ? { answer, receipt: null } : await witnessOne(first, answer)
    if (last.receipt !== null) return count(last.receipt.duplicate)
    if (isAway(last.answer)) return awayOf(last.answer)
    return reject(
      last.answer,
      first.agentId,
      decisions.map((decision) => decision.client_ref)
    )
  }

  /** Sends one decision once more without its parts, where it was refused with them. */
  const witnessOne = async (
    { agentId, decision }: Exclude<Entry, { kind: "settle" }>,
    answer: Answer
  ): Promise<{ readonly answer: Answer; readonly receipt: Receipt | null }> => {
    const receipt = receiptsOf(answer, [decision])?.[0] ?? null
    const isOver = receipt !== null || isAway(answer) || concernsAgent(answer)
    const bare = isOver ? null : withoutParts(decision, refusalOf(answer))
    if (bare === null) return { answer, receipt }
    const again = await postDecisions(agentId, [bare])
    const kept = receiptsOf(again, [bare])?.[0] ?? null
    if (kept !== null) report("reduced", answer, decision.client_ref)
    return { answer: again, receipt: kept }
  }

  const sendSettlement = async (entry: Extract<Entry, { kind: "settle" }>): Promise<Sent> => {
    const { agentId, clientRef, decisionId, settlement } = entry
    const path = `/api/v1/decisions/${encodeURIComponent(decisionId)}/settle`
    let answer = await post(path, settlement)
    let duplicate = answeredMember(answer, "duplicate")
    if (typeof duplicate !== "boolean" && !isAway(answer) && Object.keys(settlement).length > 1) {
      const first = answer
      answer = await post(path, { status: settlement.status })
      duplicate = answeredMember(answer, "duplicate")
      if (typeof duplicate === "boolean") report("reduced", first, clientRef)
    }
    if (typeof duplicate === "boolean") return count(duplicate)
    return isAway(answer) ? awayOf(answer) : reject(answer, agentId, [clientRef])
  }

  const sendOutcome = async (entry: Extract<Entry, { kind: "outcome" }>): Promise<Sent> => {
    const { agentId, decision, settlement } = entry
    const { client_ref: clientRef } = decision
    const { answer, receipt } = await witnessOne(entry, await postDecisions(agentId, [decision]))
    if (receipt === null) return isAway(answer) ? awayOf(answer) : reject(answer, agentId, [clientRef])
    return sendSettlement({ kind: "settle", agentId, decisionId: receipt.decision_id, clientRef, settlement })
  }

  const count = (duplicate: boolean): Sent => {
    counts[duplicate ? "duplicates" : "accepted"]++
    return { kind: "done", count: 1 }
  }

  const report = (kind: "reduced" | "rejected", answer: Answer, clientRef: string): void => {
    if (answer.kind === "answer") onProblem({ kind, status: answer.status, clientRef, answer: answer.body })
  }

  /** Ends entries that are refused for good: they become a gap. */
  const reject = async (answer: Answer, agentId: string, clientRefs: ReadonlyArray<string>): Promise<Sent> => {
    if (concernsAgent(answer)) unknown.add(agentId)
    await oweOrReport(agentId, "refused", clientRefs.length)
    counts.rejected += clientRefs.length
    for (const clientRef of clientRefs) report("rejected", answer, clientRef)
    return { kind: "done", count: clientRefs.length }
  }

  /** Changes of the gaps that are not written yet, and the writing of those before them. */
  const changes: Array<(gaps: ReadonlyArray<UnreportedGap>) => ReadonlyArray<UnreportedGap>> = []
  let writing: Promise<void> | null = null

  /** Losses and payments come at once: each builds on the one before it, and those that wait are written together. */
  const changeGaps = async (
    change: (gaps: ReadonlyArray<UnreportedGap>) => ReadonlyArray<UnreportedGap>
  ): Promise<void> => {
    changes.push(change)
    await writing
    if (!changes.includes(change)) return writing ?? undefined
    writing = spool
      .setGaps(changes.splice(0).reduce((gaps, one) => one(gaps), spool.gaps()))
      .finally(() => (writing = null))
    return writing
  }

  /** Agents that the server does not know: their gaps wait until it does. */
  const unknown = new Set<string>()
  /** The agent whose losses those of nobody known are. */
  let adopting: string | null = null

  const owedGaps = (): ReadonlyArray<UnreportedGap> =>
    spool.gaps().filter(({ agentId }) => (agentId === "" ? adopting !== null : !unknown.has(agentId)))

  const isIdle = (): boolean => spool.size() === 0 && owedGaps().length === 0

  /** Reports losses to the chain. A gap stays to be reported until the server has it. */
  const sendGaps = async (): Promise<Sent> => {
    for (const gap of owedGaps()) {
      const { agentId: known, ...body } = gap
      const agentId = known === "" ? adopting! : known
      const answer = await post(`/api/v1/agents/${agentId}/capture-gaps`, body)
      const isRecorded = typeof answeredMember(answer, "seq") === "number"
      if (!isRecorded && isAway(answer)) return awayOf(answer)
      if (concernsAgent(answer)) {
        unknown.add(agentId)
        if (known === "") adopting = null
        continue
      }
      await changeGaps((gaps) => withoutReported(gaps, gap))
      if (!isRecorded) report("rejected", answer, `gap of ${gap.count}`)
    }
    return { kind: "done", count: 0 }
  }

  const step = async (): Promise<Sent> => {
    const { rejected } = counts
    const batch = ofOneRequest(await spool.first(batchSize))
    const sent = await sendBatch(batch)
    if (sent.kind === "away") return sent
    await spool.remove(sent.count)
    // What is refused in a row becomes one gap.
    return counts.rejected > rejected && spool.size() > 0 ? sent : sendGaps()
  }

  const loop = async (): Promise<void> => {
    while (!ending.signal.aborted && !isIdle()) {
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
      if (sent.retryAfterMs !== null) notBeforeMs = clock.monotonicMs() + sent.retryAfterMs
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

  const owe = async (agentId: string, reason: Gap["reason"], count: number): Promise<void> => {
    const at = new Date(clock.nowMs()).toISOString()
    await changeGaps((gaps) => withLoss(gaps, { agentId, from: at, to: at, count, reason }))
  }

  /** The spool counts a loss that it cannot write too: what is sent again for it would count it again. */
  const oweOrReport = (agentId: string, reason: Gap["reason"], count: number): Promise<void> =>
    owe(agentId, reason, count).catch((cause: unknown) => onProblem({ kind: "spool", reason: String(cause) }))

  if (!isIdle()) run(0)
  return {
    keep: async (entry) => {
      if (ending.signal.aborted) {
        onProblem({ kind: "lost", reason: "closed", count: 1 })
        return false
      }
      const isKept = await spool.add(entry).catch((cause: unknown) => {
        onProblem({ kind: "spool", reason: String(cause) })
        return false
      })
      if (!isKept) {
        await oweOrReport(entry.agentId, "spool_full", 1)
        onProblem({ kind: "lost", reason: "spool_full", count: 1 })
      }
      run(GATHER_MS)
      // A full batch ends the gathering, and never the pause after a failure: a server that is away is left alone.
      if (failures === 0 && spool.size() >= BATCH) wake.abort()
      return isKept
    },
    sendNow: async (agentId, decision) => {
      const answer = await postDecisions(agentId, [decision])
      const receipts = receiptsOf(answer, [decision])
      if (receipts !== null) return receipts[0]!
      if (isAway(answer)) return null
      throw new DecisionRefused(
        answer.kind === "answer" ? answer.status : 0,
        answer.kind === "answer" ? answer.body : null
      )
    },
    knows: (agentId) => {
      unknown.delete(agentId)
      adopting ??= agentId
      if (!isIdle()) run(0)
    },
    flush: async (withinMs) => {
      const before = { ...counts }
      const untilMs = clock.monotonicMs() + withinMs
      while (!isIdle() && clock.monotonicMs() < untilMs && !ending.signal.aborted) {
        const over = new Promise<void>((resolve) => passed.push(resolve))
        run(0)
        if (clock.monotonicMs() >= notBeforeMs) wake.abort()
        const ended = new AbortController()
        await Promise.race([over, awaitedPause(clock, untilMs - clock.monotonicMs(), ended.signal)])
        ended.abort()
        if (failures > 0) await awaitedPause(clock, Math.min(RETRY_MIN_MS, Math.max(0, untilMs - clock.monotonicMs())))
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

/** The longest run of entries that one request can carry: decisions of one agent, or one entry of another kind. */
const ofOneRequest = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> => {
  const [first] = entries
  if (first === undefined || first.kind !== "decision") return entries.slice(0, 1)
  let chars = 0
  const end = entries.findIndex((one, at) => {
    if (one.kind !== "decision" || one.agentId !== first.agentId) return true
    chars += JSON.stringify(one.decision).length
    return at > 0 && chars > BATCH_CHARS
  })
  return end < 0 ? entries : entries.slice(0, end)
}

/**
 * True when what was sent stays and is sent again. Only a refusal of a Flyball server ends an entry: what a proxy or a
 * wrong address answers is none. A key that is refused may be replaced while the process runs. A claim that the key may
 * not make is refused for good: the others of a batch do not wait for it. 413 counts from anybody.
 */
const isAway = (answer: Answer): boolean => {
  if (answer.kind === "unreachable") return true
  const { body, status } = answer
  if (status === 413) return false
  if (isSuccess(status) || status === 401 || status === 408 || !isRefusal(body)) return true
  return status === 403 && codeOf(body) !== "capture_not_mediated"
}

/** The code of a refusal, or its status. */
const refusalOf = (answer: Answer): string =>
  answer.kind === "answer" ? (codeOf(answer.body) ?? `status_${answer.status}`) : answer.reason

/** True for a refusal of everything of this agent: it is not known here. */
const concernsAgent = (answer: Answer): boolean =>
  answer.kind === "answer" && answer.status === 404 && codeOf(answer.body) === "agent_not_found"

const awayOf = (answer: Answer): Sent =>
  answer.kind === "unreachable"
    ? { kind: "away", reason: answer.reason, retryAfterMs: answer.retryAfterMs }
    : { kind: "away", reason: reasonOf(answer), retryAfterMs: null }

const reasonOf = (answer: Extract<Answer, { kind: "answer" }>): string =>
  isSuccess(answer.status) ? `status ${answer.status}, which is no receipt: ${answer.excerpt}` : refusalText(answer)

const isSuccess = (status: number): boolean => status === 200 || status === 201

/** A refusal has a code, or it lists what is wrong with the body (422). */
const isRefusal = (body: unknown): boolean =>
  codeOf(body) !== null || Array.isArray((body as { readonly detail?: unknown } | null | undefined)?.detail)

const codeOf = (body: unknown): string | null => {
  const code = (body as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === "string" ? code : null
}

/** A member of the body that the server answered with success. */
const answeredMember = (answer: Answer, name: string): unknown =>
  answer.kind === "answer" && isSuccess(answer.status)
    ? (answer.body as { readonly [name: string]: unknown } | null | undefined)?.[name]
    : undefined

/** The receipts of these decisions; null where the answer is anything else, and so does not say that they are kept. */
const receiptsOf = (answer: Answer, decisions: ReadonlyArray<Decision>): ReadonlyArray<Receipt> | null => {
  const receipts = answeredMember(answer, "receipts")
  if (!Array.isArray(receipts)) return null
  const refs = new Set(receipts.map((one: Partial<Receipt> | null) => one?.client_ref))
  return decisions.every((decision) => refs.has(decision.client_ref)) ? (receipts as ReadonlyArray<Receipt>) : null
}
