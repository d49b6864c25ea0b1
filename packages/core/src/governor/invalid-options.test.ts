import { assert, describe, it } from "vitest"
import { ephemeralKeys } from "../chain/keys/ephemeral-keys.ts"
import { type Governor, openGovernor } from "./governor.ts"
import { memoryStorage } from "../storage/memory/memory.ts"

const untyped = openGovernor as unknown as (options: { readonly [name: string]: unknown }) => Promise<Governor>
const refused = async (more: { readonly [name: string]: unknown }): Promise<string> => {
  try {
    await (await untyped({ storage: memoryStorage(), ...more })).close()
    return "opened"
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`
  }
}

describe("the options of a governor", () => {
  it("are refused if one is invalid, and it is named", async () => {
    for (const [name, value] of [
      ["keys", "./keys"],
      ["keys", {}],
      ["origin", 1],
      ["tenantId", {}],
      ["tenantId", ""],
      ["tenantId", "a\nb"],
      ["tenantId", "x".repeat(65)],
      ["trustStore", "./trust"],
      ["webhooks", {}],
      ["channelCheckS", -1],
      ["channelCheckS", 1.5],
      ["channelCheckS", 86_401],
      ["channelCheckS", "60"],
      ["log", "stderr"]
    ] as const) {
      assert.match(
        await refused({ [name]: value }),
        new RegExp(`^invalid_option: \`${name}\` is expected to be `),
        `${name} ${JSON.stringify(value)}`
      )
    }
    assert.match(
      await refused({ tenant: "acme" }),
      /^invalid_option: There is no option `tenant`\. There are storage, /
    )
  })

  it("may be null in place of being left out", async () => {
    assert.strictEqual(
      await refused({
        keys: null,
        origin: null,
        tenantId: null,
        trustStore: null,
        webhooks: null,
        writer: null,
        log: null
      }),
      "opened"
    )
  })

  it("needs keys that outlive the process where the store does, also when null stands there", async () => {
    assert.match(
      await refused({ storage: { backend: "sqlite", layer: memoryStorage().layer, retirement: null }, keys: null }),
      /^keys_needed: /
    )
    assert.strictEqual(await refused({ storage: memoryStorage(), keys: ephemeralKeys() }), "opened")
  })

  it("names a writer that is a text, and no rule", async () => {
    for (const writer of [["system:ann"], "policy:orphan_grace", "breaker:x", "Ada", 1])
      assert.match(await refused({ writer }), /^invalid_writer: /, JSON.stringify(writer))
  })
})
