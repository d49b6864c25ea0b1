/** Twenty rules over six texts: as an envelope, as hand-written JavaScript, and inputs for both. */
import { lint } from "../packages/envelope/src/analysis/lint/lint.ts"
import { compile } from "../packages/envelope/src/compile/compile.ts"
import { decide, prepare, type Ready, type Situation } from "../packages/envelope/src/decide/decide.ts"
import { readEnvelope } from "../packages/envelope/src/language/read-envelope.ts"
import { absolute, alternate, figure, type Line, median, quantile, timed } from "./harness.ts"

const PER_ROUND = 100_000
const ROUNDS = 9
const SINGLE_CALLS = 100_000
const INPUTS = 4_096

const path = (base?: string) => ({
  type: "text",
  source: "caller",
  form: "path@1",
  ...(base === undefined ? {} : { base })
})
const domain = { type: "text", source: "caller", form: "domain@1" }
const plain = { type: "text", source: "caller" }
const tools = ["read", "write", "mail", "fetch"]
const tool = (name: string) => ({ signal: "tool", eq: name })
const rule = (id: string, outcome: string, ...when: ReadonlyArray<object>) => ({ id, outcome, when })

const json = {
  semantics: "envelope/1",
  signals: {
    tool: { type: "enum", values: tools, source: "caller" },
    file: path("/srv"),
    log: path(),
    to: domain,
    host: domain,
    link: { type: "text", source: "caller", form: "scheme@1" },
    subject: plain
  },
  effects: { read: "read", write: "write_reversible", mail: "external_message", fetch: "read" },
  rules: [
    rule("read", "allow", tool("read"), { signal: "file", under: "/srv" }),
    rule("read_secret", "deny", tool("read"), { signal: "file", under: "/srv/secret" }),
    rule("read_keys", "halt", tool("read"), { signal: "file", suffix: ".pem" }),
    rule("read_env", "require_review", tool("read"), { signal: "file", suffix: "/.env" }),
    rule("write", "allow", tool("write"), { signal: "file", under: "/srv/reports" }),
    rule("write_tables", "allow_with_notice", tool("write"), { signal: "file", suffix: ".csv" }),
    rule("write_index", "deny", tool("write"), { signal: "file", eq: "/srv/reports/index.html" }),
    rule("write_log", "require_review", tool("write"), { not: { signal: "log", under: "/var/log" } }),
    rule("unread_file", "deny", { signal: "file", readable: false }),
    rule("unread_log", "deny", { signal: "log", readable: false }),
    rule("mail", "allow", tool("mail"), { signal: "to", under: "example.com" }),
    rule("mail_test", "allow_with_notice", tool("mail"), { signal: "to", in: ["a.test", "b.test", "c.test"] }),
    rule("mail_board", "require_review", tool("mail"), { signal: "to", eq: "board.example.com" }),
    rule("mail_urgent", "require_review", tool("mail"), { signal: "subject", prefix: "urgent" }),
    rule("mail_long", "deny", tool("mail"), { signal: "subject", length: [200, 4096] }),
    rule("unread_to", "deny", { signal: "to", readable: false }),
    rule("fetch", "allow", tool("fetch"), { signal: "host", under: "example.org" }, { signal: "link", eq: "https" }),
    rule("fetch_api", "require_review", tool("fetch"), { signal: "host", in: ["api.example.org", "127.0.0.1"] }),
    rule("fetch_plain", "deny", tool("fetch"), { signal: "link", in: ["http", "ftp"] }),
    rule("no_script", "halt", { signal: "link", in: ["javascript", "data", "vbscript"] })
  ],
  default: { outcome: "deny" }
}

