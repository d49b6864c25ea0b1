import { readdirSync, readFileSync } from "node:fs"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { version } from "../version.ts"
import { helpText } from "./help.ts"
import { operator, type Operator } from "./testing/commands.ts"

let me: Operator
beforeAll(() => {
  me = operator()
})
afterAll(() => me.leave())

describe("how the command is called", () => {
  it("its version is that of the package", () => {
    const { version: published } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      readonly version: string
    }
    assert.strictEqual(version, published)
  })

  it("requested help goes to standard output, help after an error to standard error", async () => {
    const [requested, alone, of, after, versionAnswer] = await Promise.all([
      me.flyball(["--help"]),
      me.flyball([]),
      me.flyball(["help", "export"]),
      me.flyball(["export", "--help"]),
      me.flyball(["--version"])
    ])
    const all = `${helpText(undefined)}\n`
    assert.deepEqual(requested, { status: 0, out: all, err: "" })
    assert.deepEqual(alone, { status: 2, out: "", err: all })
    assert.deepEqual(of, { status: 0, out: `${helpText("export")}\n`, err: "" })
    assert.deepEqual(after, of)
    assert.deepEqual(versionAnswer, { status: 0, out: `${version}\n`, err: "" })
  })

  it.each<[ReadonlyArray<string>, string]>([
    [["exprot"], 'flyball: there is no command "exprot". Did you mean export? flyball --help lists them.'],
    [["help", "nothing"], 'flyball: there is no command "nothing". flyball --help lists them.'],
    [["__proto__"], 'flyball: there is no command "__proto__". flyball --help lists them.'],
    [
      ["serve", "--port", "80"],
      "flyball serve: there is no flag --port; it is a setting of the environment, FLYBALL_PORT. flyball serve " +
        "--help says how."
    ],
    [
      ["token"],
      "flyball token: --role should be one of admin, governor, operator, reviewer, auditor. flyball token " +
        "--help says how."
    ],
    [
      ["token", "--role", "king"],
      "flyball token: --role should be one of admin, governor, operator, reviewer, auditor. flyball token " +
        "--help says how."
    ],
    [
      ["login"],
      "flyball login: --issuer is missing, and FLYBALL_OIDC_ISSUER is not set. Where the server is its own issuer, " +
        "flyball token --role R makes a token. flyball login --help says how."
    ],
    [["login", "--issuer", "http://login.example.org"], "flyball login: --issuer should be an https address"],
    [
      ["login", "--issuer", "https://login.example.org", "--redirect", "https://example.org/"],
      "flyball login: --redirect should be an http address of this host, as http://127.0.0.1/callback."
    ],
    [["login", "--token", "--device"], "flyball login: --token stands alone. flyball login --help says how."],
    [["why"], "flyball why: expected one agent: its id or exact name. flyball why --help says how."],
    [["why", "a", "--last", "0"], "flyball why: --last should be a number from 1 to 50. flyball why --help says how."],
    [["vkey", "x"], 'flyball vkey: "x" is an unexpected argument. flyball vkey --help says how.'],
    [["export", "--kind", "full"], "flyball export: --out FILE is missing. flyball export --help says how."],
    [
      ["export", "--out", "a.evp"],
      "flyball export: --kind is missing; it is full, range or sparse. flyball export --help says how."
    ],
    [
      ["export", "--kind", "range", "--from", "x", "--out", "a.evp"],
      'flyball export: --from should be a whole number, and is "x". flyball export --help says how.'
    ],
    [
      ["export", "--kind", "sparse", "--agent", "bot", "--out", "a.evp"],
      "flyball export: --agent should be an agent's id, agt_ and 26 characters; GET /api/v1/agents lists them. " +
        "flyball export --help says how."
    ],
    [
      ["export", "--kind", "full", "--disclose", "all,args", "--out", "a.evp"],
      "flyball export: --disclose takes all, none or names of parts (action, advice, analysis, args, authority, " +
        "backtest, box, claim, dataset, definition, diff, document, endpoint, envelope, expected, fields, " +
        "good_runs, identity, inputs, instances, labels, lint, manifest, mapping, mcp_changes, mcp_digests, " +
        "missed, notes, outputs, owner, plan, policy, previous, problem, profile, reason, result, scenario, " +
        "screen, signals, subject, suite, texts, waiver), " +
        'and got "all". flyball export --help says how.'
    ],
    [
      ["export", "--kind", "full", "--out", "none/a.evp"],
      "does not exist; create it first. flyball export --help says how."
    ],
    [["backup"], "flyball backup: --out DIR is missing. flyball backup --help says how."],
    [["backup", "--out", "none/b"], "does not exist; create it first. flyball backup --help says how."],
    [["restore"], "flyball restore: --from DIR is missing. flyball restore --help says how."],
    [["restore", "--from", "none"], "flyball restore: --from none does not exist. flyball restore --help says how."],
    [
      ["migrate", "--dryrun"],
      "flyball migrate: there is no flag --dryrun; did you mean --dry-run? flyball migrate --help says how."
    ],
    [["rotate-key", "now"], 'flyball rotate-key: "now" is an unexpected argument. flyball rotate-key --help says how.'],
    [
      ["recover", "--accept-rollback", "--reason", "x", "--origin", "two words"],
      'flyball recover: --origin should be 1 to 255 printable ASCII characters without a space, "+" or a scheme'
    ],
    [
      ["recover", "--accept-rollback", "--reason", "x", "--origin", "https://flyball.example/acme"],
      'flyball recover: --origin should be 1 to 255 printable ASCII characters without a space, "+" or a scheme'
    ],
    [
      ["recover", "--reason", " "],
      "flyball recover: --reason should be 1 to 2000 characters, one of them visible. flyball recover --help says how."
    ],
    [
      ["platform-key", "mint", "--org-unit", "u", "--plan", "free"],
      "flyball platform-key: --name is needed. flyball platform-key --help says how."
    ],
    [
      ["platform-key", "mint", "--name", "n", "--org-unit", "u", "--plan", "gold", "--scopes", "*"],
      "flyball platform-key: --plan should be one of free, starter, growth, enterprise, custom. " +
        "flyball platform-key --help says how."
    ],
    [
      ["platform-key", "mint", "--name", "n", "--org-unit", "u", "--plan", "free", "--scopes", "all"],
      "flyball platform-key: --scopes: "
    ],
    [
      ["platform-key"],
      "flyball platform-key: expected mint --name N --org-unit U --plan P --scopes S,…, or list, or revoke ID. " +
        "flyball platform-key --help says how."
    ],
    [["mapping"], "flyball mapping: expected show, or set FILE. flyball mapping --help says how."],
    [["mapping", "set"], "flyball mapping: expected show, or set FILE. flyball mapping --help says how."],
    [
      ["mapping", "set", "none.json"],
      "flyball mapping: none.json cannot be read: it does not exist (ENOENT). flyball mapping --help says how."
    ],
    [
      ["envelope"],
      "flyball envelope: expected new --from-tools SERVER|FILE.json, test FILE… or export --to cedar|cel FILE. " +
        "flyball envelope --help says how."
    ],
    [
      ["envelope", "export", "--to", "rego", "x.json"],
      "flyball envelope: --to should be one of cedar, cel. flyball envelope --help says how."
    ],
    [
      ["envelope", "export", "--to", "cel", "none.json"],
      "flyball envelope: none.json cannot be read: it does not exist (ENOENT). flyball envelope --help says how."
    ],
    [
      ["import"],
      "flyball import: name at least one FILE.ndjson or FILE.ndjson.gz, or - for standard input. flyball " +
        "import --help says how."
    ],
    [
      ["import", "none.ndjson"],
      "flyball import: none.ndjson cannot be read: it does not exist (ENOENT). flyball import --help says how."
    ],
    [["import", "."], "flyball import: . is not a file. flyball import --help says how."]
  ])("%j is a usage error in one line, and makes nothing", async (args, sentence) => {
    const { err, out, status } = await me.flyball(args)
    assert.deepEqual([status, out, err.split("\n").length, readdirSync(me.folder)], [2, "", 2, []], err)
    assert.include(err, sentence)
  })
})
