import { assert, describe, it } from "vitest"
import { readSettings } from "./read.ts"

const noFile = (): string => {
  throw new Error("no such file")
}

describe("settings", () => {
  it("has defaults for everything", () => {
    const read = readSettings({}, noFile)
    assert.isTrue(read.ok)
    if (!read.ok) return
    assert.deepEqual(read.settings, {
      host: "127.0.0.1",
      port: 8787,
      database: { kind: "sqlite", file: "./.flyball/flyball.db" },
      origin: null,
      guard: null,
      dataDir: "./.flyball",
      tenantId: null,
      oidcIssuer: null,
      oidcAudience: "flyball",
      oidcRolesClaim: "roles",
      oidcGroupsClaim: "groups",
      oidcRolesSeparator: null,
      oidcGroupsSeparator: null,
      bootstrapAdmin: null,
      platformPlan: "enterprise",
      usdInr: null,
      gatewayUpstreams: null,
      trustStore: null,
      metricsToken: null,
      trustedProxies: null,
      drainMs: 5_000,
      channelCheckS: 3_600,
      otlpEndpoint: null,
      otlpHeaders: null,
      otelServiceName: "flyball",
      tracesSampler: "parentbased_always_on",
      tracesSamplerArg: 1,
      webhookRetryAfter: "0",
      egressAllow: null,
      egressHttp: "0",
      egressPorts: null,
      secretsKeyFile: null,
      secretsLost: "0",
      alertEmail: null,
      smtpUrl: null,
      mailFrom: "flyball@localhost",
      signatureHeader: "X-Platform-Signature",
      webhookKeepDays: 30,
      logLevel: "info"
    })
  })
  it("lists every problem, and never shows a secret", () => {
    const read = readSettings(
      { FLYBALL_PORT: "x", FLYBALL_ORIGIN: "a b", FLYBALL_DATABASE_URL: "mysql://u:hunter2@h/d" },
      noFile
    )
    assert.isFalse(read.ok)
    if (read.ok) return
    assert.equal(read.problems.length, 3)
    assert.notInclude(read.problems.join(), "hunter2")
  })
  it("takes no scheme in the name of a chain, which is fixed at the first start", () => {
    for (const origin of ["https://flyball.example/acme", "http://x", "flyball://x"])
      assert.isFalse(readSettings({ FLYBALL_ORIGIN: origin }, noFile).ok, origin)
    for (const origin of ["flyball.example/acme/prod", "flyball.example:8787/a", "flyball.local/a~2", "a"])
      assert.isTrue(readSettings({ FLYBALL_ORIGIN: origin }, noFile).ok, origin)
  })
  it("masks the password of a database address", () => {
    const read = readSettings({ FLYBALL_DATABASE_URL: "postgres://u:hunter2@h/d?sslkey=hunter3" }, noFile)
    assert.isTrue(read.ok)
    if (!read.ok) return
    const shown = read.effective.map((row) => row.shown).join()
    assert.notInclude(shown, "hunter")
    assert.include(shown, "****@h/d")
  })
  it("reads a secret from a file, and refuses both", () => {
    const read = readSettings({ FLYBALL_DATABASE_URL_FILE: "/run/secret" }, () => "sqlite::memory:\n")
    assert.isTrue(read.ok && read.settings.database.kind === "memory")
    assert.isFalse(
      readSettings(
        { FLYBALL_DATABASE_URL_FILE: "/run/secret", FLYBALL_DATABASE_URL: "sqlite::memory:" },
        () => "sqlite::memory:"
      ).ok
    )
    assert.isFalse(readSettings({ FLYBALL_DATABASE_URL_FILE: "/run/secret" }, noFile).ok)
  })
  it("says which file of a secret cannot be used and why, unless its name may be the secret", () => {
    const problem = (file: string, content: () => string): string => {
      const read = readSettings({ FLYBALL_DATABASE_URL_FILE: file }, content)
      return read.ok ? "taken" : read.problems.join()
    }
    const missing = (): string => {
      throw Object.assign(new Error("no such file"), { code: "ENOENT" })
    }
    assert.strictEqual(
      problem("/run/secret", missing),
      'FLYBALL_DATABASE_URL_FILE names "/run/secret", which cannot be read: it does not exist (ENOENT).'
    )
    assert.strictEqual(
      problem("/run/secret", () => "\n"),
      'FLYBALL_DATABASE_URL_FILE names "/run/secret", which is empty.'
    )
    assert.strictEqual(
      problem("postgres://u:hunter2@h/d", missing),
      "FLYBALL_DATABASE_URL_FILE should name a file, and its value is an address; set FLYBALL_DATABASE_URL instead."
    )
    assert.match(
      problem("/run/secret", () => "mysql://u:hunter2@h/d"),
      /^FLYBALL_DATABASE_URL_FILE should name a file that holds (?!.*hunter2)/
    )
  })
  it.each<[string, string | null]>([
    ["sqlite:a.db", "a.db"],
    ["sqlite:/srv/a.db", "/srv/a.db"],
    ["sqlite:///srv/a.db", "/srv/a.db"],
    ["sqlite://a.db", null],
    ["sqlite:", null],
    ["sqlite::file:", null]
  ])("reads %s as the file %s", (url, file) => {
    const read = readSettings({ FLYBALL_DATABASE_URL: url }, noFile)
    assert.deepEqual(read.ok ? read.settings.database : null, file === null ? null : { kind: "sqlite", file })
  })
  it.each(["postgres://h:99999/d", "postgres://u:100%@h/d", "Postgres://h/d", "postgresql:h"])(
    "refuses the address %s",
    (url) => assert.isFalse(readSettings({ FLYBALL_DATABASE_URL: url }, noFile).ok)
  )
  it("says nothing of the variables of agents, which the same shell may have", () => {
    const ofAgents = { FLYBALL_URL: "http://127.0.0.1:8787", FLYBALL_KEY: "k", FLYBALL_SPOOL: "/spool" }
    assert.deepEqual(readSettings(ofAgents, noFile).warnings, [])
  })
  it("warns about unknown names, with the nearest known one", () => {
    assert.deepEqual(readSettings({ FLYBALL_PROT: "1", FLYBALL_TEST_PG_URL: "x", PATH: "y" }, noFile).warnings, [
      "FLYBALL_PROT is not a setting and is ignored. Did you mean FLYBALL_PORT?"
    ])
    assert.deepEqual(readSettings({ FLYBALL_PORT_FILE: "x", FLYBALL_SOMETHING_ELSE: "y" }, noFile).warnings, [
      "FLYBALL_PORT_FILE is not a setting and is ignored. Only secrets can come from a file; set FLYBALL_PORT.",
      "FLYBALL_SOMETHING_ELSE is not a setting and is ignored."
    ])
  })
  it.each([
    "Host",
    "content-length",
    "CONNECTION",
    "webhook-id",
    "Content-Type",
    "X-Platform-Event",
    "User-Agent",
    "X Y"
  ])("refuses %s for the signature", (name) =>
    assert.isFalse(readSettings({ FLYBALL_WEBHOOK_SIGNATURE_HEADER: name }, noFile).ok)
  )
  it.each(["ops@münchen.de", "a..b@example.com", `${"a".repeat(65)}@example.com`, "a@-x_y.com", "a@b, c@d"])(
    "refuses the alert address %s, which no mailer takes",
    (address) => assert.isFalse(readSettings({ FLYBALL_ALERT_EMAIL: address }, noFile).ok)
  )
  it.each<[string, ReadonlyArray<number> | null]>([
    ["443", [443]],
    ["443, 8443", [443, 8443]],
    ["0", null],
    ["65536", null],
    ["443,", null],
    ["https", null],
    ["0443", null]
  ])("reads %s as ports", (text, ports) => {
    const read = readSettings({ FLYBALL_EGRESS_PORTS: text }, noFile)
    assert.deepEqual(read.ok ? read.settings.egressPorts : null, ports)
  })
  it.each(["FLYBALL_DATA_DIR", "FLYBALL_TRUST_STORE", "FLYBALL_SECRETS_KEY_FILE"])("refuses a blank %s", (name) => {
    const read = readSettings({ [name]: "  " }, noFile)
    assert.deepEqual(read.ok ? [] : read.problems, [`${name} should be a path, and is "  ".`])
    assert.isFalse(readSettings({ FLYBALL_DATABASE_URL: "sqlite: " }, noFile).ok)
  })
  it("keeps the store in the data folder by default", () => {
    const read = readSettings({ FLYBALL_DATA_DIR: "/srv/flyball" }, noFile)
    assert.isTrue(
      read.ok && read.settings.database.kind === "sqlite" && read.settings.database.file === "/srv/flyball/flyball.db"
    )
  })
})
