/** What `flyball --help` prints. Imports nothing, so that it answers at once. */

/** The version of the server and its commands. */
export const version = "0.1.0"

const usage: { readonly [command: string]: { readonly line: string; readonly text: string } } = {
  serve: { line: "flyball serve", text: "Starts the HTTP server. Settings come from the environment (flyball config shows them)." },
  token: { line: "flyball token --role R [--sub S] [--org-unit U]", text: "Prints a short-lived token of the loopback development issuer.\nR is admin, governor, operator, reviewer or auditor; S defaults to dev, U to * (all org units).\nTouches only the data folder." },
  vkey: { line: "flyball vkey", text: "Prints the chain's verification key, the one to pin when verifying packs.\nTouches only the data folder." },
  check: { line: "flyball check", text: "Recomputes the chain from stored bytes, replays the records and compares them with the stored documents.\nExit status 1 on a difference. Reads only; works beside a running server." },
  import: { line: "flyball import FILE.ndjson[.gz]… [--org-unit U]", text: "Witnesses agents' traces (one decision a line). Agents are registered by name in org unit U (default: imported).\nThe same file again adds nothing. On SQLite the server must be stopped." },
  export: {
    line: "flyball export --kind full|range|sparse [--from N] [--to N] [--agent ID] [--run ID] [--record-kind K]… [--disclose none|all|NAME…] --out FILE",
    text: "Writes an evidence pack up to the last signed checkpoint. FILE ends in .evp, .evp.gz or .evp.zst.\nReads only, records nothing; works beside a running server. Without --disclose no part is disclosed."
  },
  config: { line: "flyball config", text: "Prints the settings in force, where each comes from, secrets masked." }
}

/** The help of one command, or of all. */
export const helpText = (command: string | undefined): string => {
  const one = command === undefined || !Object.hasOwn(usage, command) ? undefined : usage[command]
  if (one !== undefined) return `${one.line}\n\n${one.text}`
  return ["flyball: the governor for autonomous software agents", "", ...Object.values(usage).map((row) => `  ${row.line}`), "", "  flyball --version", "  flyball COMMAND --help"].join("\n")
}
