/** `flyball rotate-key`: another signing key from here on, said by the chain and signed by both. */
import { existsSync, readdirSync } from "node:fs"
import { KeyRotation, type Rotated } from "@flyball/core"
import { requireDataFolder, SIGNING_KEY } from "../host/data-folder.ts"
import { prepareStoreFile } from "../host/store-file.ts"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { withHost } from "./with-host.ts"

/**
 * Prints both keys, the checkpoint that both signed, and what to tell auditors. A rotation that was cut short is
 * finished, and none begun.
 */
export const run = command("rotate-key", async (args) => {
  readArguments(args, {})
  const { settings } = settingsOfProcess()
  // In another folder it would begin a chain there, rotate that, and say that the key was rotated.
  if (settings.database.kind !== "memory") requireDataFolder(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, true)
  const waited = aKeyWaits(settings.dataDir)
  return withHost({ readOnly: false }, async (runtime) => {
    // Opening does the last step of a rotation that was cut short: the key that waited is then the current one.
    const finished =
      waited && !aKeyWaits(settings.dataDir) ? await runtime.runPromise(KeyRotation.use(({ last }) => last)) : null
    console.log(reported(finished ?? (await runtime.runPromise(KeyRotation.use(({ rotate }) => rotate)))))
    if (finished !== null)
      console.error("flyball: an earlier rotation was interrupted. It is finished now; no other was started.")
    return exitStatus.ok
  })
})

const aKeyWaits = (dir: string): boolean =>
  existsSync(dir) && readdirSync(dir).some((name) => name.startsWith(`${SIGNING_KEY}.next-`))

const reported = ({
  checkpoint,
  fromVkey,
  seq,
  toVkey
}: Rotated): string => `The signing key was rotated in record ${seq}.

old key: ${fromVkey}
new key: ${toVkey}

The checkpoint of ${checkpoint.size} records carries both signatures:

${checkpoint.note}
Send this text to everyone who pinned the old key, over the channel that gave them that key, not only in a pack.
They check the checkpoint with the old key and with the new one, and pin the new one: from now on the new key
alone signs checkpoints and packs. A pack shows both at once:
flyball-verify PACK --vkey OLD --vkey NEW. The old private key is destroyed; copies in backups are not.
Back up the data folder now: a copy from before the rotation cannot continue the chain.`
