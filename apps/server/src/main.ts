/** The `flyball` command. `--version` and `--help` are answered before anything heavy is imported. */
import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"
import { helpText, version } from "./cli/help.ts"

const [command, ...args] = process.argv.slice(2)

/** Commands by name, each imported only when it is asked for. */
const commands: { readonly [name: string]: () => Promise<{ readonly run: (args: ReadonlyArray<string>) => Promise<number> }> } = {
  serve: () => import("./cli/serve.ts"),
  token: () => import("./cli/token.ts"),
  vkey: () => import("./cli/vkey.ts"),
  check: () => import("./cli/check.ts"),
  import: () => import("./cli/import.ts"),
  export: () => import("./cli/export.ts"),
  config: () => import("./cli/config.ts")
}

if (command === "--version" || command === "-v") {
  console.log(version)
} else if (command === undefined || command === "--help" || command === "-h" || command === "help") {
  console.log(helpText(args[0]))
  if (command === undefined) process.exitCode = 2
} else if (!Object.hasOwn(commands, command)) {
  console.error(`flyball: there is no command ${JSON.stringify(command.slice(0, 40))}. flyball --help lists them.`)
  process.exitCode = 2
} else if (args.includes("--help") || args.includes("-h")) {
  console.log(helpText(command))
} else {
  enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/flyball", import.meta.url)))
  const { run } = await commands[command]!()
  process.exitCode = await run(args)
}
