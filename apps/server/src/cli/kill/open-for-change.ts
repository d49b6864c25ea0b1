/** Opens the governor for a command that changes the kill state. */
import { requireDataFolder } from "../../host/data-folder.ts"
import type { HostRuntime } from "../../host/open-host.ts"
import { prepareStoreFile } from "../../host/store-file.ts"
import { settingsOfProcess } from "../environment.ts"
import { withHost } from "../with-host.ts"
import { type SameOverHttp, withWhatToType } from "./write-refused.ts"

/** The writer of what is done at the host. It is nobody's pseudonym. */
export const hostOperator = { id: "system:operator" }

/** Runs `body` with a governor that writes. `same`: for the sentence where a running server holds the SQLite file. */
export const openForChange = async (
  same: SameOverHttp | null,
  body: (runtime: HostRuntime) => Promise<number>
): Promise<number> => {
  const { settings } = settingsOfProcess()
  // In another folder it would begin a chain there and halt in that.
  if (settings.database.kind !== "memory") requireDataFolder(settings)
  if (settings.database.kind === "sqlite") prepareStoreFile(settings.database.file, true)
  return withHost({ readOnly: false, small: true, settings }, body).catch((cause: unknown) =>
    Promise.reject(withWhatToType(settings, same, cause))
  )
}
