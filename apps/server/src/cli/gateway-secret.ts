/** `flyball gateway-secret`: seals the secret of an upstream for the file of upstreams. */
import { openSecretBox } from "@flyball/node"
import { isBaseUrl, sealUpstream } from "@flyball/platform"
import { Effect } from "effect"
import { makeDataFolder } from "../host/data-folder.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { settingsOfProcess } from "./environment.ts"

/** Reads the secret from standard input, and prints it sealed. */
export const run = command("gateway-secret", async (args) => {
  const { values } = readArguments(args, { "base-url": { type: "string" } })
  const url = values["base-url"]
  if (url === undefined || !isBaseUrl(url)) throw new UsageError("--base-url should be the base_url of the upstream")
  const { settings } = settingsOfProcess()
  if (settings.database.kind === "memory")
    throw new Error("with a store in memory the key that seals is gone with the server; name a store that stays")
  let secret = ""
  for await (const piece of process.stdin.setEncoding("utf8")) secret += piece as string
  if (secret.trim() === "") throw new UsageError("the secret is read from standard input, which is empty")
  makeDataFolder(settings)
  const { keyId, open, seal } = await openSecretBox(
    settings.secretsKeyFile === null ? { dir: settings.dataDir } : { file: settings.secretsKeyFile }
  )
  const box = {
    keyId,
    seal: (bytes: Uint8Array, boundTo: string) => Effect.promise(() => seal(bytes, boundTo)),
    open: (bytes: Uint8Array, boundTo: string) => Effect.promise(() => open(bytes, boundTo))
  }
  console.log(await Effect.runPromise(sealUpstream(box, url, secret.trim())))
  return exitStatus.ok
})
