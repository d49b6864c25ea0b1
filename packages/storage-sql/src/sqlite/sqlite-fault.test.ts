import { assert, describe, it } from "vitest"
import { faultOf, StoreDamaged, StoreRefused } from "./sqlite-fault.ts"

/** An error as `node:sqlite` throws it. Codes: SQLite, "Result and Error Codes". */
const sqliteError = (errcode: number): Error =>
  Object.assign(new Error("says SQLite"), { code: "ERR_SQLITE_ERROR", errcode })

describe("faultOf", () => {
  it("distinguishes unavailability, corruption and bugs", () => {
    const table: ReadonlyArray<readonly [error: unknown, tag: string, wrote?: string]> = [
      [sqliteError(13), "Unavailable", "no"],
      [sqliteError(5), "Unavailable", "no"],
      [sqliteError(262), "Unavailable", "no"],
      // IOERR_FSYNC, IOERR_WRITE (a file that may not grow), IOERR_SHMSIZE (no room for the index of the log),
      // IOERR_READ.
      [sqliteError(1034), "Unavailable", "unknown"],
      [sqliteError(778), "Unavailable", "unknown"],
      [sqliteError(4874), "Unavailable", "unknown"],
      [sqliteError(266), "Unavailable", "unknown"],
      [sqliteError(7), "Unavailable", "unknown"],
      [sqliteError(8), "Unavailable", "unknown"],
      [sqliteError(14), "Unavailable", "unknown"],
      [sqliteError(11), "Corrupt"],
      [sqliteError(267), "Corrupt"],
      [sqliteError(26), "Corrupt"],
      [sqliteError(2067), "Corrupt"],
      [new StoreDamaged("x"), "Corrupt"],
      [new StoreRefused("x"), "Unavailable", "no"],
      [new TypeError("x"), "Defect"],
      ["x", "Defect"]
    ]
    for (const [error, tag, wrote] of table) {
      const fault = faultOf(error, "unknown")
      assert.deepEqual(
        [fault._tag, fault._tag === "Unavailable" ? fault.wrote : undefined],
        [tag, wrote],
        String(error)
      )
    }
    for (const code of [1034, 778, 4874, 13]) {
      const before = faultOf(sqliteError(code))
      assert.equal(before._tag === "Unavailable" ? before.wrote : null, "no", String(code))
    }
  })
})
