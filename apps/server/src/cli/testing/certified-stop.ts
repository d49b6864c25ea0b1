/** Test of `flyball certificate stop` and of the certificate's endpoint beside a running server. */
import { writeFileSync } from "node:fs"
import { assert } from "vitest"
import type { Operator, Variables } from "./commands.ts"

/**
 * Halts an agent, and makes certificates while the halt holds and after its release: by the command and by the
 * endpoint. The verifier makes the same of each pack.
 */
export const certifiedStop = async (me: Operator, there: Variables): Promise<void> => {
  const server = await me.serve(there)
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
  const { activation_event: id } = await kill("activate", { target_type: "agent", target_id: agent.id, reason: "r" })
  await decide("2")
  await kill("ack", { activation_event: id, instance_id: "pod-1", stopped: true })
  const expected = async (): Promise<unknown> =>
    ((await (await server.call("GET", `/api/v1/bound/kill/activations/${id}`)).json()) as { expected: unknown })
      .expected
  // It is read behind the halt.
  while ((await expected()) === null);
  const vkey = (await me.flyball(["vkey"], there)).out.trim()
  const verified = async (file: string): Promise<unknown> => {
    const checked = await me.verify(me.path(file), "--vkey", vkey, "--certificate", id, "--json")
    assert.strictEqual(checked.status, 0, checked.err)
    return JSON.parse(checked.out).certificate
  }
  for (const out of ["held.evp", "released.evp.gz"]) {
    const isHeld = out === "held.evp"
    if (!isHeld) await kill("release", { activation_event: id, reason: "r" })
    const made = await me.flyball(["certificate", "stop", "--activation", id, "--out", out], there)
    assert.strictEqual(made.status, 0, made.err)
    const certificate = JSON.parse(made.out)
    assert.deepStrictEqual(await verified(out), certificate)
    assert.deepInclude(certificate, { activation_id: id, incomplete: [], silent: 0, bound: "met" })
    assert.strictEqual(certificate.released === null, isHeld)
    assert.strictEqual(certificate.instances[0].side_effects, 1)
    const downloaded = `over-http-${isHeld}.evp`
    const pack = await server.call("GET", `/api/v1/bound/kill/activations/${id}/certificate`)
    assert.strictEqual(pack.status, 200)
    writeFileSync(me.path(downloaded), new Uint8Array(await pack.arrayBuffer()))
    assert.deepStrictEqual(await verified(downloaded), certificate)
  }
  const unknown = await me.flyball(
    ["certificate", "stop", "--activation", `kil_${"0".repeat(26)}`, "--out", "x.evp"],
    there
  )
  assert.deepEqual([unknown.status, unknown.out], [1, ""])
  const taken = await me.flyball(["certificate", "stop", "--activation", id, "--out", "held.evp"], there)
  assert.deepEqual([taken.status, taken.err.includes("--force")], [2, false])
  assert.strictEqual((await me.flyball(["certificate", "stop", "--out", "x.evp"], there)).status, 2)
  await server.stop("SIGTERM")
}
