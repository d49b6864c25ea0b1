/** Publishes each envelope of the cookbook, and holds its cases against the service. */
import { generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type EnvelopeSource, type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { runCases } from "@flyball/envelope"
import { trustFolder } from "@flyball/node"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { recipes } from "./docs-tables/recipes.ts"

/** A file of tests, in as far as the service can run it now: it makes no action of yesterday. */
interface Tests {
  readonly envelope: EnvelopeSource
  readonly cases: ReadonlyArray<{
    readonly name: string
    readonly before?: ReadonlyArray<Input>
    readonly input: Input
    readonly outcome: string
    readonly rule: string
  }>
}
interface Input {
  readonly action: string
  readonly args?: object
  readonly ago_ms?: number
}
const files = recipes.map(({ name, text }) => ({ name, tests: JSON.parse(text) as Tests }))

const trust = mkdtempSync(join(tmpdir(), "flyball-cookbook-"))
afterAll(() => rmSync(trust, { recursive: true, force: true }))
const { privateKey, publicKey } = generateKeyPairSync("ed25519")
writeFileSync(join(trust, "acme.pem"), publicKey.export({ type: "spki", format: "pem" }), { mode: 0o600 })
let governor: Governor
beforeAll(async () => {
  governor = await openGovernor({ storage: memoryStorage(), trustStore: trustFolder({ dir: trust }) })
})
afterAll(() => governor.close())

describe("the cookbook of envelopes", () => {
  it("has an action that runs and one that does not in each recipe, and decides offline as expected", () => {
    assert.isAtLeast(files.length, 12)
    for (const { name, tests } of files) {
      const { cases, findings } = runCases(tests)
      assert.deepStrictEqual([findings, cases.flatMap(({ difference }) => difference ?? [])], [[], []], name)
      for (const runs of [true, false])
        assert.isTrue(
          cases.some(({ outcome }) => outcome.startsWith("allow") === runs),
          name
        )
    }
  })

  it.each(files)("$name: is published, and the service decides alike", async ({ name, tests: { cases, envelope } }) => {
    for (const [at, { before = [], input, outcome, rule }] of cases.entries()) {
      if (before.some(({ ago_ms: agoMs }) => agoMs !== undefined)) continue
      const client = await actingUnder(`${name} ${at}`, envelope, at === 0)
      let ran = false
      for (const { action, args = {} } of [...before, input]) {
        ran = false
        await client.guard({ name: action, run_id: "run" }, args, () => (ran = true)).catch(() => null)
      }
      const [{ matched_rule: by, outcome: said } = assert.fail()] = await governor.evaluations({
        agent_id: client.agent.id
      })
      assert.deepStrictEqual(
        [said, by, ran],
        [outcome, rule, outcome.startsWith("allow")],
        `${name}: ${cases[at]!.name}`
      )
    }
  })
})

describe("the recipe of a file server", () => {
  it("writes below its folder in no spelling of the vectors that leads elsewhere", () => {
    const { text } = recipes.find(({ name }) => name === "files")!
    const tests = JSON.parse(text.replaceAll("/srv/files/reports", "/srv/reports")) as Tests
    const vectors = JSON.parse(
      readFileSync(new URL("../fixtures/vectors/forms/path.json", import.meta.url), "utf8")
    ) as ReadonlyArray<{ readonly input: string; readonly base?: string; readonly under: { "/srv/reports": boolean } }>
    const cases = vectors
      .filter(({ base }) => base === undefined)
      .map(({ input, under }) => ({
        name: "write",
        input: { action: "write_file", args: { path: input } },
        outcome: under["/srv/reports"] ? "allow" : "deny"
      }))
    assert.isAbove(cases.length, 200)
    const { cases: found, findings } = runCases({ ...tests, cases })
    assert.deepStrictEqual(
      [findings, found.flatMap(({ difference }, at) => (difference === null ? [] : [cases[at]!.input.args.path]))],
      [[], []]
    )
  })
})

/** The client of an active agent at L3, under this envelope. */
const actingUnder = async (name: string, envelope: EnvelopeSource, isLinted: boolean) => {
  const { agent } = await governor.agents.register({
    name,
    org_unit: "support",
    owner_name: "Ada",
    owner_email: "ada@example.org"
  })
  const card = Buffer.from(JSON.stringify({ name }))
  const signature = sign(null, card, privateKey).toString("base64")
  await governor.agents.attachIdentity(agent.id, {
    signed_card: { card: card.toString("base64"), signature, key_id: "acme" }
  })
  const both = { writer: "system:ann", approver: "system:ben" }
  const { id } = await governor.envelopes.ensure({ name, agent_id: agent.id, envelope }, both)
  if (isLinted) {
    const { findings } = await governor.envelopes.lint(id, { envelope })
    assert.deepEqual(
      findings.filter(({ level }) => level === "error"),
      []
    )
  }
  await governor.agents.update(agent.id, { autonomy_tier: "L3" })
  await governor.agents.activate(agent.id)
  return governor.client({ agent: agent.id })
}
