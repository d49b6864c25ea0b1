/** What `halt` and `release` share: opening the store to write, and reading their arguments. */
import type { Decoder } from "@flyball/contract"
import { Result } from "effect"
import { requireDataFolder } from "../host/data-folder.ts"
import type { HostRuntime } from "../host/open-host.ts"
import { prepareStoreFile } from "../host/store-file.ts"
import { UsageError } from "./arguments.ts"
import { settingsOfProcess } from "./environment.ts"
import { withHost } from "./with-host.ts"

/** The writer that the records name: the operator at the host, whom no identity provider has to know. */
export const operator = { id: "system:operator" }

/** Reads arguments as the interface reads a body. Fails with `UsageError`, which names the flag. */
export const readInput = <A>(decoder: Decoder<A>, input: { readonly [member: string]: unknown }): A => {
  const decoded = decoder(input, "body")
  if (Result.isSuccess(decoded)) return decoded.success
  const [first] = decoded.failure
  const name = String(first!.loc.at(-1))
  throw new UsageError(
    first!.type === "missing" ? `it needs ${flagOf(name)}` : `${flagOf(name)} is not valid: ${first!.msg}`
  )
}

const flagOf = (member: string): string =>
  ({ activation_event: "ACTIVATION", target_id: "AGENT" })[member] ?? `--${member}`

/** Opens the store that the settings name, which must be there, and writes to it. */
export const writing = (body: (runtime: HostRuntime) => Promise<number>): Promise<number> => {
  const { settings } = settingsOfProcess()
  // In another folder it would begin a chain there, and stop nothing.
  if (settings.database.kind !== "memory") requireDataFolder(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, true)
  return withHost({ readOnly: false, small: true }, body)
}
