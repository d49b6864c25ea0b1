/** Making what was written to a file, and its name, outlive a power cut. */
import { closeSync, fsyncSync, openSync } from "node:fs"

/** Waits until the bytes of a file, or the names of a folder, are on the disk. */
export const syncPath = (path: string): void => {
  const descriptor = openSync(path, "r")
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
