/** `flyball serve --demo`: a read-only service with sample data. */
import type { PersonCaller, TokenVerifier } from "@flyball/http/server"
import { devIssuer } from "../dev-issuer.ts"
import { makeLog, requestLog } from "../host/log.ts"
import { openHost } from "../host/open-host.ts"
import { makeServer } from "../http/server.ts"
import { exitStatus } from "../cli/command.ts"
import { settingsOfProcess } from "../cli/environment.ts"
import { version } from "../version.ts"
import { listenProblem, trustedBy, untilStopped } from "../cli/serve.ts"
import { stopSignal } from "../cli/stop-signal.ts"
import { fillDemo } from "./content.ts"

/** Everybody: reads all of it and writes none. Spec: document 1 section 5, the read-only persona. */
export const visitor: PersonCaller = {
  kind: "user",
  issuer: "flyball.local/demo",
  subject: "auditor",
  grants: [{ role: "auditor", orgUnit: "*" }],
  name: "Demo auditor",
  readOnly: true
}

/**
 * How long the demo's token lives.
 *
 * - Unit: seconds, a year: the token ends with the process, whose key signed it.
 */
const DEMO_TOKEN_SECONDS = 31_536_000

/**
 * Signs one token of the persona, and takes it: with it a caller is who a caller without a token is. Its key lives as
 * long as the process.
 */
export const demoIssuer = async (
  nowMs: number
): Promise<{ readonly verifier: TokenVerifier; readonly token: string }> => {
  const issuer = await devIssuer()
  return {
    verifier: {
      issuer: visitor.issuer,
      trustsCanonical: true,
      readOnly: true,
      verify: async (token, atMs) => {
        const claims = await issuer.verify(token, atMs)
        return typeof claims === "string" ? claims : { ...claims, name: visitor.name }
      }
    },
    token: await issuer.sign(
      { role: "auditor", subject: visitor.subject, orgUnit: "*", seconds: DEMO_TOKEN_SECONDS },
      nowMs
    )
  }
}

/**
 * Serves from memory until it is stopped. Nobody can write, so it may be reached from anywhere; a store that is
 * configured is not touched.
 */
export const serveDemo = async (): Promise<number> => {
  const settings = { ...settingsOfProcess().settings, database: { kind: "memory" } as const }
  const log = makeLog(
    settings.logLevel,
    (line) => process.stderr.write(line),
    () => new Date()
  )
  const stop = stopSignal()
  const runtime = await openHost(settings, { readOnly: false, jobs: true, log })
  try {
    await fillDemo(runtime)
    const { token, verifier } = await demoIssuer(Date.now())
    const server = makeServer({
      context: await runtime.context(),
      verifier,
      visitor,
      version,
      trustedProxy: trustedBy(settings),
      log: requestLog(log, () => performance.now())
    })
    const { url } = await server
      .listen(settings)
      .catch((cause: unknown) => Promise.reject(listenProblem(settings, cause)))
    if (settings.logLevel !== "silent")
      process.stderr.write(
        "flyball: DEMO. Anyone who reaches this address can read everything; nobody can write, and nothing is kept.\n"
      )
    console.log(
      `flyball ${version} is ready at ${url}\nbearer token of the persona auditor, which only reads: ${token}`
    )
    await untilStopped(server, stop, log, settings.drainMs)
    return exitStatus.ok
  } finally {
    await runtime.dispose()
  }
}
