/** `flyball halt`, `release` and `kill-status` on SQLite, with no server and beside one. */
import { existsSync, rmSync, statSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, type RunningServer } from "./testing/commands.ts"

const NOWHERE = "kil_00000000000000000000000000"

let me: Operator
let billing: string
let strong: string
beforeAll(async () => {
  me = operator()
  const server = await me.serve()
  billing = await register(server, "billing", "L1")
  strong = await register(server, "strong", "L3")
  await register(server, "child", "L1", { parent_agent_id: billing })
  assert.strictEqual((await server.stop("SIGTERM")).status, 0)
})
afterAll(() => me.leave())

const register = async (server: RunningServer, name: string, tier: string, more: object = {}): Promise<string> => {
  const answer = await server.call("POST", "/api/v1/agents", {
    name,
    org_unit: "ops",
    autonomy_tier: tier,
    model_ids: ["gpt-x"],
    owner_name: "Ada",
    owner_email: "ada@example.org",
    ...more
  })
  const agent = (await answer.json()) as { readonly id: string }
  assert.strictEqual(answer.status, 201, JSON.stringify(agent))
  return agent.id
}

const activationIn = (out: string): string => /kil_[0-9A-Za-z]{26}/.exec(out)![0]

const epochNow = async (): Promise<number> =>
  JSON.parse((await me.flyball(["kill-status", "--deployment", "--json"])).out).status.epoch

