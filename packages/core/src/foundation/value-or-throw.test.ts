import { Cause, Data, Exit } from "effect"
import { assert, describe, it } from "vitest"
import { StorageUnavailable } from "../storage/faults.ts"
import { governorError, valueOrThrow } from "./value-or-throw.ts"
import { GovernorError } from "./governor-error.ts"

class ClientRefReused extends Data.TaggedError("ClientRefReused")<{ readonly indexes: ReadonlyArray<number> }> {}
class InvalidInput extends Data.TaggedError("InvalidInput")<{ readonly detail: ReadonlyArray<unknown> }> {}
class AgentNotFound extends Data.TaggedError("AgentNotFound")<{}> {}

const thrownBy = (run: () => unknown): GovernorError => {
  try {
    run()
  } catch (error) {
    if (error instanceof GovernorError) return error
  }
  throw new Error("Expected a GovernorError.")
}

describe("the error that a host gets", () => {
  it("names a refusal by its wire code and passes on its members", () => {
    const error = governorError(new ClientRefReused({ indexes: [1, 3] }))
    assert.strictEqual(error.code, "client_ref_reused")
    assert.deepStrictEqual(error.detail, { indexes: [1, 3] })
  })

  it("hands on the list of an invalid input as it is, and null where there is nothing", () => {
    assert.deepStrictEqual(governorError(new InvalidInput({ detail: [{ type: "missing" }] })).detail, [
      { type: "missing" }
    ])
    assert.strictEqual(governorError(new AgentNotFound()).detail, null)
  })

  it("keeps a fault's sentence", () => {
    const error = governorError(new StorageUnavailable({ reason: "the disk is full", wrote: "no" }))
    assert.strictEqual(error.code, "storage_unavailable")
    assert.include(error.message, "the disk is full")
    const busy = governorError(new StorageUnavailable({ reason: "64 times", wrote: "no", contended: true }))
    assert.strictEqual(busy.code, "storage_conflict")
    assert.match(busy.message, /^Other requests kept changing .* send it again\.$/)
  })

  it("distinguishes an interrupted call from a defect", () => {
    assert.strictEqual(thrownBy(() => valueOrThrow(Exit.failCause(Cause.interrupt(1)))).code, "aborted")
    const defect = thrownBy(() => valueOrThrow(Exit.die(new Error("secret inside"))))
    assert.strictEqual(defect.code, "internal_error")
    assert.notInclude(defect.message, "secret inside")
  })
})
