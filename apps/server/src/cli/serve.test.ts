import { testIssuer } from "@flyball/http/testing"
import { readdirSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { untilStopped } from "./serve.ts"
import { operator, type Operator, starterFile } from "./testing/commands.ts"

let me: Operator
beforeEach(() => {
  me = operator()
})
afterEach(() => me.leave())

const logOf = (err: string): ReadonlyArray<{ readonly message: string; readonly [member: string]: unknown }> =>
  err
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))

const sizeOf = async (response: Response): Promise<number> =>
  ((await response.json()) as { tree_size: number }).tree_size

describe("flyball serve", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "on %s signs a last checkpoint and ends with 0; one line goes to standard output",
    async (signal) => {
      const server = await me.serve()
      assert.strictEqual((await fetch(`${server.url}/healthz`)).status, 200)
      assert.strictEqual(
        (await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })).status,
        201
      )
      const size = await sizeOf(await server.call("GET", "/api/v1/chain/head"))
      const { err, out, status } = await server.stop(signal)
      assert.strictEqual(status, 0)
      assert.strictEqual(out, `flyball 0.1.0 is ready at ${server.url}\n`)
      assert.match(err, /DEVELOPMENT ISSUER/)
      assert.deepInclude(
        logOf(err).find(({ message }) => message === "stopping"),
        { signal }
      )
      assert.deepInclude(logOf(err).at(-1), { message: "stopped", signedRecords: size })
      const check = await me.flyball(["check"])
      assert.deepEqual([check.status, check.err], [0, ""])
      assert.match(
        check.out,
        new RegExp(`^Chain: ${size} records recomputed .*the last checkpoint covers ${size} records\\.\\n`)
      )
    }
  )

  it("starts without its identity provider, and warns that its keys cannot be fetched", async () => {
    const issuer = "http://127.0.0.1:9"
    const server = await me.serve({ FLYBALL_OIDC_ISSUER: issuer, FLYBALL_BOOTSTRAP_ADMIN: "user_ids:ann" })
    // Its own request to the provider ends as this one does: after the first.
    assert.strictEqual(
      (await fetch(`${server.url}/api/v1/me`, { headers: { authorization: "Bearer a.b.c" } })).status,
      503
    )
    const { err, status } = await server.stop("SIGTERM")
    assert.strictEqual(status, 0)
    const warning = logOf(err).find(({ level }) => level === "warn")
    assert.deepInclude(warning, { issuer })
    assert.match(String(warning?.["message"]), /^the identity provider's keys cannot be fetched/)
  })

  it("serves its metrics to callers with the token, and neither shows nor logs the token", async () => {
    const token = "metrics-token-0123456789"
    const server = await me.serve({ FLYBALL_METRICS_TOKEN: token })
    const ask = async (headers: { readonly [name: string]: string }) =>
      (await fetch(`${server.url}/metrics`, { headers: { "x-forwarded-for": "192.0.2.1", ...headers } })).status
    assert.deepStrictEqual([await ask({}), await ask({ authorization: `Bearer ${token}` })], [401, 200])
    const { err } = await server.stop("SIGTERM")
    assert.notInclude(err, token)
    assert.match(
      (await me.flyball(["config"], { FLYBALL_METRICS_TOKEN: token })).out,
      /^FLYBALL_METRICS_TOKEN +\*{4} {2}\(environment\)$/m
    )
    assert.match(
      (await me.flyball(["config"], { FLYBALL_METRICS_TOKEN: "short" })).err,
      /FLYBALL_METRICS_TOKEN should be 16 to 256 [^"]*$/m
    )
  })

  it("answers 401 for a key of the provider that is too weak, and logs it once", async () => {
    const issuer = await testIssuer()
    await issuer.addKey("good")
    issuer.addRsaKey("weak", 1_024)
    try {
      const server = await me.serve({ FLYBALL_OIDC_ISSUER: issuer.url, FLYBALL_BOOTSTRAP_ADMIN: "user_ids:ann" })
      const statusWith = async (token: string): Promise<number> =>
        (await fetch(`${server.url}/api/v1/me`, { headers: { authorization: `Bearer ${token}` } })).status
      const seen: Array<number> = []
      for (let n = 0; n < 2; n++) {
        seen.push(await statusWith(issuer.signWeakly("weak", Date.now())))
        seen.push(await statusWith(await issuer.sign("good", Date.now())))
      }
      assert.deepStrictEqual(seen, [401, 200, 401, 200])
      const { err } = await server.stop("SIGTERM")
      const lines = logOf(err).filter(({ message }) => message === "a key of the identity provider is ignored")
      assert.deepStrictEqual(
        lines.map(({ issuer, kid, level }) => [issuer, kid, level]),
        [[issuer.url, "weak", "warn"]]
      )
      assert.notInclude(err, "issuer_unavailable")
    } finally {
      await issuer.close()
    }
  })

  it("treats the second signal of one Ctrl-C, which npm forwards, as the same request", async () => {
    const server = await me.serve()
    const [{ err, status }] = await Promise.all([server.stop("SIGINT"), server.stop("SIGINT"), server.stop("SIGTERM")])
    assert.strictEqual(status, 0)
    assert.deepInclude(logOf(err).at(-1), { message: "stopped", signedRecords: 1 })
  })

  it("after SIGTERM continues for a while and says so at /healthz, and ends at once at a second signal", async () => {
    const server = await me.serve({ FLYBALL_DRAIN_MS: "120000" })
    const ended = server.stop("SIGTERM")
    const health = async (): Promise<number> => (await fetch(`${server.url}/healthz`)).status
    while ((await health()) === 200);
    // Each on a connection of its own: the server ends them all now.
    assert.deepStrictEqual(
      [await health(), (await server.call("POST", "/api/v1/agents", { name: "late", org_unit: "support" })).status],
      [503, 201]
    )
    let over = false
    void ended.then(() => (over = true))
    // Signals within a second count as one, so the test repeats them until the process ends.
    const asking = setInterval(() => over || void server.stop("SIGTERM"), 100)
    const { status } = await ended
    clearInterval(asking)
    assert.strictEqual(status, 143)
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it.each<[NodeJS.Signals, number, ReadonlyArray<string>]>([
    ["SIGTERM", 5_000, ["drain", "wait 5000", "close"]],
    ["SIGTERM", 0, ["drain", "close"]],
    ["SIGINT", 5_000, ["drain", "close"]]
  ])("on %s with %i ms to drain does: %s", async (signal, drainMs, expected) => {
    const done: Array<string> = []
    const server = { drain: () => void done.push("drain"), close: async () => void done.push("close") }
    await untilStopped(
      server,
      { requested: Promise.resolve(signal) },
      () => undefined,
      drainMs,
      async (ms) => done.push(`wait ${ms}`)
    )
    assert.deepStrictEqual(done, [...expected])
  })

  it("starts again after it was killed, with everything it had acknowledged", async () => {
    const server = await me.serve()
    assert.strictEqual((await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })).status, 201)
    const size = await sizeOf(await server.call("GET", "/api/v1/chain/head"))
    assert.strictEqual((await server.stop("SIGKILL")).status, -1)
    const again = await me.serve()
    assert.isAtLeast(await sizeOf(await again.call("GET", "/api/v1/chain/head")), size)
    assert.strictEqual((await again.stop("SIGTERM")).status, 0)
    assert.strictEqual((await me.flyball(["check"])).status, 0)
  })

  it("says so and ends with 1 when the last checkpoint cannot be signed; nothing is lost", async () => {
    const server = await me.serve()
    writeFileSync(me.path(".flyball", "guard", "notes.txt"), "not a state of the guard")
    const { err, status } = await server.stop("SIGTERM")
    assert.strictEqual(status, 1)
    assert.deepInclude(logOf(err).at(-1), {
      level: "error",
      message:
        "stopped, and no checkpoint can be signed before an operator intervenes: store and guard disagree, and " +
        "records may be missing"
    })
  })

  it("is refused on an address that others reach, before anything is made", async () => {
    const { err, out, status } = await me.flyball(["serve"], { FLYBALL_HOST: "0.0.0.0" })
    assert.deepEqual([status, out], [1, ""])
    assert.match(
      err,
      new RegExp(
        /^flyball serve: FLYBALL_HOST is 0\.0\.0\.0, which others can reach, and no /.source +
          /OIDC issuer is configured\. [^\n]+ or use 127\.0\.0\.1\.\n$/.source
      )
    )
    assert.deepEqual(readdirSync(me.folder), [])
  })

  it("says which port is taken", async () => {
    const listener = createServer()
    const port = await new Promise<number>((resolve) =>
      listener.listen(0, "127.0.0.1", () => resolve((listener.address() as { port: number }).port))
    )
    try {
      const { err, out, status } = await me.flyball(["serve"], {
        FLYBALL_PORT: String(port),
        FLYBALL_LOG_LEVEL: "silent",
        FLYBALL_DATABASE_URL: "sqlite::memory:"
      })
      assert.deepEqual([status, out], [1, ""])
      assert.include(
        err,
        `flyball serve: port ${port} of 127.0.0.1 is in use. Stop the program that listens there, or choose another ` +
          `port with FLYBALL_PORT (0 takes a free one).\n`
      )
    } finally {
      listener.close()
    }
  })

  it("keeps a store in memory for as long as it lives, and makes no signing key", async () => {
    const server = await me.serve({ FLYBALL_DATABASE_URL: "sqlite::memory:" })
    assert.strictEqual((await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })).status, 201)
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    assert.deepEqual(readdirSync(me.path(".flyball")), ["dev-issuer.jwk"])
  })
})

