/** The kill switch across a recovery: what was activated in the chain before still reaches its agents. */
import { copyFileSync, mkdirSync, rmSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, type RunningServer } from "./testing/commands.ts"

let me: Operator
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

const json = async (answer: Response | Promise<Response>): Promise<any> => (await answer).json()
const stop = async (server: RunningServer): Promise<void> =>
  assert.strictEqual((await server.stop("SIGTERM")).status, 0)
const register = async (server: RunningServer, name: string): Promise<string> =>
  (
    await json(
      server.call("POST", "/api/v1/agents", {
        name,
        org_unit: "ops",
        autonomy_tier: "L1",
        owner_name: "Ada",
        owner_email: "ada@example.org"
      })
    )
  ).id
const stateOf = (server: RunningServer, agent: string): Promise<any> =>
  json(server.call("GET", `/api/v1/bound/kill/status?target_type=agent&target_id=${agent}`))

/** The chain that the folder's key signs for. */
const chainNow = async (): Promise<{ readonly origin: string; readonly vkey: string }> => {
  const vkey = (await me.flyball(["vkey"])).out.trim()
  return { vkey, origin: /^(.*)\+[0-9a-f]{8}\+/.exec(vkey)![1]! }
}

/** Puts the store away, records more, and takes the old store in its place. */
const losingRecords = async (name: string): Promise<void> => {
  const store = me.path(".flyball", "flyball.db")
  mkdirSync(me.path(name))
  copyFileSync(store, me.path(name, "flyball.db"))
  const server = await me.serve()
  await register(server, `lost-${name}`)
  await stop(server)
  for (const suffix of ["-wal", "-shm"]) rmSync(store + suffix, { force: true })
  copyFileSync(me.path(name, "flyball.db"), store)
}

describe("an activation that is aimed at an org unit", { timeout: 600_000 }, () => {
  it("reaches the unit's agents after recoveries, those registered since too, and replay agrees", async () => {
    const first = await me.serve({ FLYBALL_ORIGIN: "flyball.example/kills" })
    const old = await register(first, "old")
    await stop(first)
    const halted = await me.flyball(["halt", "--org-unit", "ops", "--reason", "r", "--json"])
    const { activation_event: id } = JSON.parse(halted.out)
    const chains = [await chainNow()]
    for (const round of ["1", "2"]) {
      await losingRecords(round)
      const recovered = await me.flyball(["recover", "--accept-rollback", "--reason", "the disk died"])
      assert.strictEqual(recovered.status, 0, recovered.err)
      const server = await me.serve()
      const young = await register(server, `young-${round}`)
      for (const agent of [old, young]) {
        assert.deepInclude(await stateOf(server, agent), { halted: true, activation_event: id }, round)
        const denied = await json(
          server.call("POST", "/api/v1/bound/evaluations", { agent_id: agent, client_ref: round, signals: {} })
        )
        assert.deepInclude(denied, { outcome: "deny", matched_rule: "@killed", activation_event: id })
      }
      const put = await server.call("GET", `/api/v1/bound/kill/activations/${id}/certificate`)
      assert.deepEqual([put.status, (await json(put)).code], [409, "activation_put_aside"])
      const shown = await me.flyball(["kill-status", "--org-unit", "ops"])
      assert.include(shown.out, `\n${id}: halt of org_unit `)
      await stop(server)
      assert.strictEqual((await me.flyball(["check"])).status, 0)
      chains.push(await chainNow())
    }
    const packs: Array<string> = []
    for (const { origin } of chains.toReversed()) {
      const out = `${packs.length}.evp`
      const chain = packs.length === 0 ? [] : ["--chain", origin]
      const made = await me.flyball(["export", "--kind", "full", ...chain, "--out", out, "--disclose", "all"])
      assert.strictEqual(made.status, 0, made.err)
      packs.push(me.path(out))
    }
    const verified = await me.verify(
      packs[0]!,
      ...packs.slice(1).flatMap((pack) => ["--previous", pack]),
      ...chains.flatMap(({ vkey }) => ["--vkey", vkey]),
      "--replay",
      "--json"
    )
    const { replay } = JSON.parse(verified.out)
    assert.deepEqual([verified.status, replay?.findings ?? []], [0, []], verified.out.slice(0, 2_000) + verified.err)
    const server = await me.serve()
    const released = await me.flyball(["release", id, "--reason", "fixed"])
    assert.strictEqual(released.status, 0, released.err)
    assert.include(released.out, "It reaches 3 agents: ")
    assert.deepInclude(await stateOf(server, old), { halted: false, activation_event: null })
    await stop(server)
  })
})
