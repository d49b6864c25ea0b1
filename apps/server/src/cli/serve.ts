/** `flyball serve`: the HTTP server until SIGTERM or SIGINT. */
import { Checkpointer } from "@flyball/core"
import { StorageCorrupt } from "@flyball/core/storage"
import { isLoopback } from "@flyball/http/host"
import type { TokenVerifier } from "@flyball/http/server"
import { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { controlPath, storeNamed } from "../host/control/protocol.ts"
import { type ControlSocket, serveControl } from "../host/control/serve-control.ts"
import { DEV_ISSUER_KEY, makeDataFolder, tellingOfNew } from "../host/data-folder.ts"
import { type Log, makeLog, requestLog } from "../host/log.ts"
import { inNetworks } from "../host/network.ts"
import { capabilitiesOf, type HostRuntime, openHost } from "../host/open-host.ts"
import { type FlyballServer, makeServer } from "../http/server.ts"
import type { Settings } from "../settings/read.ts"
import { readArguments } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { version } from "../version.ts"
import { doAct } from "./host-acts/do-act.ts"
import { type StopSignal, stopSignal } from "./stop-signal.ts"

/** Prints one line with the address when ready; exit status 0 after a clean shutdown with everything signed. */
export const run = command("serve", async (args) => {
  const {
    values: { demo }
  } = readArguments(args, { demo: { type: "boolean" } })
  if (demo === true) return (await import("../demo/serve-demo.ts")).serveDemo()
  const { settings } = settingsOfProcess()
  if (settings.oidcIssuer === null && !isLoopback(settings.host)) {
    throw new Error(
      `FLYBALL_HOST is ${settings.host}, which others can reach, and no OIDC issuer is configured. Without one the ` +
        `server issues tokens itself, on a loopback address only. Set FLYBALL_OIDC_ISSUER, ` +
        "or use 127.0.0.1"
    )
  }
  const log = makeLog(
    settings.logLevel,
    (line) => process.stderr.write(line),
    () => new Date()
  )
  const stop = stopSignal()
  const runtime = await openHost(settings, { readOnly: false, jobs: true, log })
  try {
    // Made already, but for a store in memory: the development issuer's key goes there.
    makeDataFolder(settings)
    const verifier = await issuerOf(settings, log)
    const { bootstrapAdmin } = settings
    const bootstrap =
      bootstrapAdmin === null ? null : ({ id: "bootstrap", ...bootstrapAdmin, role: "admin", orgUnit: "*" } as const)
    const server = makeServer({
      context: await runtime.context(),
      capabilities: capabilitiesOf(settings),
      planOfPeople: settings.platformPlan,
      verifier,
      bootstrap,
      version,
      metricsToken: settings.metricsToken,
      trustedProxy: trustedBy(settings),
      ...(settings.logLevel === "silent" ? {} : { log: requestLog(log, () => performance.now()) })
    })
    const { url } = await server
      .listen(settings)
      .catch((cause: unknown) => Promise.reject(listenProblem(settings, cause)))
    if (settings.oidcIssuer === null && settings.logLevel !== "silent")
      process.stderr.write(
        "flyball: DEVELOPMENT ISSUER. Anyone who can read the data folder can become admin (flyball " +
          "token). For this host only.\n"
      )
    const control = await controlOf(settings, runtime, log)
    console.log(`flyball ${version} is ready at ${url}`)
    void warnWithoutKeys(verifier, log)
    await untilStopped(server, stop, log, settings.drainMs)
    await control?.close()
    return await signLast(runtime, log)
  } finally {
    await runtime.dispose()
  }
})

/** The control socket; null where none is needed: commands write beside a server on Postgres. */
const controlOf = async (settings: Settings, runtime: HostRuntime, log: Log): Promise<ControlSocket | null> => {
  const store = storeNamed(settings)
  if (store === null || process.platform === "win32") return null
  const path = controlPath(settings)
  if (path !== null) return serveControl(path, store, (act) => doAct(runtime, act), log)
  log("warn", "no control socket: the path of the data folder is too long for a socket", { dataDir: settings.dataDir })
  return null
}

/**
 * Serves until a stop signal arrives, then finishes requests under way.
 *
 * After SIGTERM requests are taken for another `drainMs`, while /healthz sends the balancer elsewhere: a server that
 * closed at once would refuse what the balancer sends before its next probe. SIGINT comes from a person, who has no
 * balancer.
 */
export const untilStopped = async (
  server: Pick<FlyballServer, "drain" | "close">,
  { requested }: Pick<StopSignal, "requested">,
  log: Log,
  drainMs: number,
  wait: (ms: number) => Promise<unknown> = setTimeout
): Promise<void> => {
  const signal = await requested
  const drains = signal === "SIGTERM" ? drainMs : 0
  log("info", "stopping", { signal, drainMs: drains })
  server.drain()
  if (drains > 0) await wait(drains)
  await server.close()
}

/** Tells proxies from others. */
export const trustedBy = ({ trustedProxies }: Settings): ((address: string) => boolean) | null =>
  trustedProxies === null ? null : inNetworks(trustedProxies)

/** Opens the issuer that vouches for people: the organisation's, or on a loopback address the server itself. */
const issuerOf = async (settings: Settings, log: Log): Promise<TokenVerifier> => {
  const { oidcAudience, oidcIssuer: issuer } = settings
  if (issuer === null)
    return tellingOfNew(settings, DEV_ISSUER_KEY, async () =>
      (await import("../dev-issuer.ts")).openDevIssuer(settings.dataDir)
    )
  const { oidcIssuer } = await import("@flyball/http/oidc")
  return oidcIssuer({
    issuer,
    audience: oidcAudience,
    roles: { path: settings.oidcRolesClaim, separator: settings.oidcRolesSeparator },
    groups: { path: settings.oidcGroupsClaim, separator: settings.oidcGroupsSeparator },
    onIgnoredKey: ({ kid, reason }) => log("warn", "a key of the identity provider is ignored", { issuer, kid, reason })
  })
}

/** A server without its identity provider still serves agents, so this is a warning and not a refusal to start. */
const warnWithoutKeys = async ({ fetchKeys, issuer }: TokenVerifier, log: Log): Promise<void> => {
  const reason = (await fetchKeys?.(Date.now())) ?? null
  if (reason !== null)
    log(
      "warn",
      "the identity provider's keys cannot be fetched; people get 503 until it answers; agents are not affected",
      {
        issuer,
        reason
      }
    )
}

/**
 * How long the last checkpoint may take before the process goes without it. A service manager kills after 30 to 90 s.
 */
const LAST_CHECKPOINT = "15 seconds"

const UNSIGNED = "stopped, but the last checkpoint could not be signed. The next start signs it"
/** Another attempt would not help, and the next start may be refused. */
const UNSIGNABLE =
  "stopped, and no checkpoint can be signed before an operator intervenes: store and guard disagree, and records " +
  "may be missing"

/**
 * Signs for everything that was acknowledged. Failing loses nothing (the next start signs), but the operator should
 * know.
 */
const signLast = (runtime: HostRuntime, log: Log): Promise<number> =>
  runtime.runPromise(Checkpointer.use(({ now }) => now).pipe(Effect.timeout(LAST_CHECKPOINT))).then(
    ({ size }) => {
      log("info", "stopped", { signedRecords: size })
      return exitStatus.ok
    },
    (cause: unknown) => {
      log("error", cause instanceof StorageCorrupt ? UNSIGNABLE : UNSIGNED, {
        cause: cause instanceof Error ? cause.message : String(cause)
      })
      return exitStatus.failed
    }
  )

/** A failure to listen in the words of the settings. */
export const listenProblem = ({ host, port }: Settings, cause: unknown): unknown => {
  switch ((cause as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return new Error(
        `port ${port} of ${host} is in use. Stop the program that listens there, or choose another port with ` +
          `FLYBALL_PORT (0 takes a free one)`,
        { cause }
      )
    case "EACCES":
      return new Error(`this account may not listen on port ${port}. Choose one above 1023 with FLYBALL_PORT`, {
        cause
      })
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
      return new Error(`${host} is not an address of this host. FLYBALL_HOST names it; 127.0.0.1 always works`, {
        cause
      })
    default:
      return cause
  }
}
