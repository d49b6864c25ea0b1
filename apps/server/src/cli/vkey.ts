/** `flyball vkey`: the key that an auditor pins. Touches only the data folder. */
import { Chain } from "@flyball/core"
import { dataFolderVkey } from "@flyball/node"
import { makeDataFolder, SIGNING_KEY, tellingOfNew } from "../host/data-folder.ts"
import type { HostRuntime } from "../host/open-host.ts"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { withHost } from "./with-host.ts"

/** The key that signed the chain's last checkpoint. */
const printRetired = async (runtime: HostRuntime): Promise<number> => {
  const keys = await runtime.runPromise(Chain.use((chain) => chain.keys))
  console.log(keys.at(-1)!.vkey)
  return exitStatus.ok
}

/** Prints only the vkey. Makes the data folder when it is not there yet. */
export const run = command("vkey", async (args) => {
  const { values: { chain } } = readArguments(args, { chain: { type: "string" } })
  if (chain !== undefined) return withHost({ readOnly: true, chain }, printRetired)
  const { settings } = settingsOfProcess()
  if (settings.database.kind === "memory") throw new Error("with sqlite::memory: the key lives in the server's memory; ask GET /api/v1/chain/keys")
  makeDataFolder(settings)
  console.log(await tellingOfNew(settings, SIGNING_KEY, () => dataFolderVkey({ dir: settings.dataDir, ...(settings.origin === null ? {} : { origin: settings.origin }) })))
  return exitStatus.ok
})
