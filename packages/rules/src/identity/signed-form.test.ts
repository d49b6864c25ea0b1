import { readFileSync } from "node:fs"
import { canonicalize, type JsonObject } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { signedForm } from "./signed-form.ts"

const published = JSON.parse(
  readFileSync(
    new URL("../../../../fixtures/vectors/agent-card/a2a-spec-8.4.1-canonicalization.json", import.meta.url),
    "utf8"
  )
) as { readonly input: JsonObject; readonly canonical: string }

describe("the signed form of an A2A card", () => {
  it("equals the example of the specification", () => {
    assert.strictEqual(canonicalize(signedForm(published.input)), published.canonical)
  })

  it("omits only the signatures of a card without defaults", () => {
    assert.deepStrictEqual(signedForm({ ...published.input, signatures: [{}] }), signedForm(published.input))
    const full = {
      name: "a",
      provider: { url: "https://example.org", organization: "Example" },
      documentationUrl: "",
      iconUrl: "",
      supportedInterfaces: [
        { url: "https://example.org/a2a", protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "t" }
      ],
      securitySchemes: {
        oauth: {
          oauth2SecurityScheme: {
            flows: {
              authorizationCode: { authorizationUrl: "u", tokenUrl: "v", scopes: { read: "" }, pkceRequired: true }
            }
          }
        }
      },
      securityRequirements: [{ schemes: { oauth: { list: ["read"] } } }],
      capabilities: { extensions: [{ uri: "https://example.org/x", params: { anything: { "": null }, list: [] } }] }
    }
    assert.deepStrictEqual(signedForm(full), full)
  })

  it("omits members that equal their default, at any depth", () => {
    assert.deepStrictEqual(
      signedForm({
        name: "a",
        securitySchemes: {},
        securityRequirements: [],
        supportedInterfaces: [{ url: "u", tenant: "" }],
        skills: [{ id: "", tags: [], examples: [], inputModes: [] }],
        capabilities: { extensions: [{ uri: "", required: false, params: {} }] }
      }),
      {
        name: "a",
        supportedInterfaces: [{ url: "u" }],
        skills: [{ id: "", tags: [] }],
        capabilities: { extensions: [{ params: {} }] }
      }
    )
  })

  it("is refused for a member outside the schema, at any depth, including inherited names", () => {
    for (const more of [
      { url: "https://example.org" },
      { trusted: true },
      { capabilities: { admin: true } },
      { skills: [{ id: "a", price: 1 }] },
      { provider: { url: "u", organization: "o", "x-note": "" } },
      { constructor: "a" },
      JSON.parse('{"__proto__":{}}') as JsonObject,
      { capabilities: { extensions: [{ uri: "u", more: [] }] } },
      { securitySchemes: { a: { other: {} } } }
    ])
      assert.isNull(signedForm({ name: "a", ...more }), JSON.stringify(more))
  })

  it("is refused for a member of another type", () => {
    for (const more of [
      { description: null },
      { version: 1 },
      { skills: {} },
      { skills: ["a"] },
      { capabilities: { streaming: "true" } },
      { capabilities: [] },
      { provider: null },
      { defaultInputModes: [1] },
      { securitySchemes: [] },
      { capabilities: { extensions: [{ params: "x" }] } }
    ]) {
      assert.isNull(signedForm({ name: "a", ...more }), JSON.stringify(more))
    }
  })
})
