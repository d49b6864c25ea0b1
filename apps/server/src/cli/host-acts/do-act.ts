/** The acts of the operator at the host, in a command's own process or in the running server's. */
import { Checkpointer } from "@flyball/core"
import type { HostAct } from "../../host/control/protocol.ts"
import type { HostRuntime } from "../../host/open-host.ts"
import { haltNow, releaseNow } from "../kill/acts.ts"
import { findTarget } from "../kill/target.ts"
import { mintPlatformKey, revokePlatformKey } from "./platform-key.ts"
import { rotateNow } from "./rotate-now.ts"
import { setMapping } from "./set-mapping.ts"

/** Does an act; answers what to print. Rejects with a sentence. */
export const doAct = async (runtime: HostRuntime, act: HostAct): Promise<string> => {
  switch (act.command) {
    case "halt":
      return haltNow(runtime, await findTarget(runtime, act.named), { ...act, dryRun: false })
    case "release":
      return releaseNow(runtime, act)
    case "mapping":
      return setMapping(runtime, act.mapping)
    case "platform_key_mint":
      return mintPlatformKey(runtime, act.key)
    case "platform_key_revoke":
      return revokePlatformKey(runtime, act.id)
    case "rotate_key":
      return rotateNow(runtime)
    case "checkpoint":
      return runtime.runPromise(Checkpointer.use(({ now }) => now)).then(() => "")
  }
}
