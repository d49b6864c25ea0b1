/** The command line of `flyball-verify`, read. */
import { parseArgs } from "node:util"
import { parseDuration } from "./duration.ts"
import { parseSpan, type UsageSpan } from "./usage/usage-span.ts"

/** The parsed command line. */
export interface Command {
  readonly pack: string
  readonly vkeys: ReadonlyArray<string>
  readonly policy: string | null
  readonly trustedCheckpoint: string | null
  readonly compare: string | null
  readonly require: "full" | "range" | "any"
  readonly maxAgeMs: number | null
  /** Compare every record with the catalogue of kinds. */
  readonly bodies: boolean
  /** The activation `kil_…` whose stop certificate is recomputed; null where none was requested. */
  readonly certificate: string | null
  readonly replay: boolean
  /** A file with an answer about an agent's behaviour, which is recomputed; null where none was given. */
  readonly answer: string | null
  /** The window whose usage is counted again; null where none was requested. */
  readonly usage: UsageSpan | null
  /** Packs of chains before this one, in any order. */
  readonly previous: ReadonlyArray<string>
  /** Summarise who did what, from the records and disclosed parts. */
  readonly summary: boolean
  /** A new file for the report as a page. */
  readonly html: string | null
  /** A new file for the table of all records. */
  readonly csv: string | null
  readonly json: boolean
  readonly quiet: boolean
}

/** The command was called wrongly: exit status 4, and a sentence that says what to change. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}

/** Reads the arguments. Fails: throws `UsageError`. */
export const readArguments = (args: ReadonlyArray<string>): Command => {
  const { positionals, tokens, values } = parse(args)
  const named = tokens.flatMap((token) =>
    token.kind === "option" && token.name !== "vkey" && token.name !== "previous" ? [token.name] : []
  )
  const twice = named.find((name, i) => named.indexOf(name) !== i)
  // The last one would silently win, and the user would believe that both were checked.
  if (twice !== undefined)
    throw new UsageError(`--${twice} is given twice; only --vkey and --previous may be repeated.`)
  const [pack, ...more] = positionals
  if (pack === undefined) throw new UsageError("Name the pack to verify: flyball-verify PACK --vkey V. See --help.")
  if (more.length > 0)
    throw new UsageError("One pack is verified at a time; --compare PACK2 names a second one to compare it with.")
  const {
    answer = null,
    bodies = false,
    certificate = null,
    compare = null,
    csv = null,
    html = null,
    json = false,
    policy = null,
    previous = [],
    quiet = false,
    replay = false,
    require = "any",
    summary = false,
    usage: window,
    vkey = []
  } = values
  if (require !== "full" && require !== "range" && require !== "any")
    throw new UsageError("--require takes full, range or any.")
  if (certificate !== null && !/^kil_[0-9a-z]{26}$/.test(certificate))
    throw new UsageError("--certificate takes the id of an activation: kil_ and 26 characters.")
  const usage = window === undefined ? null : parseSpan(window)
  if (window !== undefined && usage === null)
    throw new UsageError("--usage takes FROM/TO, two times in UTC, as 2026-11-01T00:00:00Z/2026-12-01T00:00:00Z.")
  if (previous.length > 0 && !replay)
    throw new UsageError("--previous needs --replay: it gives the records of the earlier chain to recompute from.")
  const maxAge = values["max-age"]
  const maxAgeMs = maxAge === undefined ? null : parseDuration(maxAge)
  if (maxAge !== undefined && maxAgeMs === null)
    throw new UsageError("--max-age takes a number and a unit: 90s, 15m, 24h, 7d.")
  const { threads } = values
  // Accepted for scripts that were written for an earlier verifier. It has no effect.
  if (threads !== undefined && !(/^[0-9]+$/.test(threads) && Number(threads) >= 1 && Number(threads) <= MAX_THREADS)) {
    throw new UsageError(`--threads takes a number from 1 to ${MAX_THREADS}.`)
  }
  return {
    pack,
    vkeys: vkey,
    policy,
    trustedCheckpoint: values["trusted-checkpoint"] ?? null,
    compare,
    require,
    maxAgeMs,
    answer,
    bodies,
    certificate,
    usage,
    replay,
    previous,
    summary,
    html,
    csv,
    json,
    quiet
  }
}

const MAX_THREADS = 64

const parse = (args: ReadonlyArray<string>) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      strict: true,
      tokens: true,
      options: {
        answer: { type: "string" },
        bodies: { type: "boolean" },
        certificate: { type: "string" },
        compare: { type: "string" },
        csv: { type: "string" },
        html: { type: "string" },
        json: { type: "boolean" },
        "max-age": { type: "string" },
        policy: { type: "string" },
        previous: { type: "string", multiple: true },
        quiet: { type: "boolean" },
        replay: { type: "boolean" },
        require: { type: "string" },
        summary: { type: "boolean" },
        usage: { type: "string" },
        threads: { type: "string" },
        "trusted-checkpoint": { type: "string" },
        vkey: { type: "string", multiple: true }
      }
    })
  } catch (cause) {
    // Node says it in several lines, which a sentence cannot have, and advises on positional arguments.
    const said = (cause as Error).message.replace(/\n(?:.*\n)?/, " ").replace(/\. To specify a positional.*$|\.$/, "")
    throw new UsageError(`${said}. See --help.`)
  }
}