const texts = {
  tool: tools,
  file: [
    "/srv/reports/q3.csv",
    "reports/a.txt",
    "/srv/secret/a",
    "/srv/reports/index.html",
    "/srv/a/.env",
    "/etc/x",
    "%"
  ],
  log: ["/var/log/app.log", "/var/log", "/tmp/log", "/srv/log/a.log", "~/log"],
  to: ["anna@example.com", "board.example.com", "x@a.test", "b@evil.test", "https://example.com/a", "Anna <a@b.c>"],
  host: [
    "https://example.org/a/b",
    "https://api.example.org",
    "http://127.0.0.1:80/",
    "https://evil.test/?example.org"
  ],
  link: ["https://example.org/a", "http://example.org", "javascript:alert(1)", "ftp://x/y", "none"],
  subject: ["urgent: read this", "Re: your question of last week", "x".repeat(250), "hello", ""]
}
type Input = { readonly [Name in keyof typeof texts]: string }

const inputsOf = (count: number): ReadonlyArray<Input> => {
  let state = 20_261_128
  const pick = (from: ReadonlyArray<string>): string => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return from[Math.floor((state / 2 ** 32) * from.length)]!
  }
  return Array.from(
    { length: count },
    () => Object.fromEntries(Object.entries(texts).map(([name, from]) => [name, pick(from)])) as Input
  )
}

