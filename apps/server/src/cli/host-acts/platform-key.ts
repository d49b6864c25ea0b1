/** Mints and revokes platform keys as the operator at the host. */
import type { PlatformKeyCreate } from "@flyball/contract"
import { PlatformKeys, systemHost } from "@flyball/core"
import type { HostRuntime } from "../../host/open-host.ts"

/** Mints a key; answers the key alone, for a script. Rejects with the refusal's sentence. */
export const mintPlatformKey = async (runtime: HostRuntime, key: PlatformKeyCreate): Promise<string> =>
  (await runtime.runPromise(PlatformKeys.use((keys) => keys.mint(key, systemHost)))).key

/** Revokes a key; answers what to print. Rejects with the refusal's sentence. */
export const revokePlatformKey = async (runtime: HostRuntime, id: string): Promise<string> => {
  const { name } = await runtime.runPromise(PlatformKeys.use((keys) => keys.revoke(id, systemHost)))
  return `The platform key ${id} (${name}) is revoked: its next request is refused.`
}
