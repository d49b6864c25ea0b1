/** Converts errors of Postgres and of the connection to it into faults of the port. */
import { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { ConnectionError, SqlError } from "effect/sql/SqlError"

/**
 * Five characters that the server gives with every error, null when the error is not the server's. Spec: PostgreSQL,
 * appendix A.
 */
export const sqlState = (error: SqlError): string | null => {
  const { cause } = error.reason
  return typeof cause === "object" &&
    cause !== null &&
    "severity" in cause &&
    "code" in cause &&
    typeof cause.code === "string"
    ? cause.code
    : null
}

/** Why a session must not be used, as a part of a sentence with what to do. */
class UnfitSession extends Error {}

/** The error of a session that was opened and must not be used. Nothing was sent on it. */
export const unfitSession = (problem: string): SqlError =>
  new SqlError({
    reason: new ConnectionError({ cause: new UnfitSession(problem), message: "Unfit session", operation: "connect" })
  })

/**
 * Server shut down or crashed (57P..), session ended for idling in a transaction (25P03), connection exceptions
 * (08...).
 */
const lostStates = /^(57P0.|25P03|08...)$/

/** True when the connection is gone, so that what was on its way has no answer. */
export const isLost = (error: SqlError): boolean => {
  const state = sqlState(error)
  return state === null ? error.reason._tag === "ConnectionError" : lostStates.test(state)
}

/**
 * True when a COMMIT that was answered with this may be durable all the same.
 *
 * An ERROR is the server's word that it rolled back. FATAL and PANIC end the session or the server wherever it was,
 * whatever the code says: a log that could not be written to its end (PANIC 53100 on a full disk) may hold the commit
 * all the same, and is replayed at the next start.
 */
export const mayHaveCommitted = (error: SqlError): boolean =>
  sqlState(error) === null || isLost(error) || severity(error) !== "ERROR"

/**
 * The severity in the protocol's own words: the other one is in the language of the server. Spec: PostgreSQL, "Error
 * and Notice Message Fields".
 */
const severity = ({ reason: { cause } }: SqlError): unknown =>
  typeof cause === "object" && cause !== null
    ? "severityUnlocalized" in cause
      ? cause.severityUnlocalized
      : "severity" in cause
        ? cause.severity
        : null
    : null

/** Data that does not fit, constraints, limits of the program: something in the group itself, not in the world. */
const groupStates = /^(22|23|54)/

/** True when one of several ChangeSets may be to blame, so that the others deserve a transaction without it. */
export const mayBeOneOfMany = (error: SqlError): boolean => groupStates.test(sqlState(error) ?? "")

/** Integrity constraints, missing tables and columns, damaged data: nothing a retry could change. */
const corruptStates = /^(23...|42(?!501)...|XX00[12])$/

const waitStates: { readonly [state: string]: string } = {
  "53100": "its disk is full; free some space",
  "53200": "its memory is used up; give it more, or lower its max_connections",
  "53300": "it has no connection left; raise max_connections or lower maxConnections",
  "55000": "it takes no connection to this database now; see its log",
  "55P03": "another session held a lock on the store for too long",
  "57P01": "it ends its sessions, as it does when it is stopped or restarted",
  "57P02": "it stops after another of its processes crashed; it starts again by itself",
  "57P03": "it is starting or stopping; wait until it is ready",
  "58030": "its disk failed",
  "25006": "it takes no writes; the address must lead to the primary",
  "08P01": "it or a pooler before it refused the start-up parameters; connect to Postgres itself",
  "26000": "a pooler before it changes sessions between statements; connect to Postgres itself",
  "42P05": "a pooler before it changes sessions between statements; connect to Postgres itself",
  "57014": "a statement took too long and was cancelled",
  "28P01": "it refused the password",
  "28000": "it refused the role",
  "3D000": "the database does not exist; create it",
  "42501": "the role lacks a privilege that the store needs"
}

const parameters = "take `options` and other parameters out of the address, and connect to Postgres 14 or later itself"

/** Answers of the server before any statement. Nothing of the store was read then, so nothing is known of its data. */
const openingStates: typeof waitStates = {
  ...waitStates,
  "22023": `it refused the value of a start-up parameter; ${parameters}`,
  "42501": "the role may not connect, or may not set the parameters of its session",
  "42601": `it cannot read the start-up parameters; ${parameters}`,
  "42704": `it does not know a start-up parameter; ${parameters}`,
  "55P02": `it refused a start-up parameter; ${parameters}`
}

/**
 * Turns an error into one of the port's faults. Only a statement of ours can find the store corrupt. The server's own
 * words may quote what people wrote, so only its code is passed on.
 */
export const faultOf = (error: SqlError, wrote: "no" | "unknown" = "no"): StorageUnavailable | StorageCorrupt => {
  const { cause } = error.reason
  if (cause instanceof UnfitSession) return new StorageUnavailable({ reason: cause.message, wrote: "no" })
  const state = sqlState(error)
  if (state === null) {
    return new StorageUnavailable({
      reason: `Postgres did not answer (${wayProblem(error)}); check that it runs and can be reached`,
      wrote
    })
  }
  const opening = error.reason.operation === "connect"
  const waiting = (opening ? openingStates : waitStates)[state]
  if (waiting !== undefined) return new StorageUnavailable({ reason: `Postgres answered ${state}: ${waiting}`, wrote })
  if (opening)
    return new StorageUnavailable({ reason: `Postgres refused a session with ${state}; see its log`, wrote: "no" })
  if (corruptStates.test(state))
    return new StorageCorrupt({ reason: `Postgres answered ${state} to a statement that cannot fail on a sound store` })
  return new StorageUnavailable({ reason: `Postgres answered ${state}`, wrote })
}

/** The system's short code (`ECONNREFUSED`) where there is one: full messages may hold the URL. */
const wayProblem = (error: SqlError): string => {
  const { cause } = error.reason
  if (typeof cause === "object" && cause !== null && "code" in cause && typeof cause.code === "string")
    return cause.code
  return error.reason.message
    .replace(/^PgConnection: /, "")
    .slice(0, 80)
    .toLowerCase()
}
