/** `flyball platform-key`: keys of the platform API, minted and revoked on the host. */
import { decode, PlatformKeyCreate, type PlatformKeyOut, plans } from "@flyball/contract"
import { PlatformKeys } from "@flyball/core"
import { Result } from "effect"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { actFromHost } from "./host-acts/act-from-host.ts"
import { withHost } from "./with-host.ts"

/** Prints a new key, the keys there are, or that one was revoked. */
export const run = command("platform-key", async (args) => {
  const {
    positionals: [act, id, more],
    values
  } = readArguments(
    args,
    {
      name: { type: "string" },
      "org-unit": { type: "string" },
      plan: { type: "string" },
      scopes: { type: "string" },
      agent: { type: "string" },
      "expires-at": { type: "string" },
      json: { type: "boolean" }
    },
    true
  )
  if (act === "list" && id === undefined)
    return withHost({ readOnly: true, small: true, keyless: true }, async (runtime) => {
      const keys = await runtime.runPromise(PlatformKeys.use(({ list }) => list))
      console.log(values.json === true ? JSON.stringify(keys, null, 2) : linesOf(keys).join("\n"))
      return exitStatus.ok
    })
  if (act === "revoke" && id !== undefined && more === undefined)
    return actFromHost(
      { command: "platform_key_revoke", id },
      { method: "POST", path: `/api/v1/admin/platform-keys/${id}/revoke`, role: "admin", body: {} }
    )
  if (act !== "mint" || id !== undefined)
    throw new UsageError("expected mint --name N --org-unit U --plan P --scopes S,…, or list, or revoke ID")
  const { agent, "expires-at": expires, name, "org-unit": unit, plan, scopes } = values
  const given = { name, org_unit: unit, plan, scopes: scopes?.split(","), agent_id: agent, expires_at: expires }
  const key = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return actFromHost(
    { command: "platform_key_mint", key: checked(key) },
    { method: "POST", path: "/api/v1/admin/platform-keys", role: "admin", body: JSON.stringify(key) }
  )
})

const decodeKey = decode(PlatformKeyCreate)

const flags: { readonly [member: string]: string } = {
  agent_id: "--agent",
  org_unit: "--org-unit",
  expires_at: "--expires-at"
}

const checked = (key: object): PlatformKeyCreate => {
  const decoded = decodeKey(key, "body")
  if (Result.isSuccess(decoded)) return decoded.success
  const { loc, msg, type } = decoded.failure[0]!
  const member = loc[1] ?? ""
  const flag = flags[member] ?? `--${member}`
  const says = type === "missing" ? "is needed" : member === "plan" ? `should be one of ${plans.join(", ")}` : msg
  throw new UsageError(type === "missing" || member === "plan" ? `${flag} ${says}` : `${flag}: ${says}`)
}

const linesOf = (keys: ReadonlyArray<PlatformKeyOut>): ReadonlyArray<string> =>
  keys.length === 0
    ? ["There is no platform key."]
    : keys.map(({ expires_at: expires, hint, id, name, org_unit: unit, plan, revoked_at: revoked, ...key }) => {
        const state = revoked !== null ? `revoked ${revoked}` : expires === null ? "in force" : `until ${expires}`
        const uses = [...key.scopes, key.agent_id ?? []].flat().join(",")
        return `${id}  …${hint}  ${plan}  ${unit ?? "(erased)"}  ${name}  ${uses}  ${state}`
      })
