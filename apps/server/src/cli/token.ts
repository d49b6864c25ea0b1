/** `flyball token`: a short-lived token of the development issuer. Touches only the data folder. */
import { type Role, roles } from "@flyball/contract"
import { openDevIssuer } from "../dev-issuer.ts"
import { command, readArguments, UsageError } from "./arguments.ts"
import { settingsOfProcess } from "./environment.ts"

const isRole = (text: string): text is Role => roles.some((role) => role === text)

/** Prints only the token. */
export const run = command("token", async (args) => {
  const { values } = readArguments(args, { role: { type: "string" }, sub: { type: "string" }, "org-unit": { type: "string" } })
  const { role } = values
  if (role === undefined || !isRole(role)) throw new UsageError(`--role should be one of ${roles.join(", ")}`)
  const subject = values.sub ?? "dev"
  if (subject === "" || values["org-unit"] === "") throw new UsageError("--sub and --org-unit should not be empty")
  const issuer = await openDevIssuer(settingsOfProcess().settings.dataDir)
  console.log(await issuer.sign({ role, subject, orgUnit: values["org-unit"] ?? "*" }, Date.now()))
  return 0
})
