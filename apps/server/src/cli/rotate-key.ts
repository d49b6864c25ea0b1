/** `flyball rotate-key`: another signing key from here on, said by the chain and signed by both. */
import { existsSync, readdirSync } from "node:fs"
import { KeyRotation } from "@flyball/core"
import { actOverControl } from "../host/control/call-control.ts"
import { requireDataFolder, SIGNING_KEY } from "../host/data-folder.ts"
import { prepareStoreFile } from "../host/store-file.ts"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { rotateNow, rotationText } from "./host-acts/rotate-now.ts"
import { withHost } from "./with-host.ts"

/**
 * Has the running server rotate the key on SQLite, or does it. Prints both keys, the checkpoint that both signed, and
 * what to tell auditors. A rotation that was cut short is finished, and none begun.
 */
export const run = command("rotate-key", async (args) => {
  readArguments(args, {})
  const { settings } = settingsOfProcess()
  // In another folder it would begin a chain there, rotate that, and say that the key was rotated.
  if (settings.database.kind !== "memory") requireDataFolder(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, true)
  const waited = aKeyWaits(settings.dataDir)
  const byServer = await actOverControl(settings, { command: "rotate_key" })
  if (byServer !== null) {
    console.log(byServer)
    return exitStatus.ok
  }
  return withHost({ readOnly: false, settings }, async (runtime) => {
    // Opening does the last step of a rotation that was cut short: the key that waited is then the current one.
    const finished =
      waited && !aKeyWaits(settings.dataDir) ? await runtime.runPromise(KeyRotation.use(({ last }) => last)) : null
    console.log(finished === null ? await rotateNow(runtime) : rotationText(finished))
    if (finished !== null)
      console.error("flyball: an earlier rotation was interrupted. It is finished now; no other was started.")
    return exitStatus.ok
  })
})

const aKeyWaits = (dir: string): boolean =>
  existsSync(dir) && readdirSync(dir).some((name) => name.startsWith(`${SIGNING_KEY}.next-`))
