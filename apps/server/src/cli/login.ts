/**
 * `flyball login`: signs a person in at the OpenID provider, and keeps the session in a file of theirs. Touches that
 * file alone, never the data folder.
 */
import { readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { isIssuerUrl } from "@flyball/http/issuer-url"
import { fileProblem } from "../host/file-problem.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"
import { browserFlow } from "./login/browser-flow.ts"
import { deviceFlow } from "./login/device-flow.ts"
import { type Client, findProvider, type World } from "./login/provider.ts"
import { currentSession } from "./login/session.ts"
import { sessionFile, writeSession } from "./login/session-file.ts"
import { remoteOf } from "./remote.ts"

/** Asks for an ID token with a name and an address, and for what extends the session. */
const DEFAULT_SCOPE = "openid profile email offline_access"
const DEFAULT_REDIRECT = "http://127.0.0.1/callback"

/** The world of this process, for signing in. Instructions for a person go to standard error. */
export const processWorld: World = { nowMs: Date.now, pause: (ms) => pause(ms), say: (text) => console.error(text) }

/** Signs in, or prints the token of the session. */
export const run = command("login", async (args) => {
  const { values } = readArguments(args, {
    browser: { type: "boolean" },
    "client-id": { type: "string" },
    "client-secret-file": { type: "string" },
    device: { type: "boolean" },
    issuer: { type: "string" },
    redirect: { type: "string" },
    scope: { type: "string" },
    token: { type: "boolean" },
    url: { type: "string" },
    use: { type: "string" }
  })
  const file = sessionFile(process.env)
  if (values.token === true) {
    if (Object.keys(values).length > 1) throw new UsageError("--token stands alone")
    console.log((await currentSession(file, processWorld)).token)
    return exitStatus.ok
  }
  const { settings } = settingsOfProcess()
  const issuer = values.issuer ?? settings.oidcIssuer
  if (issuer === null)
    throw new UsageError(
      "--issuer is missing, and FLYBALL_OIDC_ISSUER is not set. Where the server is its own issuer, flyball token " +
        "--role R makes a token"
    )
  if (!isIssuerUrl(issuer)) throw new UsageError("--issuer should be an https address (http on this host)")
  if (values.use !== undefined && values.use !== "id" && values.use !== "access")
    throw new UsageError("--use should be id or access")
  if (values.browser === true && values.device === true)
    throw new UsageError("--browser and --device exclude each other")
  if (values.url !== undefined && !isIssuerUrl(values.url))
    throw new UsageError("--url should be the https address of the server (http on this host)")
  const redirect = redirectOf(values.redirect ?? DEFAULT_REDIRECT)
  const client: Client = {
    clientId: values["client-id"] ?? settings.oidcAudience,
    clientSecret: values["client-secret-file"] === undefined ? null : secretIn(values["client-secret-file"]),
    use: values.use ?? "id",
    scope: values.scope ?? DEFAULT_SCOPE
  }
  const provider = await findProvider(issuer)
  const byBrowser = values.browser === true || (values.device !== true && provider.device === null)
  const tokens = byBrowser
    ? await browserFlow(provider, client, redirect, processWorld)
    : await deviceFlow(provider, client, processWorld)
  const session = { ...client, issuer, ...tokens, url: values.url?.replace(/\/$/, "") ?? null }
  await writeSession(file, session)
  console.error(
    `Signed in as ${tokens.subject}, until ${new Date(tokens.expiresAtMs).toISOString()}` +
      `${tokens.refreshToken === null ? "" : ", extended as needed"}. The session is in ${file}.`
  )
  if (session.url !== null) console.error(roleText(await remoteOf(session.url, session.token).get("/api/v1/me")))
  return exitStatus.ok
})

const redirectOf = (text: string): string => {
  const isLoopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:[0-9]{1,5})?(\/[^?#]*)?$/.test(text)
  if (!isLoopback || !URL.canParse(text))
    throw new UsageError("--redirect should be an http address of this host, as http://127.0.0.1/callback")
  return text
}

const secretIn = (file: string): string => {
  try {
    return readFileSync(file, "utf8").trim()
  } catch (cause) {
    throw new UsageError(`${file} cannot be read: ${fileProblem(cause)}`)
  }
}

const roleText = (me: unknown): string => {
  const { org_units: units, role } = me as { readonly role: string; readonly org_units: ReadonlyArray<string> }
  return `The server knows you as ${role} of ${units.includes("*") ? "every org unit" : units.join(", ")}.`
}
