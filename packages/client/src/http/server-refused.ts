/** The error of a request that the server refused or did not answer. */
import type { Answer } from "./caller.ts"

/**
 * A request that the server refused, or that it did not answer. `status` is 0 where there was no answer. Spec: document
 * 1 section 7.
 */
export class ServerRefused extends Error {
  override readonly name = "ServerRefused"
  readonly status: number
  /** Body of the answer; why there was none where `status` is 0, and how it begins where it is no JSON. */
  readonly answer: unknown
  constructor(message: string, status: number, answer: unknown) {
    super(message)
    this.status = status
    this.answer = answer
  }
}

/** The refusal that an answer is. */
export const refusedBy = (what: string, answer: Answer): ServerRefused =>
  answer.kind === "answer"
    ? new ServerRefused(`${what}: ${refusalText(answer)}`, answer.status, answer.body ?? answer.excerpt)
    : new ServerRefused(`${what}: ${answer.reason}`, 0, answer.reason)

/** The answer of a request that a closed client does not send. */
export const CLIENT_CLOSED = "the client is closed"

/** The refusal of what a closed client does not do any more. Status 0. */
export const refusedAsClosed = (what: string): ServerRefused =>
  new ServerRefused(`${what}: ${CLIENT_CLOSED}`, 0, CLIENT_CLOSED)

/** A refusal in words: its status and code, and the server's sentence; of what is no JSON, how it begins. */
export const refusalText = ({ body, excerpt, status }: Extract<Answer, { kind: "answer" }>): string => {
  if (body === undefined) return `status ${status}, which is no answer of a Flyball server: ${excerpt}`
  const { code, detail } = (body ?? {}) as { readonly code?: unknown; readonly detail?: unknown }
  const known = typeof code === "string" ? `status ${status} ${code}` : `status ${status}`
  const reason = typeof detail === "string" ? detail : firstOf(detail)
  return reason === null ? known : `${known}: ${reason}`
}

/** The first of the errors that a 422 lists. */
const firstOf = (detail: unknown): string | null => {
  const [first] = Array.isArray(detail)
    ? (detail as ReadonlyArray<{ readonly loc?: unknown; readonly msg?: unknown }>)
    : []
  if (typeof first?.msg !== "string") return null
  return Array.isArray(first.loc) ? `${first.loc.join(".")}: ${first.msg}` : first.msg
}
