/** `flyball mapping`: who becomes what here, set on the host where nobody can set it over HTTP. */
import { readFileSync } from "node:fs"
import { decode, MappingIn, type MappingOut } from "@flyball/contract"
import { AccessMapping } from "@flyball/core"
import { readJson, withoutMark } from "@flyball/evidence"
import { Result } from "effect"
import { fileProblem } from "../host/file-problem.ts"
import { readArguments, UsageError } from "./arguments.ts"
import { command, exitStatus } from "./command.ts"
import { actFromHost } from "./host-acts/act-from-host.ts"
import { withHost } from "./with-host.ts"

/** Prints the mapping as JSON that `set` takes back, or sets it from a file. */
export const run = command("mapping", async (args) => {
  const {
    positionals: [act, file, more]
  } = readArguments(args, {}, true)
  if (act === "show" && file === undefined)
    return withHost({ readOnly: true, small: true }, async (runtime) => {
      console.log(asFile(await runtime.runPromise(AccessMapping.use(({ get }) => get))))
      return exitStatus.ok
    })
  if (act !== "set" || file === undefined || more !== undefined) throw new UsageError("expected show, or set FILE")
  const wanted = readMapping(file)
  return actFromHost(
    { command: "mapping", mapping: wanted },
    { method: "PUT", path: "/api/v1/admin/entitlement-rules", role: "admin", body: file }
  )
})

const asFile = ({ rules, trust_canonical, version }: MappingOut): string =>
  JSON.stringify({ rules, trust_canonical, if_version: version }, null, 2)

const decodeMapping = decode(MappingIn)

const readMapping = (file: string): MappingIn => {
  const problem = (says: string): never => {
    throw new UsageError(`${file} ${says}`)
  }
  let bytes: Uint8Array
  try {
    bytes = readFileSync(file)
  } catch (cause) {
    return problem(`cannot be read: ${fileProblem(cause)}`)
  }
  const read = readJson(withoutMark(bytes))
  if (!read.ok) return problem(`is not JSON that can be read (${read.reason} at byte ${read.offset})`)
  const decoded = decodeMapping(read.value, "body")
  if (Result.isSuccess(decoded)) return decoded.success
  const [first] = decoded.failure
  return problem(`is not an access mapping: ${first!.loc.slice(1).join(".") || "the file"}: ${first!.msg}`)
}
