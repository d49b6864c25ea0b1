/**
 * `flyball vkey`: the key that an auditor pins. Touches only the data folder, and the store where that holds no key.
 */
import { resolve } from "node:path"
import { Chain } from "@flyball/core"
import { dataFolderVkey } from "@flyball/node"
import { hasSigningKey, makeDataFolder, SIGNING_KEY, tellingOfNew } from "../host/data-folder.ts"
import { chainIn } from "../host/keyless.ts"
import { type HostRuntime, storageOf } from "../host/open-host.ts"
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

/**
 * Prints only the vkey. Without a signing key it is the one that the store's records name; where there is no chain
 * either, a data folder is made.
 */
export const run = command("vkey", async (args) => {
  const {
    values: { chain }
  } = readArguments(args, { chain: { type: "string" } })
  if (chain !== undefined) return withHost({ readOnly: true, chain }, printRetired)
  const { settings } = settingsOfProcess()
  if (settings.database.kind === "memory")
    throw new Error("with sqlite::memory: the key lives in the server's memory; ask GET /api/v1/chain/keys")
  const stored = hasSigningKey(settings) ? null : await chainIn(settings, storageOf(settings, true))
  if (stored !== null) {
    console.error(
      `flyball: there is no ${SIGNING_KEY} in ${resolve(settings.dataDir)}; this is the last key that the store's ` +
        `records name.`
    )
    console.log(stored.vkey)
    return exitStatus.ok
  }
  makeDataFolder(settings)
  console.log(
    await tellingOfNew(settings, SIGNING_KEY, () =>
      dataFolderVkey({ dir: settings.dataDir, ...(settings.origin === null ? {} : { origin: settings.origin }) })
    )
  )
  return exitStatus.ok
})
