/** Bodies that are kept as they came: numbers and texts without an exact JSON form, and the largest batch. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { BATCH_LIMIT_BYTES } from "@flyball/contract"
import { assert, describe, it } from "vitest"
import { givenRefusedWorld, seen } from "./testing/given-refused-world.ts"

const given = givenRefusedWorld()

describe("values without an exact JSON form", () => {
  it("is kept as the bytes received inside args, result and labels", async () => {
    const agent = await given.world.register("lossless")
    const texts = ['{"n":12345678901234567890}', '{ "a":1, "a":2 }', '"\\ud800"', "1e999", "[9007199254740993]"]
    for (const [index, text] of texts.entries()) {
      const got = await given.world.send("POST", `/api/v1/agents/${agent}/decisions`, {
        token: given.world.admin,
        body: `{"client_ref":"r${index}","action":"b","args":${text}}`
      })
      assert.strictEqual(got.status, 201, text)
      const same = await given.world.send("POST", `/api/v1/agents/${agent}/decisions`, {
        token: given.world.admin,
        body: `{"client_ref":"r${index}","action":"b","args":${text}}`
      })
      assert.isTrue(same.json.receipts[0].duplicate, text)
    }
    const pack = await given.world.send("POST", "/api/v1/evidence/packs", {
      token: given.world.admin,
      json: { kind: "sparse", agent_id: agent, disclose: ["args"] }
    })
    const { text } = await given.world.send("GET", `/api/v1/evidence/packs/${pack.json.id}`, {
      token: given.world.admin
    })
    const disclosed = text
      .split("\n")
      .filter((line) => line.startsWith("D "))
      .map((line) => atob(line.split(" ")[4]!))
    assert.deepStrictEqual(disclosed, texts)
  })

  it("is taken as signals where it is an object, and refused where it is none", async () => {
    const agent = await given.world.register("asking")
    const requested = (ref: string, signals: string) =>
      given.world.send("POST", "/api/v1/bound/evaluations", {
        token: given.world.admin,
        body: `{"agent_id":"${agent}","client_ref":"${ref}","signals":${signals}}`
      })
    const { status } = await requested("object", '{"n":1e999}')
    assert.strictEqual(status, 201)
    const before = await given.world.send("GET", "/api/v1/chain/head", { token: given.world.admin })
    for (const [index, signals] of [
      "[1e999]",
      "1e999",
      '"\\ud800"',
      '[{"a":1,"a":2}]',
      "[]",
      '"x"',
      "null",
      "true"
    ].entries()) {
      assert.deepStrictEqual(seen(await requested(`r${index}`, signals)), [422, "dict_type", "body.signals"], signals)
    }
    const after = await given.world.send("GET", "/api/v1/chain/head", { token: given.world.admin })
    assert.strictEqual(after.json.seq, before.json.seq)
  })
})

it("the largest batch is taken", async () => {
  const agent = await given.world.register("batch")
  const decisions = Array.from({ length: 1_000 }, (_, index) => ({
    client_ref: `r${index}`,
    action: "b",
    args: "x".repeat(16_000)
  }))
  const body = JSON.stringify({ decisions })
  assert.isBelow(body.length, BATCH_LIMIT_BYTES)
  const got = await given.world.send("POST", `/api/v1/agents/${agent}/decisions`, { token: given.world.key, body })
  assert.deepStrictEqual([got.status, got.json.receipts?.length], [201, 1_000])
})
