import { assert, describe, it } from "vitest"
import { refusalText } from "./server-refused.ts"

const text = (status: number, body: unknown, excerpt = ""): string =>
  refusalText({ kind: "answer", status, body, excerpt, headers: new Headers(), sentAtMs: 0 })

describe("a refusal in words", () => {
  it("has the server's code and sentence, and the first of what is wrong with a body", () => {
    assert.strictEqual(
      text(404, { code: "agent_not_found", detail: "There is no such agent." }),
      "status 404 agent_not_found: There is no such agent."
    )
    const detail = [{ loc: ["body", "signals", "cents"], msg: "Expected an integer", type: "int" }]
    assert.strictEqual(text(422, { detail }), "status 422: body.signals.cents: Expected an integer")
  })

  it("says of anything else how it begins, or its status alone", () => {
    assert.strictEqual(
      text(404, undefined, "<h1>Not found"),
      "status 404, which is no answer of a Flyball server: <h1>Not found"
    )
    for (const body of [null, 7, "no", [], {}, { detail: [] }, { detail: [null] }, { detail: {} }])
      assert.strictEqual(text(400, body), "status 400", JSON.stringify(body))
  })
})
