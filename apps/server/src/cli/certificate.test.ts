import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

describe("flyball certificate stop", { timeout: 240_000 }, () => {
  it("writes the pack from which the verifier makes the same certificate, before and after the release", async () => {
    const server = await me.serve()
    const agent = (await (
      await server.call("POST", "/api/v1/agents", { name: "a", org_unit: "ops", autonomy_tier: "L1" })
    ).json()) as { readonly id: string }
    const decide = (ref: string) =>
      server.call("POST", `/api/v1/agents/${agent.id}/decisions`, {
        client_ref: ref,
        action: "pay",
        status: "ok",
        instance_id: "pod-1"
      })
    assert.strictEqual((await decide("1")).status, 201)
    const kill = async (path: string, body: object) =>
      (await (await server.call("POST", `/api/v1/bound/kill/${path}`, body)).json()) as {
        readonly activation_event: string
      }
    const target = { target_type: "agent", target_id: agent.id, reason: "r" }
    const { activation_event: id } = await kill("activate", target)
    await kill("ack", { activation_event: id, instance_id: "pod-1", stopped: true })
    await decide("2")
    const vkey = (await me.flyball(["vkey"])).out.trim()
    for (const out of ["held.evp", "released.evp.gz"]) {
      if (out !== "held.evp") await kill("release", { activation_event: id, reason: "r" })
      const made = await me.flyball(["certificate", "stop", "--activation", id, "--out", out])
      assert.strictEqual(made.status, 0, made.err)
      const certificate = JSON.parse(made.out)
      const checked = await me.verify(me.path(out), "--vkey", vkey, "--certificate", id, "--json")
      assert.strictEqual(checked.status, 0, checked.err)
      assert.deepStrictEqual(JSON.parse(checked.out).certificate, certificate)
      assert.deepInclude(certificate, { activation_id: id, incomplete: [], silent: 0, bound: "met" })
      assert.strictEqual(certificate.released === null, out === "held.evp")
      assert.strictEqual(certificate.instances[0].side_effects, 1)
    }
    const unknown = await me.flyball(["certificate", "stop", "--activation", `kil_${"0".repeat(26)}`, "--out", "x.evp"])
    assert.deepEqual([unknown.status, unknown.out], [1, ""])
    assert.strictEqual((await me.flyball(["certificate", "stop", "--out", "x.evp"])).status, 2)
    await server.stop("SIGTERM")
  })
})
