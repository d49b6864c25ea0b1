/**
 * Every endpoint with bodies that are no JSON of the contract: status, type and loc as it says, and nothing is half
 * written. Spec: api.md, Conventions.
 */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { BODY_LIMIT_BYTES } from "@flyball/contract"
import { endpoints } from "@flyball/contract/http"
import { assert, describe, it } from "vitest"
import { listBodies, withMembers } from "./http-requests.ts"
import { givenRefusedWorld, seen } from "./testing/given-refused-world.ts"

const given = givenRefusedWorld()

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth)
const chunked = (bytes: number): ReadableStream => {
  let left = bytes
  return new ReadableStream({
    pull: (controller) => {
      if (left <= 0) return controller.close()
      controller.enqueue(new Uint8Array(Math.min(65_536, left)).fill(32))
      left -= 65_536
    }
  })
}
const type = (value: string) => ({ headers: { "content-type": value } })

describe("bodies that are no JSON of the contract", () => {
  for (const endpoint of endpoints.filter(({ method }) => method !== "GET")) {
    const limit = endpoint.body?.limitBytes ?? BODY_LIMIT_BYTES
    const isOfList = listBodies.has(endpoint.id)
    const wrongType = isOfList ? "list_type" : "dict_type"
    it(`${endpoint.method} ${endpoint.path}`, () =>
      given.refusedAlike(endpoint, [
        ["half of an object", () => ({ body: '{"a":' }), [422, "json_invalid", "body"]],
        ["two values", () => ({ body: "{} {}" }), [422, "json_invalid", "body"]],
        ["NaN", () => ({ body: '{"a":NaN}' }), [422, "json_invalid", "body"]],
        ["two byte-order marks", () => ({ body: "\ufeff\ufeff{}" }), [422, "json_invalid", "body"]],
        [
          "bytes that are not UTF-8",
          () => ({ body: new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]) }),
          [422, "json_invalid", "body"]
        ],
        [
          "an encoded surrogate",
          () => ({ body: new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]) }),
          [422, "json_invalid", "body"]
        ],
        ["a NUL byte", () => ({ body: '{"a":"\0"}' }), [422, "json_invalid", "body"]],
        ["65 open arrays", () => ({ body: nested(65) }), [422, "json_invalid", "body"]],
        ["a million open arrays", () => ({ body: "[".repeat(1_000_000) }), [422, "json_invalid", "body"]],
        ["a member twice", () => ({ body: '{"name":"a","name":"b"}' }), [422, "json_invalid", "body"]],
        // The empty list is a good body where lists are taken.
        isOfList
          ? ["an object", () => ({ body: "{}" }), [422, "list_type", "body"]]
          : ["a list", () => ({ body: "[]" }), [422, "dict_type", "body"]],
        ["64 open arrays", () => ({ body: nested(64) }), [422, "dict_type", isOfList ? "body.0" : "body"]],
        ["a text", () => ({ body: '"a"' }), [422, wrongType, "body"]],
        ["a number", () => ({ body: "1" }), [422, wrongType, "body"]],
        ["a number out of range", () => ({ body: "1e400" }), [422, wrongType, "body"]],
        ["one byte too many", () => ({ body: " ".repeat(limit + 1) }), [413, "body_too_large"]],
        ["one byte too many, in chunks", () => ({ body: chunked(limit + 65_536) }), [413, "body_too_large"]],
        [
          "no content type",
          (json) => ({ body: new Blob([JSON.stringify(json)]), headers: { "content-type": "" } }),
          [415, "unsupported_media_type"]
        ],
        [
          "a form",
          () => ({ body: "a=b", ...type("application/x-www-form-urlencoded") }),
          [415, "unsupported_media_type"]
        ],
        [
          "plain text",
          (json) => ({ body: JSON.stringify(json), ...type("text/plain") }),
          [415, "unsupported_media_type"]
        ],
        [
          "another charset",
          (json) => ({ body: JSON.stringify(json), ...type("application/json; charset=utf-16") }),
          [415, "unsupported_media_type"]
        ],
        [
          "something that begins like JSON",
          (json) => ({ body: JSON.stringify(json), ...type("application/jsonp") }),
          [415, "unsupported_media_type"]
        ],
        [
          "a content encoding",
          () => ({ body: "{}", headers: { "content-type": "application/json", "content-encoding": "gzip" } }),
          [415, "unsupported_media_type"]
        ],
        [
          "an unknown member",
          (json) => ({ json: withMembers(json, (members) => ({ ...members, zzz: 1 })) }),
          [422, "extra_forbidden", isOfList ? "body.0.zzz" : "body.zzz"]
        ],
        [
          "__proto__",
          (json) => ({
            body: JSON.stringify(withMembers(json, (members) => ({ ...members, zzz: 1 }))).replace("zzz", "__proto__")
          }),
          [422, "extra_forbidden", isOfList ? "body.0.__proto__" : "body.__proto__"]
        ],
        ...(endpoint.body === null || endpoint.body.optional
          ? []
          : ([
              ["null", () => ({ body: "null" }), [422, wrongType, "body"]],
              ["no body", () => ({}), [422, "missing", "body"]],
              ["an empty body", () => ({ body: chunked(0) }), [422, "missing", "body"]]
            ] as const))
      ]))
  }

  it("is a good body in every spelling of the content type", async () => {
    for (const spelling of [
      "application/json",
      "Application/JSON",
      "application/json;charset=utf-8",
      "application/json; charset=UTF-8",
      'application/json; charset="utf-8"'
    ]) {
      const got = await given.world.send("POST", "/api/v1/agents", {
        token: given.world.admin,
        body: "{}",
        ...type(spelling)
      })
      assert.deepStrictEqual(seen(got), [422, "missing", "body.name"], spelling)
    }
  })

  it("a body that may be left out is one with an empty object", async () => {
    const { path } = await given.good(endpoints.find(({ id }) => id === "agents.suspend")!)
    assert.strictEqual(
      (await given.world.send("POST", path, { token: given.world.admin })).json.suspended_reason,
      "manual"
    )
  })

  it("an endpoint without a body takes an empty object too", async () => {
    const { id } = await given.world.mint("claims")
    assert.strictEqual(
      (await given.world.send("POST", `/api/v1/admin/ingest-keys/${id}/revoke`, { token: given.world.admin, json: {} }))
        .status,
      200
    )
  })
})
