/** Publishes each envelope of the cookbook, and evaluates each of its lines. */
import { generateKeyPairSync, sign } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Governor, memoryStorage, openGovernor } from "@flyball/core"
import { trustFolder } from "@flyball/node"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const page = readFileSync(new URL("../docs/envelopes.md", import.meta.url), "utf8")
const recipes = [...page.matchAll(/^## \d+\. (.*)\n[^]*?^```json\n([^]*?)^```\n\n([^]*?)(?=^## |(?![^]))/gm)].map(
  ([, name, json, table]) => ({
    name: name!,
    envelope: JSON.parse(json!),
    rows: [...table!.matchAll(/^\| `(\{.*\})` \| `(.*)` \| `(.*)` \|$/gm)].map(([, signals, outcome, rule]) => ({
      signals: JSON.parse(signals!) as object,
      outcome: outcome!,
      rule: rule!
    }))
  })
)

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
  it("has twelve recipes, each with an action that runs and one that does not", () => {
    assert.lengthOf(recipes, 12)
    for (const { name, rows } of recipes) {
      assert.isTrue(
        rows.some(({ outcome }) => outcome.startsWith("allow")),
        name
      )
      assert.isTrue(
        rows.some(({ outcome }) => !outcome.startsWith("allow")),
        name
      )
    }
  })

  it.each(recipes)("$name: is published, and decides as its table says", async ({ envelope, name, rows }) => {
    const owner = { owner_name: "Ada", owner_email: "ada@example.org" }
    const { agent } = await governor.agents.register({ name, org_unit: "support", ...owner })
    const card = Buffer.from(JSON.stringify({ name }))
    const signed_card = {
      card: card.toString("base64"),
      signature: sign(null, card, privateKey).toString("base64"),
      key_id: "acme"
    }
    await governor.agents.attachIdentity(agent.id, { signed_card })
    const both = { writer: "system:ann", approver: "system:ben" }
    const ensured = await governor.envelopes.ensure({ name, agent_id: agent.id, envelope }, both)
    const { findings } = await governor.envelopes.lint(ensured.id, { envelope })
    assert.deepEqual(
      findings.filter(({ level }) => level === "error"),
      []
    )
    await governor.agents.update(agent.id, { autonomy_tier: "L3" })
    await governor.agents.activate(agent.id)
    const found: Array<object> = []
    for (const [at, { signals }] of rows.entries()) {
      const intent = { agent_id: agent.id, client_ref: `${at}`, run_id: "run", signals, args: signals }
      const { matched_rule: rule, outcome } = await governor.evaluate(intent)
      found.push({ signals, outcome, rule })
    }
    assert.deepEqual(found, rows)
  })
})