const PATH = /^\/?[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9._-]+)*$/
const HOST = /^(?:https?:\/\/|ftp:\/\/|[A-Za-z0-9._-]+@)?([a-z0-9.-]+)(?::[0-9]+)?(?:[/?#].*)?$/
const SCHEME = /^([a-z]{2,32}):./
const pathOf = (text: string, base: string): string | null =>
  PATH.test(text) ? (text.startsWith("/") ? text : `${base}/${text}`) : null
const isUnder = (text: string | null, root: string): boolean =>
  text !== null && (text === root || text.startsWith(`${root}/`))
const isBelow = (host: string | null, root: string): boolean =>
  host !== null && (host === root || host.endsWith(`.${root}`))

const severities = { allow: 0, allow_with_notice: 1, require_review: 2, deny: 3, halt: 4 } as const
type Outcome = keyof typeof severities

/** The same rules and checks by hand: the rule that decides. */
const handWritten = (input: Input): string => {
  let [best, decided] = [-1, "@default"]
  const say = (outcome: Outcome, id: string): void => {
    if (severities[outcome] > best) [best, decided] = [severities[outcome], id]
  }
  const { subject, tool } = input
  if (!tools.includes(tool) || subject.length > 4096) return "@invalid_signal"
  const file = pathOf(input.file, "/srv")
  const log = pathOf(input.log, "")
  const to = HOST.exec(input.to)?.[1] ?? null
  const host = HOST.exec(input.host)?.[1] ?? null
  const link = SCHEME.exec(input.link)?.[1] ?? null
  if (tool === "read") {
    if (isUnder(file, "/srv")) say("allow", "read")
    if (isUnder(file, "/srv/secret")) say("deny", "read_secret")
    if (file?.endsWith(".pem")) say("halt", "read_keys")
    if (file?.endsWith("/.env")) say("require_review", "read_env")
  }
  if (tool === "write") {
    if (isUnder(file, "/srv/reports")) say("allow", "write")
    if (file?.endsWith(".csv")) say("allow_with_notice", "write_tables")
    if (file === "/srv/reports/index.html") say("deny", "write_index")
    if (!isUnder(log, "/var/log")) say("require_review", "write_log")
  }
  if (file === null) say("deny", "unread_file")
  if (log === null) say("deny", "unread_log")
  if (tool === "mail") {
    if (isBelow(to, "example.com")) say("allow", "mail")
    if (to === "a.test" || to === "b.test" || to === "c.test") say("allow_with_notice", "mail_test")
    if (to === "board.example.com") say("require_review", "mail_board")
    if (subject.startsWith("urgent")) say("require_review", "mail_urgent")
    if (subject.length >= 200) say("deny", "mail_long")
  }
  if (to === null) say("deny", "unread_to")
  if (tool === "fetch") {
    if (isBelow(host, "example.org") && link === "https") say("allow", "fetch")
    if (host === "api.example.org" || host === "127.0.0.1") say("require_review", "fetch_api")
    if (link === "http" || link === "ftp") say("deny", "fetch_plain")
  }
  if (link === "javascript" || link === "data" || link === "vbscript") say("halt", "no_script")
  return decided
}

const latches: ReadonlySet<string> = new Set()
const situation: Situation = {
  kill: "none",
  agent: { id: "agt_1", orgUnit: "fin", isActive: true },
  server: {},
  latches,
  windows: () => ({ value: 0, count: 0 }),
  approved: false
}
const ruleOf = (ready: Ready, signals: unknown): string =>
  decide(ready, { signals, runId: null }, situation).matchedRule

const readyOf = (of: unknown) => {
  const { envelope, findings } = readEnvelope(of)
  if (envelope === null) throw new Error(JSON.stringify(findings))
  const combination = compile([envelope]).combination!
  return { combination, envelope, ready: prepare(combination) }
}

/** Evaluation and lint of rules on texts, and one evaluation of as many texts as an action can have. */
export const textLines = async (): Promise<ReadonlyArray<Line>> => {
  const { combination, envelope, ready } = readyOf(json)
  const inputs = inputsOf(INPUTS)
  for (const input of inputs)
    if (ruleOf(ready, input) !== handWritten(input))
      throw new Error(`${ruleOf(ready, input)} is not ${handWritten(input)}: ${JSON.stringify(input)}`)
  let sum = 0
  const at = (i: number): Input => inputs[i & (INPUTS - 1)]!
  const { limitMs, ratio, subjectMs } = await alternate(
    ROUNDS,
    () => {
      for (let i = 0; i < PER_ROUND; i++) sum += handWritten(at(i)).length
    },
    () => {
      for (let i = 0; i < PER_ROUND; i++) sum += ruleOf(ready, at(i)).length
    }
  )
  const timeOf = (of: (i: number) => unknown, calls: number, share: number): number =>
    figure(
      quantile(
        Array.from({ length: calls }, (_, i) => {
          const startedAt = performance.now()
          of(i)
          return (performance.now() - startedAt) * 1_000
        }),
        share
      )
    )
  const p99 = timeOf((i) => (sum += ruleOf(ready, at(i)).length), SINGLE_CALLS, 0.99)
  const lints: Array<number> = []
  for (let i = 0; i < 100; i++) lints.push(await timed(() => lint(combination.compiled, { envelope })))
  const lintMs = figure(median(lints.slice(50)))
  const names = Array.from({ length: 20 }, (_, i) => `t${i}`)
  const wide = readyOf({
    ...json,
    signals: Object.fromEntries(names.map((name) => [name, path()])),
    effects: { "*": "read" },
    rules: names.map((name) => rule(name, "allow", { signal: name, under: "/srv" }, { signal: name, suffix: ".csv" }))
  })
  const long = Object.fromEntries(names.map((name) => [name, `/srv${"/.a b".repeat(40)}`]))
  const longUs = timeOf(() => (sum += ruleOf(wide.ready, long).length), 10_000, 0.5)
  if (sum === 0) throw new Error("Nothing was evaluated.")
  const slower = figure(1 / ratio)
  const line = (name: string, value: number, unit: string, most: number): Line => ({
    name,
    value,
    unit,
    ...absolute,
    goal: `under ${most} ${unit}`,
    met: value < most
  })
  return [
    {
      name: "evaluation, 20 rules over 6 texts, forms read",
      value: figure((subjectMs * 1e6) / PER_ROUND),
      unit: "ns",
      limit: figure((limitMs * 1e6) / PER_ROUND),
      ratio: slower,
      goal: "at most 20 times hand-written",
      met: slower <= 20
    },
    line("one evaluation over 6 texts, p99", p99, "us", 10),
    line("lint of 20 rules over 6 texts", lintMs, "ms", 5),
    line("one evaluation of 20 paths with 4,080 characters, none simple", longUs, "us", 100)
  ]
}
