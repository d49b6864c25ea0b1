import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { operator, type Operator, type RunningServer } from "./testing/commands.ts"

const ORIGIN = "flyball.example/acme/prod"
/** The name after the recovery. */
let second: string
const why = ["--accept-rollback", "--reason", "The disk of the host died on Friday; Thursday's copy was the newest."]

let me: Operator
let oldVkey: string
let key: string
let agentId: string
/** Records in the copy that was made midway, and in the chain when its store was lost. */
let copied: number
let signed: number

const asAgent = (server: RunningServer, method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })

/** Witnesses decisions `from` to `to`, each by a request of its own, all at once. */
const witness = async (server: RunningServer, from: number, to: number): Promise<void> => {
  const answers = await Promise.all(
    Array.from({ length: to - from + 1 }, (_, index) =>
      asAgent(server, "POST", `/agents/${agentId}/decisions`, {
        client_ref: `step-${from + index}`,
        kind: "tool_call",
        action: "pay",
        status: "ok",
        args: { step: from + index }
      })
    )
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
}

const stop = async (server: RunningServer): Promise<void> =>
  assert.strictEqual((await server.stop("SIGTERM")).status, 0)

const records = async (server: RunningServer): Promise<number> =>
  ((await (await server.call("GET", "/api/v1/chain/head")).json()) as { readonly tree_size: number }).tree_size

beforeAll(async () => {
  me = operator()
  const first = await me.serve({ FLYBALL_ORIGIN: ORIGIN })
  key = (
    (await (await first.call("POST", "/api/v1/admin/ingest-keys", { name: "agents", org_unit: "support" })).json()) as {
      readonly key: string
    }
  ).key
  agentId = (
    (await (await asAgent(first, "POST", "/agents", { name: "refund-bot" })).json()) as { readonly id: string }
  ).id
  oldVkey = (await me.flyball(["vkey"])).out.trim()
  copyFileSync(me.path(".flyball", "signing.key"), me.path("vault.key"))
  await witness(first, 1, 40)
  copied = await records(first)
  await stop(first)
  copyFileSync(me.path(".flyball", "flyball.db"), me.path("thursday.db"))

  const second = await me.serve()
  await witness(second, 41, 60)
  signed = await records(second)
  await stop(second)
  // What an auditor took home before the disk died.
  assert.strictEqual((await me.flyball(["export", "--kind", "full", "--out", "late.evp"])).status, 0)
  const [, checkpoint] = /^C (\S+)$/m.exec(readFileSync(me.path("late.evp"), "utf8"))!
  writeFileSync(me.path("late.checkpoint"), Buffer.from(checkpoint!, "base64"))
}, 120_000)
afterAll(() => me.leave())

describe("flyball recover", () => {
  it("has nothing to do where the server would start", async () => {
    assert.deepEqual(await me.flyball(["recover", ...why]), {
      status: 1,
      out: "",
      err:
        `flyball recover: There is nothing to recover: the store of ${ORIGIN} holds ${signed} records, and ` +
        "all that was signed for it, as far as the guard knows, is there. Start the server. Only when the " +
        "guard is an older copy, so that more was signed than it knows of: flyball recover " +
        `--accept-rollback --guard-forgotten --reason TEXT.\n`
    })
  })

  it("is named by the server when its store was put back; without flags it only lists losses", async () => {
    copyFileSync(me.path("thursday.db"), me.path(".flyball", "flyball.db"))
    for (const log of ["-wal", "-shm"]) rmSync(me.path(".flyball", `flyball.db${log}`), { force: true })
    const refused = await me.flyball(["serve"])
    assert.deepEqual([refused.status, refused.out], [1, ""])
    assert.match(
      refused.err,
      new RegExp(
        `^flyball serve: A checkpoint of ${signed} records was signed for ${ORIGIN}, but the store holds ` +
          `${copied}\\. .*flyball recover[^\\n]*\\n$`
      )
    )
    const said =
      `${signed} records of ${ORIGIN} were signed, and the store holds ${copied}, so ` +
      `${signed - copied} records are lost, of which others may have evidence`
    for (const [args, flags] of [
      [[], "--accept-rollback and --reason TEXT"],
      [["--accept-rollback"], "--reason TEXT"]
    ] as const) {
      const { err, out, status } = await me.flyball(["recover", ...args])
      assert.deepEqual([status, out], [2, ""])
      assert.strictEqual(
        err,
        `flyball recover: ${said}. If no newer copy of the store is left, give ${flags} to continue without them ` +
          `under another name. flyball recover --help says how.\n`
      )
    }
    assert.isFalse(existsSync(me.path(".flyball", "flyball.db.retired-1")))
  })

  it("continues under another name, with the same agents and keys", async () => {
    const { err, out, status } = await me.flyball(["recover", ...why], { FLYBALL_ORIGIN: ORIGIN })
    second = /^The chain continues as (\S+)\. Give/m.exec(out)![1]!
    assert.match(second, new RegExp(`^${ORIGIN}~2-[0-9a-f]{8}$`))
    assert.deepEqual(
      [status, err],
      [0, `flyball: FLYBALL_ORIGIN is ${ORIGIN}. Set it to ${second}, or leave it out, before the server starts.\n`]
    )
    const vkey = (await me.flyball(["vkey"])).out
    assert.match(
      out,
      new RegExp(
        `^Recovered: ${signed} records of ${ORIGIN} were signed,.* flyball export --chain ${ORIGIN} exports it\\.\n`
      )
    )
    assert.match(
      out,
      /Amounts in lost records are not counted.* repeat them: revoked keys are valid again.*erased parts are back\.\n/
    )
    assert.isTrue(
      out.endsWith(
        `The chain continues as ${second}. Give its verification key to those who verify its packs:\n${vkey}`
      )
    )
    assert.deepEqual(
      readdirSync(me.path(".flyball"))
        .filter((name) => name.startsWith("flyball.db"))
        .sort(),
      ["flyball.db", "flyball.db.lock", "flyball.db.retired-1"]
    )

    const server = await me.serve()
    await witness(server, 41, 70)
    assert.strictEqual(
      ((await (await asAgent(server, "GET", `/agents/${agentId}`)).json()) as { readonly name: string }).name,
      "refund-bot"
    )
    // Record 0, one that seals the agent for this chain, and 30 decisions.
    assert.strictEqual(await records(server), 32)
    const { err: writing } = await me.flyball(["recover", ...why])
    assert.match(
      writing,
      /^flyball recover: another process writes \S+flyball\.db, probably a running flyball serve\. Stop it first/
    )
    await stop(server)
  })

  it("leaves both chains to export, each verified by its own key; the new one names its predecessor", async () => {
    const vkey = (await me.flyball(["vkey"])).out.trim()
    const { err } = await me.flyball(["export", "--kind", "full", "--chain", ORIGIN, "--out", "old.evp"])
    assert.strictEqual(
      err,
      `Wrote ${copied} records to old.evp. Check it with: flyball-verify old.evp --vkey "$(flyball vkey ` +
        `--chain ${ORIGIN})"\n`
    )
    assert.deepEqual(await me.flyball(["vkey", "--chain", ORIGIN]), { status: 0, out: `${oldVkey}\n`, err: "" })
    assert.strictEqual((await me.flyball(["export", "--kind", "full", "--out", "new.evp"])).status, 0)
    const old = await me.verify("old.evp", "--vkey", oldVkey, "--require", "full", "--json")
    const now = await me.verify("new.evp", "--vkey", vkey, "--require", "full", "--json")
    assert.deepEqual([old.status, now.status], [0, 0], `${old.out}${now.out}`)
    assert.isNull((JSON.parse(old.out) as { readonly previous: unknown }).previous)
    assert.deepEqual((JSON.parse(now.out) as { readonly previous: unknown }).previous, {
      origin: ORIGIN,
      signed_size: signed,
      stored_size: copied
    })
    assert.match(
      (await me.verify("new.evp", "--vkey", vkey)).out.replaceAll(/\s+/g, " "),
      new RegExp(
        `Follows ${ORIGIN}\\. This chain was begun after ${signed} records of that one were signed, when its ` +
          `store held ${copied}\\.`
      )
    )
    assert.strictEqual((await me.verify("new.evp", "--vkey", oldVkey)).status, 2, "the old key is not the new chain's")
    const unknown = await me.flyball([
      "export",
      "--kind",
      "full",
      "--chain",
      "flyball.example/none",
      "--out",
      "none.evp"
    ])
    assert.deepEqual(
      [unknown.status, unknown.err],
      [
        1,
        `flyball export: --chain flyball.example/none: the retired chains are ${ORIGIN}. Leave --chain out for the ` +
          `current chain.\n`
      ]
    )
  })

  it("hides nothing from an auditor who holds a later checkpoint of the old chain", async () => {
    const { out, status } = await me.verify(
      "old.evp",
      "--vkey",
      oldVkey,
      "--trusted-checkpoint",
      "late.checkpoint",
      "--json"
    )
    const report = JSON.parse(out) as {
      readonly verdicts: { readonly completeness: string }
      readonly findings: ReadonlyArray<{ readonly code: string }>
    }
    assert.deepEqual(
      [status, report.verdicts.completeness, report.findings.map(({ code }) => code)],
      [2, "truncated", ["E_ROLLBACK"]]
    )
  })

  it("and an older key from the vault: a start names the state, and one command renames the key", async () => {
    const vkey = (await me.flyball(["vkey"])).out
    mkdirSync(me.path("host"), { mode: 0o700 })
    for (const name of ["flyball.db", "flyball.db.retired-1", "guard", "secrets.key", "dev-issuer.jwk"])
      cpSync(me.path(".flyball", name), me.path("host", name), { recursive: true })
    cpSync(me.path("vault.key"), me.path("host", "signing.key"))
    const host = { FLYBALL_DATA_DIR: "host" }
    const refused = await me.flyball(["serve"], host)
    assert.deepEqual([refused.status, refused.out], [1, ""])
    assert.match(
      refused.err,
      new RegExp(
        `^flyball serve: The signing key here is named ${ORIGIN}, as this chain was before a recovery; the ` +
          `store holds ${second}, .* Run flyball restore --rename-key: it gives the key the name ${second}\\.\n$`
      )
    )
    assert.strictEqual((await me.flyball(["recover", ...why], host)).err, refused.err.replace("serve", "recover"))
    const alone = await me.flyball(["restore", "--rename-key", "--guard"], host)
    assert.deepEqual(
      [alone.status, alone.err.slice(0, 54)],
      [2, "flyball restore: --rename-key renames the key in the d"]
    )
    const { err, out, status } = await me.flyball(["restore", "--rename-key"], host)
    assert.deepEqual(
      [status, out, err],
      [
        0,
        "",
        `flyball: the signing key in ${me.path("host")} was named ${ORIGIN}, and is named ${second} now: ` +
          `${vkey.trim()}. Put this signing.key into the vault in place of the other, and start the server.\n`
      ]
    )
    assert.strictEqual((await me.flyball(["vkey"], host)).out, vkey)
    await stop(await me.serve(host))
  })

  it("is explained by the records of both chains, which check recomputes", async () => {
    const total = copied + 32
    const checked = await me.flyball(["check"])
    const [compared] = checked.out.split("Not compared:\n")
    assert.deepEqual(
      { ...checked, out: compared },
      {
        status: 0,
        out:
          "Chain: 32 records recomputed from the stored bytes; no difference; the last checkpoint covers 32 " +
          "records.\n" +
          `Retired: ${ORIGIN}, ${copied} records recomputed; as the next chain records them.\n` +
          `Replay: ${total} records folded, 3 documents compared; no difference.\n` +
          "Idempotency: 30 keys compared with the records that took them; no difference.\n",
        err: ""
      }
    )
    copyFileSync(me.path(".flyball", "flyball.db.retired-1"), me.path("retired"))
    rmSync(me.path(".flyball", "flyball.db.retired-1"))
    const { out, status } = await me.flyball(["check"])
    assert.strictEqual(status, 1)
    assert.include(
      out,
      `Retired: ${ORIGIN}, 0 records recomputed; 1 finding.\nFindings:\n  E_COUNT: expected the ${copied} ` +
        `retired records, found no such chain beside the store\n`
    )
    assert.match(out, /Replay: 32 records folded, 3 documents compared; \d+ differences/)
  })
})
