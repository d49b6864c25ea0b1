/** `flyball token`: a short-lived token of the development issuer. Accesses only the data folder. */
import { type Role, roles } from "@flyball/contract"
import { openDevIssuer } from "../dev-issuer.ts"
import { DEV_ISSUER_KEY, makeDataFolder, tellingOfNew } from "../host/data-folder.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"

const isRole = (text: string): text is Role => roles.some((role) => role === text)

/** Prints only the token. */
export const run = command("token", async (args) => {
  const { values } = readArguments(args, {
    role: { type: "string" },
    sub: { type: "string" },
    "org-unit": { type: "string" }
  })
  const { role } = values
  if (role === undefined || !isRole(role)) throw new UsageError(`--role should be one of ${roles.join(", ")}`)
  const { settings } = settingsOfProcess()
  if (settings.oidcIssuer !== null)
    throw new Error(
      `FLYBALL_OIDC_ISSUER is set, so the server accepts tokens of ${settings.oidcIssuer} and none made here. Get ` +
        `one from that issuer`
    )
  makeDataFolder(settings)
  const issuer = await tellingOfNew(settings, DEV_ISSUER_KEY, () => openDevIssuer(settings.dataDir))
  console.log(await issuer.sign({ role, subject: values.sub ?? "dev", orgUnit: values["org-unit"] ?? "*" }, Date.now()))
  return exitStatus.ok
})