// Each test runs up to a dozen commands, each a process that opens the store.
describe("flyball halt", { timeout: 240_000 }, () => {
  it("says whom it would reach and records nothing with --dry-run", async () => {
    const { err, out, status } = await me.flyball(["halt", "billing", "--dry-run"])
    assert.deepEqual([status, err], [0, ""])
    assert.match(
      out,
      new RegExp(
        `^Dry run, nothing was recorded: halt of agent billing \\(${billing}\\)\\. No new side effect begins\\.\n` +
          `It reaches 2 agents: billing \\(${billing}\\), child \\(agt_\\w{26}\\)\n` +
          "None of their instances was seen in the last hour\\.\n" +
          `Now: Not halted: agent billing \\(${billing}\\)\\. No activation \\(epoch 0\\)\\.\n$`
      )
    )
    assert.match((await me.flyball(["kill-status", "billing"])).out, /^Not halted: .*\(epoch 0\)\.\n$/)
  })

  it("halts by exact name, shows it for the agents below, and ends with its release", async () => {
    const halted = await me.flyball(["halt", "billing", "--reason", "runaway refunds"])
    assert.deepEqual([halted.status, halted.err], [0, ""])
    const id = activationIn(halted.out)
    assert.include(halted.out, `Activated ${id}: halt of agent billing (${billing}).\nIt reaches 2 agents: `)
    assert.include(halted.out, `\nHALTED: agent billing (${billing}). No new side effect begins (epoch 1).\n`)
    assert.include(halted.out, `\nTo end it: flyball release ${id} --reason TEXT\n`)

    const child = await me.flyball(["kill-status", "child"])
    assert.match(child.out, /^HALTED: agent child /)
    assert.include(child.out, `\n${id}: halt of agent ${billing}, by system:operator at `)
    assert.include(child.out, '"runaway refunds"\n  acknowledged 0/0, stopped 0/0, unconfirmed 0\n')

    const released = await me.flyball(["release", id, "--reason", "fixed"])
    assert.deepEqual([released.status, released.err], [0, ""])
    assert.include(released.out, `Released ${id}: agent billing (${billing}).\n`)
    assert.match(released.out, /\nNot halted: agent billing .* No activation \(epoch 2\)\.\n$/)

    const again = await me.flyball(["release", id, "--reason", "fixed"])
    assert.deepEqual([again.status, again.out], [1, ""])
    assert.include(again.err, "The activation is already released.")
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it("reaches models, org units and the deployment, and prints JSON", async () => {
    const targets: ReadonlyArray<[ReadonlyArray<string>, string, string, number]> = [
      [["model:gpt-x"], "model", "gpt-x", 3],
      [["--org-unit", "ops"], "org_unit", "", 3],
      [["--org-unit", "Ops"], "org_unit", "", 0],
      [["--deployment"], "deployment", "deployment", 3]
    ]
    for (const [args, type, id, agents] of targets) {
      const { out } = await me.flyball(["halt", ...args, "--dry-run", "--json"])
      const { activation_event, reach, status } = JSON.parse(out)
      assert.deepEqual([activation_event, status.target_type, reach.agent_count], [null, type, agents], args.join(" "))
      if (id !== "") assert.strictEqual(status.target_id, id)
    }
    const { out } = await me.flyball(["halt", "--org-unit", "ops", "--reason", "r", "--response", "drain", "--json"])
    const { activation_event: id, epoch } = JSON.parse(out)
    const { activations, status } = JSON.parse((await me.flyball(["kill-status", "billing", "--json"])).out)
    assert.deepInclude(status, { epoch, halted: false, effective_response: "drain", activation_event: id })
    assert.deepEqual(
      activations.map((one: { readonly id: string }) => one.id),
      [id]
    )
    const lower = await me.flyball(["halt", billing, "--reason", "r", "--response", "notify"])
    const released = await me.flyball(["release", activationIn(lower.out), "--reason", "r"])
    assert.include(released.out, `\nNot halted, under drain: agent billing (${billing}). `)
    assert.include(released.out, `\nStill activated:\n${id}: drain of org_unit `)
    assert.strictEqual((await me.flyball(["release", id, "--reason", "r"])).status, 0)
  })

  it("that reaches an agent at L3 is released by a person, never by the host that made it", async () => {
    const id = activationIn((await me.flyball(["halt", strong, "--reason", "r"])).out)
    const { err, out, status } = await me.flyball(["release", id, "--reason", "r"])
    assert.deepEqual([status, out], [1, ""])
    assert.strictEqual(
      err,
      "flyball release: This halt reaches an agent at L3 or above, so its activator cannot release it. " +
        "Ask another operator. It was activated by system:operator, and this host writes as system:operator. Any " +
        "person with the role operator, governor or admin releases it: POST /api/v1/bound/kill/release.\n"
    )
    assert.match((await me.flyball(["kill-status", strong])).out, /^HALTED: agent strong /)
    const server = await me.serve()
    const byPerson = await server.call("POST", "/api/v1/bound/kill/release", { activation_event: id, reason: "r" })
    assert.strictEqual(byPerson.status, 200)
    await server.stop("SIGTERM")
  })

  it("halts and releases through a running server, and not what it halted itself at L3", async () => {
    const server = await me.serve()
    const socket = me.path(".flyball", "control.sock")
    assert.strictEqual(statSync(socket).mode & 0o777, 0o600)
    const stateOf = async (agent: string): Promise<boolean> =>
      (
        (await (await server.call("GET", `/api/v1/bound/kill/status?target_type=agent&target_id=${agent}`)).json()) as {
          readonly halted: boolean
        }
      ).halted

    const halted = await me.flyball(["halt", "--org-unit", "ops", "--reason", "it's late"])
    assert.deepEqual([halted.status, halted.err], [0, ""])
    assert.match(halted.out, /^Activated kil_\w{26}: halt of org unit ops\.\nIt reaches 3 agents: /)
    assert.isTrue(await stateOf(billing))
    const unit = activationIn(halted.out)
    const refused = await me.flyball(["release", unit, "--reason", "r"])
    assert.deepEqual([refused.status, refused.out], [1, ""])
    assert.match(
      refused.err,
      /^flyball release: This halt reaches an agent at L3 or above, .* writes as system:operator/
    )
    const byPerson = await server.call("POST", "/api/v1/bound/kill/release", { activation_event: unit, reason: "r" })
    assert.strictEqual(byPerson.status, 200)

    const drained = await me.flyball(["halt", "billing", "--reason", "r", "--response", "drain", "--json"])
    const { activation_event: id, status } = JSON.parse(drained.out)
    assert.deepInclude(status, { target_id: billing, effective_response: "drain" })
    const released = await me.flyball(["release", id, "--reason", "r"])
    assert.deepEqual([released.status, released.err], [0, ""])
    assert.include(released.out, `Released ${id}: agent billing (${billing}).\n`)

    // Another hand than the one that activated: see docs/stop-an-agent.md for what that proves.
    const made = await server.call("POST", "/api/v1/bound/kill/activate", {
      target_type: "agent",
      target_id: strong,
      reason: "r"
    })
    const { activation_event: theirs } = (await made.json()) as { readonly activation_event: string }
    assert.strictEqual((await me.flyball(["release", theirs, "--reason", "r"])).status, 0)
    assert.isFalse(await stateOf(strong))
    const log = (await (await server.call("GET", "/api/v1/bound/kill/events?limit=1")).json()) as ReadonlyArray<object>
    assert.deepInclude(log[0], { kind: "kill.released", activation_event: theirs, actor: "system:operator" })

    const wrong = await me.flyball(["release", NOWHERE, "--reason", "r"])
    assert.include(wrong.err, `there is no activation "${NOWHERE}" in this store`)
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    assert.isFalse(existsSync(socket))
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it("continues where a server was killed, and the next server takes the socket", async () => {
    const socket = me.path(".flyball", "control.sock")
    const killed = await me.serve()
    await killed.stop("SIGKILL")
    assert.isTrue(existsSync(socket))
    const halted = await me.flyball(["halt", "billing", "--reason", "r"])
    assert.deepEqual([halted.status, halted.err], [0, ""])
    const server = await me.serve()
    const released = await me.flyball(["release", activationIn(halted.out), "--reason", "r"])
    assert.deepEqual([released.status, released.err], [0, ""])
    assert.notInclude(server.err(), "no control socket")
    await server.stop("SIGTERM")
  })

  it("says what to type beside a server without a socket; status and dry run work there", async () => {
    const server = await me.serve()
    rmSync(me.path(".flyball", "control.sock"))
    const port = new URL(server.url).port
    const { err, out, status } = await me.flyball(["halt", "billing", "--reason", "it's late"], { FLYBALL_PORT: port })
    assert.deepEqual([status, out], [1, ""])
    assert.include(err, "another process writes ")
    assert.include(err, ". Nothing was recorded. Stop the server, run this again, and start the server: ")
    const [, data] = / -d '([^']*)' http:/.exec(err)!
    assert.include(
      err,
      `Or leave it running: curl -H "Authorization: Bearer $(flyball token --role operator)" ` +
        `-H 'Content-Type: application/json' -d '${data}' http://127.0.0.1:${port}/api/v1/bound/kill/activate.\n`
    )
    assert.match((await me.flyball(["kill-status", "billing"])).out, /^Not halted: /)
    assert.strictEqual((await me.flyball(["halt", "billing", "--dry-run"])).status, 0)
    assert.deepInclude(JSON.parse(data!), { target_type: "agent", target_id: billing, reason: "it's late" })
    const unit = await me.flyball(["halt", "--org-unit", "ops", "--reason", "r"])
    assert.strictEqual(unit.status, 1)
    assert.notInclude(unit.err, "curl")
    const released = await me.flyball(["release", NOWHERE, "--reason", "r"], {
      FLYBALL_OIDC_ISSUER: "https://login.example.org",
      FLYBALL_OIDC_AUDIENCE: "flyball"
    })
    assert.strictEqual(released.status, 1)
    assert.include(released.err, "Bearer $TOKEN")
    assert.include(released.err, " with an operator's token of https://login.example.org.\n")
    await server.stop("SIGTERM")
  })
})

describe("flyball halt with wrong arguments", () => {
  let before: number
  beforeAll(async () => {
    before = await epochNow()
  })

  it.each<[ReadonlyArray<string>, number, string]>([
    [["halt"], 2, "the target is missing: an agent (its id or exact name), model:ID, --org-unit NAME or --deployment"],
    [["halt", "billing", "--deployment", "--reason", "r"], 2, "expected one target: "],
    [["halt", "a", "b", "--reason", "r"], 2, "expected one target: "],
    [["halt", "model:", "--reason", "r"], 2, "model: should be followed by the model"],
    [["halt", "billing"], 2, "--reason TEXT is missing"],
    [["halt", "billing", "--reason", "  "], 2, "--reason should be 1 to 2000 characters, one of them visible"],
    [["halt", "billing", "--reason", "r", "--response", "stop"], 2, "--response should be one of notify, step_down, "],
    [["halt", "Billing", "--reason", "r"], 1, 'there is no agent with the exact name "Billing" in this store'],
    [["halt", `agt_${"0".repeat(26)}`, "--reason", "r"], 1, 'there is no agent with the id "agt_'],
    [["kill-status", "nobody"], 1, "there is no agent with the exact name"],
    [["kill-status"], 2, "the target is missing"],
    [["release", "--reason", "r"], 2, "expected the id of one activation"],
    [["release", NOWHERE], 2, "--reason TEXT is missing"],
    [["release", NOWHERE, "--reason", "r"], 1, `there is no activation "${NOWHERE}" in this store`],
    [["release", "x", "--reason", "r"], 1, 'there is no activation "x" in this store']
  ])("%j is one sentence", async (args, status, words) => {
    const answered = await me.flyball(args)
    assert.deepEqual([answered.status, answered.out], [status, ""])
    assert.match(answered.err, /^flyball (halt|release|kill-status): [^\n]+\n$/)
    assert.include(answered.err, words)
  })

  it("changes no kill state", async () => {
    assert.isAbove(before, 0)
    assert.strictEqual(await epochNow(), before)
  })
})
