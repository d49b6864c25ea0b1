/**
 * Migrates retired stores at a start: a new version must be able to read them, because they hold contributions to
 * meters. Spec: decision 0010.
 */
import { existsSync, readdirSync, realpathSync } from "node:fs"
import { basename, dirname } from "node:path"
import { Cause, Effect, Exit } from "effect"
import type { Settings } from "../settings/read.ts"
import type { Log } from "./log.ts"

/** Brings them to this version's schema where they lack it. A start does not fail for them: what needs them says so. */
export const bringRetiredAlong = async ({ database }: Settings, log: Log): Promise<void> => {
  if (database.kind === "memory" || (database.kind === "sqlite" && !hasRetired(database.file))) return
  // Loaded here: nobody else who opens a store changes it as a whole.
  const { migrateRetired } = await import("@flyball/storage-sql/operations")
  const exit = await Effect.runPromiseExit(migrateRetired(database))
  if (Exit.isFailure(exit)) {
    const cause = Cause.squash(exit.cause)
    return log(
      "warn",
      (
        `The stores of retired chains could not be migrated to this version's schema. Run flyball migrate when no ` +
        `server runs. ${cause instanceof Error ? cause.message : ""}`
      ).trimEnd()
    )
  }
  for (const { location, steps } of exit.value)
    log(
      "info",
      `Brought ${location.kind === "sqlite" ? location.file : `the schema ${location.schema}`}, a retired chain, to ` +
        `schema ${steps.at(-1)!.id}.`
    )
}

const hasRetired = (file: string): boolean => {
  if (!existsSync(file)) return false
  const real = realpathSync(file)
  return readdirSync(dirname(real)).some((name) => name.startsWith(`${basename(real)}.retired-`))
}