describe("beside a running server on SQLite", () => {
  it("a second server and an import are refused; check and export read what was acknowledged", async () => {
    const server = await me.serve()
    const [second, imported] = await Promise.all([me.flyball(["serve"]), me.flyball(["import", starterFile])])
    for (const refused of [second, imported]) {
      assert.deepEqual([refused.status, refused.out], [1, ""])
      assert.match(
        refused.err,
        new RegExp(
          /^flyball (serve|import): another process writes \S+flyball\.db, probably a /.source +
            /running flyball serve\. Stop it first: [^\n]+\n$/.source
        )
      )
    }
    const early = await me.flyball(["check"])
    assert.deepEqual([early.status, early.err], [0, ""])
    assert.strictEqual((await server.call("POST", "/api/v1/agents", { name: "bot", org_unit: "support" })).status, 201)
    // Asking for a pack signs for what is there.
    assert.strictEqual((await server.call("POST", "/api/v1/evidence/packs", { kind: "full" })).status, 201)
    const size = await sizeOf(await server.call("GET", "/api/v1/chain/head"))
    const [exported, vkey, check] = await Promise.all([
      me.flyball(["export", "--kind", "full", "--out", "a.evp"]),
      me.flyball(["vkey"]),
      me.flyball(["check"])
    ])
    assert.deepEqual([exported.status, check.status], [0, 0])
    assert.include(exported.err, `Wrote ${size} records to a.evp.`)
    assert.strictEqual((await me.verify("a.evp", "--vkey", vkey.out.trim(), "--quiet")).status, 0)
    assert.strictEqual((await server.stop("SIGTERM")).status, 0)
    // The store holds what people said, and the pack what was disclosed of it.
    for (const file of [me.path(".flyball", "flyball.db"), me.path("a.evp")])
      assert.strictEqual(statSync(file).mode & 0o077, 0, file)
  })
})
