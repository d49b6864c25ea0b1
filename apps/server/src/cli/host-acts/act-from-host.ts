/** Does an act of the operator at the host: by the running server where one has the store, else by this process. */
import { actOverControl } from "../../host/control/call-control.ts"
import type { HostAct } from "../../host/control/protocol.ts"
import { requireDataFolder } from "../../host/data-folder.ts"
import { prepareStoreFile } from "../../host/store-file.ts"
import { exitStatus } from "../command.ts"
import { settingsOfProcess } from "../environment.ts"
import { withHost } from "../with-host.ts"
import { doAct } from "./do-act.ts"
import { type SameOverHttp, withWhatToType } from "./write-refused.ts"

/** Runs the act and prints its result. `same`: for the sentence where a process without a socket holds the file. */
export const actFromHost = async (act: HostAct, same: SameOverHttp | null): Promise<number> => {
  const { settings } = settingsOfProcess()
  // In another folder it would begin a chain there and halt in that.
  if (settings.database.kind !== "memory") requireDataFolder(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, true)
  const byServer = await actOverControl(settings, act)
  if (byServer !== null) {
    console.log(byServer)
    return exitStatus.ok
  }
  return withHost({ readOnly: false, small: true, settings }, async (runtime) => {
    console.log(await doAct(runtime, act))
    return exitStatus.ok
  }).catch((cause: unknown) => Promise.reject(withWhatToType(settings, same, cause)))
}
