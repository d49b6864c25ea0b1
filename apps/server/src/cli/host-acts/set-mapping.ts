/** Sets the access mapping as the operator at the host. */
import type { MappingIn } from "@flyball/contract"
import { AccessMapping } from "@flyball/core"
import type { HostRuntime } from "../../host/open-host.ts"
import { counted } from "../command.ts"

/** The writer that the records name: the operator at the host. */
const writer = { id: "system:host" }

/** Sets the mapping; answers what to print. Rejects with the refusal's sentence. */
export const setMapping = async (runtime: HostRuntime, wanted: MappingIn): Promise<string> => {
  const { rules, trust_canonical, version } = await runtime.runPromise(
    AccessMapping.use((mapping) => mapping.set(wanted, writer))
  )
  return (
    "The access mapping is set: " +
    `${counted(rules.length, "rule")}${trust_canonical ? ", Flyball's role names in tokens are trusted" : ""}. ` +
    `This is version ${version}.`
  )
}
