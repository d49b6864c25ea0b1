/** Makes a folder and those above it. */
import { existsSync, mkdirSync } from "node:fs"
import { dirname, resolve } from "node:path"

/**
 * Makes a folder that only this account enters, and the missing ones above it.
 *
 * Step by step, because `mkdir` with `recursive` never returns on file systems that answer ENOENT for a folder that is
 * there, such as /proc.
 */
export const makeFolder = (folder: string): void => {
  const missing: Array<string> = []
  for (let at = resolve(folder); !existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at)
  for (const at of missing) {
    try {
      mkdirSync(at, { mode: 0o700 })
    } catch (cause) {
      // Another process was first.
      if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause
    }
  }
}
