/** `flyball recover`: puts a store that is behind its signing guard aside, and continues under another name. */
import {
  isOrigin,
  isRecoveryReason,
  MAX_REASON,
  recoverGovernor,
  recoveryNeeded,
  type RecoveryNeed
} from "@flyball/core"
import { requireDataFolder } from "../host/data-folder.ts"
import { folderKeys } from "../host/guard.ts"
import { asStartError, storageOf } from "../host/open-host.ts"
import { prepareStoreFile } from "../host/store-file.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, counted, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"

/** Says what was given up, and what the chain is called and checked with from here on. */
export const run = command("recover", async (args) => {
  const { values } = readArguments(args, {
    "accept-rollback": { type: "boolean" },
    "guard-forgotten": { type: "boolean" },
    reason: { type: "string" },
    origin: { type: "string" }
  })
  const { origin, reason } = values
  if (origin !== undefined && (!isOrigin(origin) || origin.includes("://")))
    throw new UsageError(
      '--origin should be 1 to 255 printable ASCII characters without a space, "+" or a scheme, such as ' +
        "flyball.example/acme/prod"
    )
  if (reason !== undefined && !isRecoveryReason(reason))
    throw new UsageError(`--reason should be 1 to ${MAX_REASON} characters, one of them visible`)
  const { settings } = settingsOfProcess()
  if (settings.database.kind === "memory")
    throw new Error("with sqlite::memory: each start is a new chain, and there is nothing to recover")
  requireDataFolder(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, true)
  // Without FLYBALL_ORIGIN, which names the old chain: the folder itself says what its keys are for.
  const site = {
    storage: storageOf(settings, false),
    keys: folderKeys(settings),
    guardForgotten: values["guard-forgotten"] === true
  }
  const inWords = (cause: unknown): never => {
    throw asStartError(settings, cause)
  }
  const need = await recoveryNeeded(site).catch(inWords)
  if (values["accept-rollback"] !== true || reason === undefined)
    throw new UsageError(
      `${given(need)}. ${need.covered < need.stored ? `${uncovered(need)} ` : ""}` +
        missing(values["accept-rollback"] === true, reason)
    )
  const {
    origin: now,
    previous,
    vkey
  } = await recoverGovernor({ ...site, reason, ...(origin === undefined ? {} : { origin }) }).catch(inWords)
  console.log(
    `Recovered: ${given({ ...need, signed: previous.signed, stored: previous.stored })}. The old chain is retired, ` +
      `read-only; flyball export --chain ${previous.origin} exports it.`
  )
  if (previous.covered < previous.stored) console.log(uncovered(previous))
  console.log(
    "Meters continue from the old chain's records, which stay beside the store: leave them there. Amounts in lost " +
      "records are not counted; withdraw an envelope, or suspend an agent, where that matters. All other changes in " +
      "lost records are undone, so repeat them: revoked keys are valid again, agents and envelopes have their former " +
      "state, and erased parts are back."
  )
  console.log(
    "Pending webhook deliveries are not sent, and sequences continue after the next multiple of 1,000,000,000,000."
  )
  console.log(`The chain continues as ${now}. Give its verification key to those who verify its packs:\n${vkey}`)
  if (settings.origin !== null && settings.origin !== now)
    console.error(
      `flyball: FLYBALL_ORIGIN is ${settings.origin}. Set it to ${now}, or leave it out, before the server starts.`
    )
  return exitStatus.ok
})

/** Describes the data that a recovery gives up, as a clause. */
const given = ({ begun, guarded, origin, signed, stored }: RecoveryNeed): string => {
  const held = `the store holds ${stored}`
  if (guarded !== null)
    return (
      `the guard knows of ${counted(guarded, "signed record")} of ${origin} and may have forgotten later ` +
      `ones, and ${held}`
    )
  if (signed === null) return `the guard is lost, so the number of signed records of ${origin} is unknown, and ${held}`
  const lost =
    stored < signed
      ? `so ${counted(signed - stored, "record")} ${signed - stored === 1 ? "is" : "are"} lost, of which others may ` +
        `have evidence`
      : "but not the records that were signed"
  return (
    `${counted(signed, "record")} of ${origin} were signed, and ${held}, ` +
    `${lost}${begun === null ? "" : ` (a recovery to ${begun} was stopped halfway)`}`
  )
}

/** Describes the records that packs of the retired chain will lack. */
const uncovered = ({ covered, stored }: { readonly covered: number; readonly stored: number }): string =>
  `No checkpoint covers the last ${stored - covered} of those ${stored}: they are kept beside the store, flyball ` +
  `check reads them and meters count them, but no pack of the old chain can have them.`

const missing = (accepted: boolean, reason: string | undefined): string => {
  const flags = [...(accepted ? [] : ["--accept-rollback"]), ...(reason === undefined ? ["--reason TEXT"] : [])].join(
    " and "
  )
  return `If no newer copy of the store is left, give ${flags} to continue without them under another name`
}
