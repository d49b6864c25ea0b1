import { assert, describe, it } from "@effect/vitest"
import { acceptsJson, acceptsNdjson } from "./accepts.ts"

describe("Accept", () => {
  it("requests lines if it names them, and does not prefer JSON", () => {
    for (const accept of [
      "application/x-ndjson",
      "application/x-ndjson;q=0.1",
      "application/x-ndjson, */*",
      "application/json, application/x-ndjson",
      "application/json;q=0.8,application/x-ndjson;q=0.9",
      "application/x-ndjson; charset=utf-8",
      "text/plain;q=1, application/x-ndjson;q=0.5, application/*;q=0.4, */*",
      "application/json;q=0, application/x-ndjson;q=0.001",
      "application/x-ndjson;q=high"
    ])
      assert.isTrue(acceptsNdjson(accept), accept)
  })

  it("asks for JSON where it does not, refuses them, or wants it more", () => {
    for (const accept of [
      "",
      "*/*",
      "application/*",
      "application/json",
      "text/html",
      "application/x-ndjson;q=0",
      "application/x-ndjson;q=0.000, */*",
      "application/json, application/x-ndjson;q=0.5",
      "application/x-ndjson;q=0.5, application/json",
      "application/x-ndjson;q=0.5, */*",
      "application/x-ndjsonp",
      "application/*, application/x-ndjson;q=0.9, */*;q=0.1"
    ])
      assert.isFalse(acceptsNdjson(accept), accept)
  })

  it("asks for JSON in place of a pack only where it names JSON", () => {
    const pack = "application/vnd.flyball.evidence-pack"
    for (const accept of ["application/json", "application/json, text/plain, */*", `application/json, ${pack};q=0.9`])
      assert.isTrue(acceptsJson(accept, pack), accept)
    for (const accept of ["", "*/*", "application/*", pack, `application/json;q=0.5, ${pack}`, "application/json;q=0"])
      assert.isFalse(acceptsJson(accept, pack), accept)
  })
})
