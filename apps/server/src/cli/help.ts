/** What `flyball --help` prints. Imports nothing, so that it answers at once. */

/** The version of the server and its commands. A test compares it with package.json. */
export const version = "0.1.0"

interface Usage {
  readonly line: string
  /** One line, for the list of commands. */
  readonly does: string
  readonly text: string
}

const usage: { readonly [command: string]: Usage } = {
  serve: {
    line: "flyball serve",
    does: "the HTTP server",
    text: "Starts the HTTP server and prints one line with its address when it is ready; the log goes to standard error.\nSettings come from the environment (flyball config shows them). SIGTERM or SIGINT stops it: it finishes what is under way and signs a last checkpoint."
  },
  token: {
    line: "flyball token --role R [--sub S] [--org-unit U]",
    does: "a short-lived token of the development issuer",
    text: "Prints a token of the loopback development issuer that is good for 15 minutes.\nR is admin, governor, operator, reviewer or auditor; S defaults to dev, U to * (all org units).\nTouches only the data folder."
  },
  vkey: {
    line: "flyball vkey",
    does: "the chain's verification key",
    text: "Prints the chain's verification key, the one to pin when verifying packs.\nTouches only the data folder, and makes it when it is not there."
  },
  check: {
    line: "flyball check",
    does: "recomputes the chain, replays the records, compares",
    text: "Recomputes the chain from stored bytes, replays the records and compares them with the stored documents.\nExit status 1 on a difference. Reads only; works beside a running server."
  },
  import: {
    line: "flyball import FILE.ndjson[.gz]… [--org-unit U]",
    does: "witnesses agents' traces",
    text: "Witnesses agents' traces, one decision a line. Agents are registered by name in org unit U (default: imported).\nThe same file again adds nothing. On SQLite the server must be stopped."
  },
  export: {
    line: "flyball export --kind full|range|sparse [FLAG…] --out FILE",
    does: "writes an evidence pack",
    text: `Writes an evidence pack up to the last signed checkpoint. FILE ends in .evp, .evp.gz or .evp.zst; one that is there is replaced once the new one is complete.
  --kind full       every record
  --kind range      the records --from N to --to N, both included
  --kind sparse     the records that match all of: --from N, --to N, --agent ID, --run ID, --record-kind K…, --since TIME, --until TIME (RFC 3339)
  --disclose WHAT   all, none (the default) or names of parts: --disclose args,result
Reads only, records nothing; works beside a running server.`
  },
  config: {
    line: "flyball config",
    does: "the settings in force",
    text: "Prints the settings in force and where each comes from, secrets masked."
  }
}

const footer = "Settings are FLYBALL_… variables of the environment; flyball config lists them.\nExit status: 0 done, 1 failed or a difference was found, 2 called wrongly."

/** The help of one command, or of all. */
export const helpText = (command: string | undefined): string => {
  const one = command === undefined || !Object.hasOwn(usage, command) ? undefined : usage[command]
  if (one !== undefined) return `${one.line}\n\n${one.text}`
  const rows = Object.values(usage).map(({ does, line }) => `  ${line.padEnd(58)}  ${does}`)
  return ["flyball: the governor for autonomous software agents", "", ...rows, "", "  flyball COMMAND --help", "  flyball --version", "", footer].join("\n")
}
