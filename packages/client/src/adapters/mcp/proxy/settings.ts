/** Reads the command line and the environment of `flyball-mcp-proxy`. Pure. */
import { MAX_HOLD_MS } from "../../holds.ts"

/** The governed tool server: a child process on its streams, or a server at an address. */
export type Target =
  | { readonly kind: "stdio"; readonly command: string; readonly args: ReadonlyArray<string> }
  | { readonly kind: "http"; readonly upstream: string; readonly host: string; readonly port: number }

/** Settings of a proxy. Units: milliseconds. */
export interface Settings {
  readonly url: string
  readonly key: string
  readonly spoolFolder: string | null
  readonly agent: string
  readonly toolServer: string
  readonly holdMs: number | undefined
  readonly readOnly: ReadonlyArray<string>
  readonly redact: ReadonlyArray<string>
  /** `strict`: a call that cannot be recorded first does not run. */
  readonly record: "spool" | "strict"
  /** Arguments that the envelope may read; null: every text, number and boolean that it declares. */
  readonly signals: ReadonlyArray<string> | null
  /** Methods beside those of MCP that pass. */
  readonly pass: ReadonlyArray<string>
  readonly target: Target
}

/** Usage text of the command. */
export const usage = `usage: flyball-mcp-proxy --agent NAME [options] -- COMMAND [ARGUMENTS]
       flyball-mcp-proxy --agent NAME --upstream URL [--listen HOST:PORT] [options]

Governs the tool calls of an MCP server: its command on stdio, or its address over Streamable HTTP.

  --agent NAME          the agent's name; it is registered where it is new
  --server NAME         the tool server's name in the record; default: the command, or the host of the address
  --hold SECONDS        how long a call waits for a person, 0 to 55; default 50
  --read-only A,B       tools that change nothing outside the agent
  --signals A,B         arguments that may be signals beside the tool's name; "": none; default: those that the
                        envelope in force declares
  --pass A,B            methods that pass beside those of MCP; others are refused
  --record HOW          spool (default): a call is recorded once it has ended; strict: before it begins, and again then
  --redact A,B          arguments and results whose values never leave this process
  --upstream URL        the server's MCP address
  --listen HOST:PORT    where the proxy listens; default 127.0.0.1:8808

Environment: FLYBALL_URL and FLYBALL_KEY (an ingest key) are needed. FLYBALL_SPOOL names a folder that keeps what
cannot be recorded yet; without it, memory does. The governed command gets no variable that begins with FLYBALL_.
`

/** The settings, or the sentence that says what is missing. `null`: help was wanted. */
export const readSettings = (
  argv: ReadonlyArray<string>,
  env: { readonly [name: string]: string | undefined }
): Settings | string | null => {
  const end = argv.indexOf("--")
  const own = end < 0 ? argv : argv.slice(0, end)
  const [command, ...args] = end < 0 ? [] : argv.slice(end + 1)
  const options = new Map<string, string>()
  for (let at = 0; at < own.length; at += 2) {
    const name = own[at]!
    if (name === "--help" || name === "-h") return null
    if (!optionNames.has(name)) return `unknown option ${name}`
    const value = own[at + 1]
    if (value === undefined || (value === "" && !lists.has(name))) return `${name} needs a value`
    if (options.has(name)) return `${name} is given twice`
    options.set(name, value)
  }
  const { FLYBALL_KEY: key = "", FLYBALL_SPOOL: spoolFolder = "", FLYBALL_URL: url = "" } = env
  if (!URL.canParse(url)) return "FLYBALL_URL must be the address of the Flyball server"
  if (key === "") return "FLYBALL_KEY must be an ingest key"
  const agent = options.get("--agent")
  if (agent === undefined) return "--agent is missing"
  const hold = options.get("--hold")
  const holdMs = hold === undefined ? undefined : Number(hold) * 1_000
  if (holdMs !== undefined && !(holdMs >= 0 && holdMs <= MAX_HOLD_MS)) return "--hold must be 0 to 55 seconds"
  const record = options.get("--record") ?? "spool"
  if (record !== "spool" && record !== "strict") return "--record must be spool or strict"
  const target = targetOf(options, command, args)
  if (typeof target === "string") return target
  const toolServer = options.get("--server") ?? (target.kind === "stdio" ? nameOf(target) : hostOf(target.upstream))
  return {
    url,
    key,
    spoolFolder: spoolFolder === "" ? null : spoolFolder,
    agent,
    toolServer,
    holdMs,
    readOnly: listOf(options.get("--read-only")),
    redact: listOf(options.get("--redact")),
    record,
    signals: options.has("--signals") ? listOf(options.get("--signals")) : null,
    pass: listOf(options.get("--pass")),
    target
  }
}

/** Options that name any number of things: none where their value is empty. */
const lists: ReadonlySet<string> = new Set(["--read-only", "--redact", "--signals", "--pass"])

const optionNames: ReadonlySet<string> = new Set([
  ...lists,
  "--agent",
  "--server",
  "--hold",
  "--record",
  "--upstream",
  "--listen"
])

const targetOf = (
  options: ReadonlyMap<string, string>,
  command: string | undefined,
  args: ReadonlyArray<string>
): Target | string => {
  const upstream = options.get("--upstream")
  const listen = options.get("--listen")
  if (upstream === undefined) {
    if (listen !== undefined) return "--listen needs --upstream"
    return command === undefined
      ? "no command follows --, and there is no --upstream"
      : { kind: "stdio", command, args }
  }
  if (command !== undefined) return "give a command or --upstream, not both"
  const isHttp = URL.canParse(upstream) && /^https?:$/.test(new URL(upstream).protocol)
  if (!isHttp) return "--upstream must be an http or https address"
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(listen ?? "127.0.0.1:8808") ?? []
  if (host === undefined || Number(port) > 65_535) return "--listen must be HOST:PORT"
  return { kind: "http", upstream, host: host.replace(/^\[|\]$/g, ""), port: Number(port) }
}

const listOf = (value: string | undefined): ReadonlyArray<string> =>
  (value ?? "")
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "")

/** The name of a command; that of what it runs, where it is a launcher. */
const nameOf = ({ args, command }: { readonly command: string; readonly args: ReadonlyArray<string> }): string => {
  const base = (path: string): string => path.split(/[/\\]/).at(-1)!
  const launched = args.find((one) => !one.startsWith("-"))
  return /^(node|npx|uvx|python3?|bunx?|deno)$/.test(base(command)) && launched !== undefined
    ? base(launched)
    : base(command)
}

const hostOf = (upstream: string): string => new URL(upstream).host
