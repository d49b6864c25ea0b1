/** `flyball serve`: the HTTP server until SIGTERM or SIGINT. */
import "effect/schema/SchemaJITCompiler/enable"
import { openDevIssuer } from "../dev-issuer.ts"
import { isLoopback } from "../host/loopback.ts"
import { makeLog, requestLog } from "../host/log.ts"
import { openHost } from "../host/open-host.ts"
import { makeServer } from "../http/server.ts"
import { command, readArguments } from "./arguments.ts"
import { settingsOfProcess } from "./environment.ts"
import { version } from "./help.ts"

const stopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      process.once(signal, () => {
        resolve(signal)
        // Asked twice, it goes at once; what was acknowledged is durable anyway.
        process.once(signal, () => process.exit(130))
      })
    }
  })

/** Prints one line with the address when ready; exit status 0 after a clean shutdown. */
export const run = command("serve", async (args) => {
  readArguments(args, {})
  const { settings } = settingsOfProcess()
  if (!isLoopback(settings.host)) {
    throw new Error(`FLYBALL_HOST is ${settings.host}, which others can reach, and no OIDC issuer is configured. Without one the server vouches for people itself, and does so on a loopback address only. Use 127.0.0.1`)
  }
  const log = makeLog(settings.logLevel, (line) => process.stderr.write(line), () => new Date())
  const stopped = stopSignal()
  const runtime = await openHost(settings)
  try {
    const server = makeServer({ context: await runtime.context(), verifier: await openDevIssuer(settings.dataDir), version, log: requestLog(log) })
    const { url } = await server.listen({ host: settings.host, port: settings.port })
    if (settings.logLevel !== "silent") process.stderr.write("flyball: DEVELOPMENT ISSUER. Whoever can read the data folder can make themselves admin (flyball token). For this host only.\n")
    console.log(`flyball ${version} is ready at ${url}`)
    log("info", "stopping", { signal: await stopped })
    server.drain()
    await server.close()
  } finally {
    await runtime.dispose()
  }
  return 0
})
