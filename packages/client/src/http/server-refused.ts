/** The error of a request that the server refused or did not answer. */
import type { Answer } from "./caller.ts"

/** A request that the server refused, or that it did not answer. `status` is 0 where there was no answer. */
export class ServerRefused extends Error {
  override readonly name = "ServerRefused"
  readonly status: number
  readonly answer: unknown
  constructor(what: string, status: number, answer: unknown) {
    const text = typeof answer === "string" ? answer : JSON.stringify(answer)?.slice(0, 500)
    super(`${what}: ${status === 0 ? "" : `status ${status}, `}${text}`)
    this.status = status
    this.answer = answer
  }
}

/** The refusal that an answer is. */
export const refusedBy = (what: string, answer: Answer): ServerRefused =>
  answer.kind === "answer"
    ? new ServerRefused(
        what,
        answer.status,
        answer.body === undefined ? `which is no answer of a Flyball server: ${answer.excerpt}` : answer.body
      )
    : new ServerRefused(what, 0, answer.reason)
