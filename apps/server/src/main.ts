/** The `flyball` command. `--version` and `--help` are answered before anything heavy is imported. */
import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"
import type { Command } from "./cli/command.ts"
import { helpText } from "./cli/help.ts"
import { keepHeapSmall } from "./cli/small-heap.ts"
import { nearest } from "./nearest.ts"
import { version } from "./version.ts"

/** Commands by name, each imported only when it runs. */
const commands: { readonly [name: string]: () => Promise<{ readonly run: Command }> } = {
  // The compiler must be there before the first schema is made, also where modules were joined and begin in another
  // order.
  serve: () => import("effect/schema/SchemaJITCompiler/enable").then(() => import("./cli/serve.ts")),
  token: () => import("./cli/token.ts"),
  login: () => import("./cli/login.ts"),
  vkey: () => import("./cli/vkey.ts"),
  "rotate-key": () => import("./cli/rotate-key.ts"),
  check: () => import("./cli/check.ts"),
  import: () => import("./cli/import.ts"),
  export: () => import("./cli/export.ts"),
  backup: () => import("./cli/backup.ts"),
  restore: () => import("./cli/restore.ts"),
  migrate: () => import("./cli/migrate.ts"),
  recover: () => import("./cli/recover.ts"),
  halt: () => import("./cli/halt.ts"),
  release: () => import("./cli/release.ts"),
  certificate: () => import("./cli/certificate.ts"),
  "kill-status": () => import("./cli/kill-status.ts"),
  why: () => import("./cli/why.ts"),
  reviews: () => import("./cli/reviews.ts"),
  mapping: () => import("./cli/mapping.ts"),
  "platform-key": () => import("./cli/platform-key.ts"),
  "gateway-secret": () => import("./cli/gateway-secret.ts"),
  envelope: () => import("./cli/envelope.ts"),
  card: () => import("./cli/card.ts"),
  config: () => import("./cli/config.ts")
}

/** Commands that go through a chain of any length and should not grow with it. */
const wholeChain: ReadonlySet<string> = new Set(["check", "import", "export"])

const main = async (name: string | undefined, args: ReadonlyArray<string>): Promise<number> => {
  if (name === undefined) {
    console.error(helpText(undefined))
    return 2
  }
  if (name === "--version" || name === "-v") {
    console.log(version)
    return 0
  }
  const help = name === "--help" || name === "-h" || name === "help"
  const wanted = help ? args[0] : name
  if (wanted !== undefined && !Object.hasOwn(commands, wanted)) {
    const meant = nearest(wanted, Object.keys(commands))
    console.error(
      "flyball: there is no command " +
        `${JSON.stringify(wanted.slice(0, 40))}.${meant === null ? "" : ` Did you mean ${meant}?`} flyball ` +
        "--help lists them."
    )
    return 2
  }
  if (wanted === undefined || help || args.includes("--help") || args.includes("-h")) {
    console.log(helpText(wanted))
    return 0
  }
  if (wholeChain.has(wanted)) keepHeapSmall()
  // Beside the program, never in a shared temporary folder: what is loaded from there is run.
  enableCompileCache(
    fileURLToPath(
      new URL(import.meta.url.endsWith(".ts") ? "../../../node_modules/.cache/flyball" : ".cache", import.meta.url)
    )
  )
  const { run } = await commands[wanted]!()
  return run(args)
}

// What is made here (store, keys, packs) holds what people said and what opens the chain: nobody else on the host is to
// read it.
process.umask(0o077)
// A reader that stopped reading (`| head`) does not change what was done, and a closed log must not stop the server.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)

const [name, ...args] = process.argv.slice(2)
process.exitCode = await main(name, args)
