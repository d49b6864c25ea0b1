/** Opens the governor for one command, and closes it whatever happens. */
import type { Log } from "../host/log.ts"
import { type HostRuntime, openHost } from "../host/open-host.ts"
import type { Settings } from "../settings/read.ts"
import { settingsOfProcess } from "./environment.ts"

/** Runs `body` with an opened governor. `settings`: those of the process, where the command has read them already. */
export const withHost = async (
  options: {
    readonly readOnly: boolean
    readonly chain?: string
    readonly small?: boolean
    readonly keyless?: boolean
    readonly settings?: Settings
  },
  body: (runtime: HostRuntime) => Promise<number>
): Promise<number> => {
  const { settings = settingsOfProcess().settings } = options
  if (settings.database.kind === "memory") throw new Error(memoryRefused(options.readOnly))
  const runtime = await openHost(settings, { ...options, log: onStandardError(settings) })
  try {
    return await body(runtime)
  } finally {
    await runtime.dispose()
  }
}

const memoryRefused = (readOnly: boolean): string =>
  readOnly
    ? "sqlite::memory: lives inside the server's process, so there is nothing to read from here. Ask the " +
      "server over HTTP"
    : "with sqlite::memory: nothing would be left when this command ends. Set FLYBALL_DATABASE_URL to a file " +
      "or to Postgres"

/** Warnings and errors of the library as lines for a person; a command has nothing else to log. */
const onStandardError =
  ({ logLevel }: Settings): Log =>
  (level, message) => {
    if (level !== "info" && logLevel !== "silent") console.error(`flyball: ${message}`)
  }
