/** `flyball serve --demo`: the service with something in it, for anybody to look at and for nobody to change. */
import { makeLog, requestLog } from "../host/log.ts"
import { openHost } from "../host/open-host.ts"
import { makeServer } from "../http/server.ts"
import type { KnownCaller } from "../http/caller.ts"
import { exitStatus } from "../cli/command.ts"
import { settingsOfProcess } from "../cli/environment.ts"
import { version } from "../cli/help.ts"
import { listenProblem, trustedBy, untilStopped } from "../cli/serve.ts"
import { stopSignal } from "../cli/stop-signal.ts"
import { fillDemo } from "./content.ts"

/** Everybody: reads all of it and writes none. Spec: document 1 section 5, the read-only persona. */
export const visitor: KnownCaller = { kind: "user", issuer: "flyball.local/demo", subject: "auditor", grants: [{ role: "auditor", orgUnit: "*" }], name: "Demo auditor", readOnly: true }

/** Serves from memory until it is stopped. Nobody can sign in, so it may be reached from anywhere; a store that is configured is not touched. */
export const serveDemo = async (): Promise<number> => {
  const settings = { ...settingsOfProcess().settings, database: { kind: "memory" } as const }
  const log = makeLog(settings.logLevel, (line) => process.stderr.write(line), () => new Date())
  const stop = stopSignal()
  const runtime = await openHost(settings, { readOnly: false, jobs: true, log })
  try {
    await fillDemo(runtime)
    const server = makeServer({ context: await runtime.context(), verifier: null, visitor, version, trustedProxy: trustedBy(settings), log: requestLog(log, () => performance.now()) })
    const { url } = await server.listen(settings).catch((cause: unknown) => Promise.reject(listenProblem(settings, cause)))
    if (settings.logLevel !== "silent") process.stderr.write("flyball: DEMO. Everybody who reaches this address reads all of it; nobody can write, and nothing is kept.\n")
    console.log(`flyball ${version} is ready at ${url}`)
    await untilStopped(server, stop, log, settings.drainMs)
    return exitStatus.ok
  } finally {
    await runtime.dispose()
  }
}
