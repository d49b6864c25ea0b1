import { StorageCorrupt, StorageUnavailable } from "@flyball/core/storage"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import { assert, describe, it } from "vitest"
import { faultOf, isLost, mayBeOneOfMany, mayHaveCommitted } from "./postgres-fault.ts"

const answered = (code: string, severity = "ERROR", operation = "query"): SqlError =>
  new SqlError({
    reason: new UnknownError({
      cause: Object.assign(new Error('value "of a person"'), {
        severity: severity === "ERROR" ? "FEHLER" : severity,
        severityUnlocalized: severity,
        code,
        detail: "Key (key)=(secret)"
      }),
      message: "Query failed",
      operation
    })
  })

const unreached = (code: string): SqlError =>
  new SqlError({
    reason: new ConnectionError({
      cause: Object.assign(new Error("connect"), { code }),
      message: "PgConnection: Socket error",
      operation: "query"
    })
  })

describe("errors of Postgres", () => {
  it("mean corruption when no retry can help, and never quote the server's message", () => {
    for (const code of ["23505", "23514", "42P01", "42703", "XX001", "XX002"])
      assert.instanceOf(faultOf(answered(code)), StorageCorrupt, code)
    for (const code of [
      "53100",
      "53200",
      "53300",
      "57P02",
      "57P03",
      "55P03",
      "57014",
      "57P01",
      "28P01",
      "42501",
      "40P01",
      "58030",
      "25006"
    ]) {
      const fault = faultOf(answered(code), "unknown")
      assert.instanceOf(fault, StorageUnavailable, code)
      assert.equal((fault as StorageUnavailable).wrote, "unknown")
      assert.include(fault.message, code)
      assert.notMatch(fault.message + JSON.stringify(fault), /person|secret/)
    }
  })

  it("mean no corruption when a session is refused, whatever the code", () => {
    for (const code of ["23505", "42601", "42704", "42P01", "XX001", "22023", "28P01", "99999"]) {
      const fault = faultOf(answered(code, "FATAL", "connect"), "unknown")
      assert.instanceOf(fault, StorageUnavailable, code)
      assert.include(fault.message, code)
    }
    assert.include(faultOf(answered("42704", "FATAL", "connect")).message, "start-up parameter")
  })

  it("mean a lost connection when the server went away or was never reached", () => {
    for (const code of ["57P01", "57P02", "57P03", "25P03", "08006"]) assert.isTrue(isLost(answered(code)), code)
    for (const code of ["23505", "53100", "57014"]) assert.isFalse(isLost(answered(code)), code)
    for (const code of ["ECONNREFUSED", "EPIPE"]) {
      assert.isTrue(isLost(unreached(code)))
      assert.include(faultOf(unreached(code)).message, code)
    }
  })

  it("are attributed to one ChangeSet of a group only where they are about data or limits", () => {
    for (const code of ["22021", "23505", "54000"]) assert.isTrue(mayBeOneOfMany(answered(code)), code)
    for (const code of ["53100", "57P01", "40001"]) assert.isFalse(mayBeOneOfMany(answered(code)), code)
    assert.isFalse(mayBeOneOfMany(unreached("EPIPE")))
  })

  it("prove that a COMMIT failed only where the server reports a rollback", () => {
    for (const code of ["53100", "53200", "23505", "40001", "57014", "58030"])
      assert.isFalse(mayHaveCommitted(answered(code)), code)
    for (const code of ["57P01", "57P02", "57P03", "25P03", "08006"])
      assert.isTrue(mayHaveCommitted(answered(code, "FATAL")), code)
    // The write-ahead log is on a full disk: the server falls, and what it had written of the log counts when it comes
    // back.
    for (const code of ["53100", "58030", "XX000"]) assert.isTrue(mayHaveCommitted(answered(code, "PANIC")), code)
    assert.isTrue(mayHaveCommitted(unreached("EPIPE")))
  })

  it("state what to do", () => {
    const said: ReadonlyArray<readonly [code: string, words: RegExp]> = [
      ["53100", /disk is full; free some space/],
      ["53200", /memory is used up/],
      ["57P01", /stopped or restarted/],
      ["57P02", /starts again by itself/],
      ["57P03", /wait until it is ready/],
      ["58030", /disk failed/]
    ]
    for (const [code, words] of said) assert.match(faultOf(answered(code)).message, words)
  })
})
