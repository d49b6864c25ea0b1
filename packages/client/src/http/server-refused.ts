/** The error of a request that the server refused or did not answer. */
import type { Answer } from "./caller.ts"

/** A request that the server refused, or that it did not answer. `status` is 0 where there was no answer. */
export class ServerRefused extends Error {
  override readonly name = "ServerRefused"
  readonly status: number
  readonly answer: unknown
  constructor(what: string, status: number, answer: unknown) {
    super(`${what}: ${status === 0 ? String(answer) : `status ${status}, ${JSON.stringify(answer)?.slice(0, 500)}`}`)
    this.status = status
    this.answer = answer
  }
}

/** The refusal that an answer is. */
export const refusedBy = (what: string, answer: Answer): ServerRefused =>
  answer.kind === "answer"
    ? new ServerRefused(what, answer.status, answer.body)
    : new ServerRefused(what, 0, answer.reason)
