import { detailItem, InvalidInput, QuotaExceeded, RateLimitExceeded, refusals } from "@flyball/contract"
import { internalError, type Problem, problemOf } from "@flyball/contract/http"
import { assert, describe, it } from "vitest"
import type { Incoming } from "../exchange.ts"
import { shown } from "./shown.ts"

const to = (accept = "*/*") => ({ requestId: "req_1", request: { headers: { accept } } as unknown as Incoming })
const errorOf = ({ body }: Problem) => body["error"] as { readonly [member: string]: unknown }

describe("an error of document 2", () => {
  it("has code, message, type, param and request id, for every refusal there is", () => {
    for (const { example } of Object.values(refusals)) {
      const { status, ...answer } = shown(problemOf(example)!, to())
      const error = errorOf({ status, ...answer })
      for (const member of ["code", "message", "type", "request_id"]) assert.isString(error[member], example._tag)
      assert.isTrue("param" in error)
      assert.notProperty(error, "detail")
      assert.match(String(error["type"]), /_error$/)
    }
    assert.deepInclude(errorOf(shown(internalError("req_1"), to())), { code: "internal_error", type: "api_error" })
  })

  it("names the first field that is wrong, as its caller writes it, and answers 400", () => {
    const at = (...loc: ReadonlyArray<string>) =>
      shown(problemOf(new InvalidInput({ detail: [detailItem(loc, "int_type", "Expected an integer.", "x")] }))!, to())
    assert.deepInclude(errorOf(at("body", "dataset", "rows", "3", "age")), {
      code: "invalid_request",
      type: "validation_error",
      param: "dataset.rows[3].age",
      message: "dataset.rows[3].age is not valid: Expected an integer."
    })
    assert.strictEqual(at("query", "limit").status, 400)
    assert.strictEqual(errorOf(at("query", "limit"))["param"], "limit")
    assert.isNull(errorOf(at("body"))["param"])
  })

  it("stops clients that repeat every 409 and 429 where repeating does not help", () => {
    const retry = (problem: Problem) => shown(problem, to()).headers["x-should-retry"]
    assert.strictEqual(retry(problemOf(QuotaExceeded.example)!), "false")
    assert.strictEqual(retry(problemOf(refusals.IdempotencyKeyReused.example)!), "false")
    assert.strictEqual(retry(problemOf(refusals.InvalidTransition.example)!), "false")
    assert.isUndefined(retry(problemOf(refusals.IdempotencyKeyInUse.example)!))
    const limited = shown(problemOf(new RateLimitExceeded({ reason: "plan-day", retryAfterS: 9_999_999 }))!, to())
    assert.deepInclude(limited.headers, { "retry-after": "2147483", "x-ratelimit-reason": "plan-day" })
  })

  it("is RFC 9457 for those who ask for it", () => {
    const { body, headers } = shown(problemOf(refusals.PlatformKeyNotFound.example)!, to("application/problem+json"))
    assert.deepInclude(body, { status: 404, code: "not_found", param: null, request_id: "req_1" })
    assert.strictEqual(headers["content-type"], "application/problem+json")
  })
})
