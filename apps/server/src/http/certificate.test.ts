/** The stop certificate over HTTP: as a pack and as JSON, who gets which, and what a download leaves behind. */
// First, as in the command: what is compiled must refuse what is interpreted.
import "effect/schema/SchemaJITCompiler/enable"
import { recordExpected } from "@flyball/core"
import { portableCrypto, verifyPack } from "@flyball/evidence"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { openWorld, OTHER_UNIT, UNIT, type World } from "./http-world.ts"

const AT = "/api/v1/bound/kill"
let world: World
let agent: string
let id: string

beforeAll(async () => {
  world = await openWorld()
  agent = await world.register("certified")
  const post = (path: string, json: unknown, token = world.admin) => world.send("POST", path, { token, json })
  await post(`/api/v1/agents/${agent}/decisions`, { client_ref: "1", action: "pay", instance_id: "pod-1" }, world.key)
  id = (await post(`${AT}/activate`, { target_type: "agent", target_id: agent, reason: "Pays twice." })).json
    .activation_event
  await world.runtime.runPromise(recordExpected)
  await post(`${AT}/ack`, { activation_event: id, instance_id: "pod-1", stopped: true }, world.key)
  await post("/api/v1/bound/evaluations", { agent_id: agent, client_ref: "2", signals: {} }, world.key)
})
afterAll(() => world.close())

const JSON_ONLY = { accept: "application/json" }
const get = (token: string, headers: { readonly [name: string]: string } = {}, of = id) =>
  world.send("GET", `${AT}/activations/${of}/certificate`, { token, headers })

describe("a stop certificate", () => {
  it("is a range pack with the part expected, or its summary as JSON", async () => {
    const summary = await get(world.admin, JSON_ONLY)
    assert.deepStrictEqual([summary.status, summary.headers.get("content-type")], [200, "application/json"])
    const { certificate, from } = summary.json
    assert.deepInclude(certificate, { activation_id: id, silent: 0, refusal_count: 1, bound: "met", released: null })
    assert.strictEqual(from, certificate.activated.seq)
    const pack = await get(world.admin)
    assert.strictEqual(pack.headers.get("content-type"), "application/vnd.flyball.evidence-pack")
    assert.strictEqual(pack.headers.get("content-disposition"), `attachment; filename="${id}.evp"`)
    const { json: keys } = await world.send("GET", "/api/v1/chain/keys", { token: world.admin })
    const report = await verifyPack(portableCrypto, [pack.bytes], { vkeys: [keys.keys.at(-1).vkey] })
    assert.deepInclude(report, { exit: 0, findings: [] })
    assert.strictEqual(report.counts.parts_disclosed, 1)
    assert.match(pack.text, new RegExp(`"from":${from},.*"kind":"range"`))
  })

  it("leaves a record of the export once it was read to its end, and a pack to download again", async () => {
    const packs = async () => (await world.send("GET", "/api/v1/evidence/packs", { token: world.admin })).json
    const before = (await packs()).length
    const size = await world.size()
    await get(world.admin, JSON_ONLY)
    await world.send("HEAD", `${AT}/activations/${id}/certificate`, { token: world.admin })
    assert.deepStrictEqual([await world.size(), (await packs()).length], [size, before])
    const pack = await get(world.admin)
    const made = (await packs()).at(-1)
    assert.strictEqual(made.kind, "range")
    assert.include(pack.text, made.digest.slice("sha256:".length))
    assert.strictEqual(await world.size(), size + 1)
    const again = await world.send("GET", `/api/v1/evidence/packs/${made.id}`, { token: world.admin })
    assert.deepStrictEqual(again.text.match(/^R .*$/gm), pack.text.match(/^R .*$/gm))
  })

  it("as a pack is for those who read every org unit, as JSON for those who read the agent", async () => {
    const own = await world.token("auditor", UNIT)
    assert.strictEqual((await get(own, JSON_ONLY)).status, 200)
    const refused = await get(own)
    assert.deepStrictEqual([refused.status, refused.json.code], [403, "forbidden"])
    const foreign = await world.token("admin", OTHER_UNIT)
    for (const headers of [{}, JSON_ONLY])
      assert.deepStrictEqual((await get(foreign, headers)).json.code, "activation_not_found")
    assert.strictEqual((await get(world.key, JSON_ONLY)).json.code, "key_not_allowed")
    assert.strictEqual((await get(world.admin, JSON_ONLY, `kil_${"0".repeat(26)}`)).status, 404)
    assert.strictEqual((await get(world.admin, JSON_ONLY, "kil_x")).status, 404)
  })
})
