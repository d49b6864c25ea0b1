/**
 * Callers of real servers: each asks until it is acknowledged, wherever somebody answers, and writes everything into
 * the book.
 */
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { argsOf, type Book, resultOf } from "../audit/book.ts"

/** An answer of the interface; null when the connection broke or nobody listens. */
export interface Answer {
  readonly status: number
  readonly body: { readonly [member: string]: unknown }
  /** As the server's log names it. */
  readonly requestId: string
  readonly retryAfter: string | null
}

/** How long one answer may take. Unit: milliseconds. A server that was killed says so sooner. */
const ANSWER_MS = 100_000
/** Pause before a retry. */
const AGAIN_MS = 30

/** Asks one server once. */
export const askOnce = async (
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown
): Promise<Answer | null> => {
  const requestId = randomUUID()
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "x-request-id": requestId,
        ...(body === undefined ? {} : { "content-type": "application/json" })
      },
      signal: AbortSignal.timeout(ANSWER_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    const json = (response.headers.get("content-type") ?? "").startsWith("application/json")
    return {
      status: response.status,
      body: json ? (JSON.parse(text) as Answer["body"]) : { text },
      requestId,
      retryAfter: response.headers.get("retry-after")
    }
  } catch {
    return null
  }
}

/** State shared by the callers of one set of servers. */
export interface Callers {
  readonly book: Book
  readonly token: string
  /** The server to ask next; null while none runs. */
  readonly server: () => string | null
  /** Goes on asking while this is true; who waits for an answer then gives up. */
  readonly goesOn: () => boolean
  /** Called with each answer that is not a success, before the retry. False: no retry. */
  readonly refused: (answer: Answer, what: string) => boolean
  /** Called when a connection broke, or nobody listens. */
  readonly broken: () => void
}

/**
 * Asks until somebody answers with success. Null: it was left, or time is up. `tries` says how often it may have landed
 * before.
 */
export const askUntil = async (
  callers: Callers,
  what: string,
  method: string,
  path: string,
  body?: unknown
): Promise<{ readonly body: Answer["body"]; readonly tries: number } | null> => {
  for (let tries = 1; callers.goesOn(); tries++) {
    const url = callers.server()
    const answer = url === null ? null : await askOnce(url, callers.token, method, path, body)
    if (answer !== null && answer.status < 300) return { body: answer.body, tries }
    if (answer === null) callers.broken()
    else if (!callers.refused(answer, what)) return null
    await pause(AGAIN_MS)
  }
  return null
}

/** Registers an agent, or finds out which one has the name already. */
export const registerAgent = async (callers: Callers, name: string): Promise<string> => {
  let taken: unknown = null
  const answer = await askUntil(
    {
      ...callers,
      refused: (refusal, what) => {
        taken = refusal.body["code"] === "agent_name_taken" ? refusal.body["agent_id"] : null
        return taken === null && callers.refused(refusal, what)
      }
    },
    "register",
    "POST",
    "/api/v1/agents",
    { name, org_unit: "ops" }
  )
  const id = answer?.body["id"] ?? taken
  assert.ok(typeof id === "string", `${name} could not be registered`)
  return id
}

interface Receipt {
  readonly client_ref: string
  readonly decision_id: string
  readonly seq: number
  readonly record_hash: string
  readonly duplicate: boolean
}

/** Witnesses a batch; the receipts, or null when it was left. What is acknowledged at the first try is no duplicate. */
export const witness = async (
  callers: Callers,
  agentId: string,
  refs: ReadonlyArray<string>
): Promise<ReadonlyArray<Receipt> | null> => {
  const { book } = callers
  const known = refs.every((ref) => book.witnessed.has(ref))
  book.sending(refs)
  const decisions = refs.map((client_ref) => ({
    client_ref,
    kind: "tool_call",
    action: "act",
    args: argsOf(client_ref, book.paddingBytes)
  }))
  const answer = await askUntil(callers, `witness ${refs.join(" ")}`, "POST", `/api/v1/agents/${agentId}/decisions`, {
    decisions
  })
  if (answer === null) return null
  const receipts = answer.body["receipts"] as ReadonlyArray<Receipt>
  for (const { client_ref, duplicate, record_hash: hash, seq } of receipts) {
    if (known && !duplicate) book.problems.push(`${client_ref} was acknowledged before, and is new at ${seq}`)
    if (!known && duplicate && answer.tries === 1)
      book.problems.push(`${client_ref} was sent once, and is a duplicate at ${seq}`)
    book.landed(book.witnessed, client_ref, { seq, hash })
  }
  return receipts
}

/** Settles a decision. */
export const settle = async (callers: Callers, { client_ref: ref, decision_id }: Receipt): Promise<void> => {
  const { book } = callers
  book.settleSent.add(ref)
  const answer = await askUntil(callers, `settle ${ref}`, "POST", `/api/v1/decisions/${decision_id}/settle`, {
    status: "ok",
    result: resultOf(ref)
  })
  if (answer !== null)
    book.landed(book.settled, ref, { seq: Number(answer.body["seq"]), hash: String(answer.body["record_hash"]) })
}

/** Erases a decision's arguments. An earlier try that landed makes it "erased before". */
export const erase = async (callers: Callers, { client_ref: ref, seq }: Receipt): Promise<void> => {
  const { book } = callers
  book.eraseSent.add(ref)
  let before = false
  const answer = await askUntil(
    {
      ...callers,
      refused: (refusal, what) => {
        before = refusal.body["code"] === "part_erased"
        return before ? false : callers.refused(refusal, what)
      }
    },
    `erase ${ref}`,
    "POST",
    "/api/v1/chain/erasures",
    { seq, name: "args", reason: "retention" }
  )
  if (answer !== null)
    book.erased.set(ref, { seq: Number(answer.body["seq"]), hash: String(answer.body["record_hash"]) })
  else if (before && !book.erased.has(ref)) book.erased.set(ref, null)
}

/**
 * One caller: batches of one to three, some settled, some erased, some sent a second time as a client does that lost
 * its answer.
 */
export const capture = async (callers: Callers, agentId: string, name: string): Promise<void> => {
  for (let index = 0; callers.goesOn(); index++) {
    const refs = Array.from({ length: 1 + (index % 3) }, (_, item) => `${name}/${index}/${item}`)
    const receipts = await witness(callers, agentId, refs)
    if (receipts === null) continue
    if (index % 3 === 1) await settle(callers, receipts[0]!)
    if (index % 11 === 5) await erase(callers, receipts[0]!)
    if (index % 5 === 2) await witness(callers, agentId, refs)
  }
}

/** Size that the newest checkpoint covers, and of the chain, as a server says. Null when it does not answer. */
export const signedSize = async (
  url: string,
  token: string
): Promise<{ readonly signed: number; readonly size: number; readonly rootHex: string } | null> => {
  const answer = await askOnce(url, token, "GET", "/api/v1/chain/head")
  if (answer === null || answer.status !== 200) return null
  const [, size = "0", root = ""] = String(answer.body["checkpoint"] ?? "").split("\n")
  return {
    signed: Number(size),
    size: Number(answer.body["tree_size"]),
    rootHex: Buffer.from(root, "base64").toString("hex")
  }
}
