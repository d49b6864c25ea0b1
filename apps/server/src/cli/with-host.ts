/** Opens the governor for one command, and closes it whatever happens. */
import { type HostRuntime, openHost } from "../host/open-host.ts"
import { settingsOfProcess } from "./environment.ts"

/** Runs `body` with an opened governor. */
export const withHost = async (options: { readonly readOnly: boolean }, body: (runtime: HostRuntime) => Promise<number>): Promise<number> => {
  const runtime = await openHost(settingsOfProcess().settings, options)
  try {
    return await body(runtime)
  } finally {
    await runtime.dispose()
  }
}
