/** Explains what to type where a running server holds the SQLite file: a command cannot write beside it. */
import type { Role } from "@flyball/contract"
import type { Settings } from "../../settings/read.ts"

/** The same act over HTTP. */
export interface SameOverHttp {
  readonly method: "POST" | "PUT"
  readonly path: string
  readonly role: Role
  /** The body, or the file that holds it. */
  readonly body: { readonly [member: string]: string } | string
}

/**
 * The error with what an operator does now, where another process holds the file; any other error as it is. `same` is
 * null for what HTTP does not take.
 *
 * A server that is down halts too: no client begins an action later than 15 s after its last answer.
 */
export const withWhatToType = (
  { oidcIssuer, port }: Pick<Settings, "oidcIssuer" | "port">,
  same: SameOverHttp | null,
  cause: unknown
): unknown => {
  if (!(cause instanceof Error) || !cause.message.includes("another process writes")) return cause
  return new Error(
    `${cause.message}. Nothing was recorded. Stop the server, run this again, and start the server: clients begin ` +
      `no new action after 15 s without an answer, and see the new state when it is back.` +
      (same === null ? "" : ` Or leave it running: ${curl(oidcIssuer, port, same)}`),
    { cause }
  )
}

const curl = (issuer: string | null, port: number, { body, method, path, role }: SameOverHttp): string =>
  `curl ${method === "POST" ? "" : `-X ${method} `}` +
  `-H "Authorization: Bearer ${issuer === null ? `$(flyball token --role ${role})` : "$TOKEN"}" ` +
  `-H 'Content-Type: application/json' -d '${dataOf(body)}' ` +
  `http://127.0.0.1:${port === 0 ? "PORT" : port}${path}` +
  (issuer === null ? "" : ` with an ${role}'s token of ${issuer}`)

/** For single quotes of a shell. */
const dataOf = (body: SameOverHttp["body"]): string =>
  typeof body === "string" ? `@${body.replaceAll("'", "'\\''")}` : JSON.stringify(body).replaceAll("'", "\\u0027")
