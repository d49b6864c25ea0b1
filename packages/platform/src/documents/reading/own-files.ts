/** Files of documents that wait to be read: what a request brings goes when its answer ends. */
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder for documents, which goes with its scope; what a process that died left goes with the next upload. */
export const documentFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), `flyball-body-${process.pid}-`))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

/** The path of a file in the folder, which is made again where the host tidied its temporary files meanwhile. */
const pathIn = (folder: string, id: string): string => {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (cause) {
    // Everybody may make a folder of a known name there, and could exchange a document after its digest was taken.
    const found = (cause as NodeJS.ErrnoException).code === "EEXIST" ? lstatSync(folder) : null
    if (found === null) throw cause
    const isOwn = found.isDirectory() && (process.getuid === undefined || found.uid === process.getuid())
    if (!isOwn || (process.platform !== "win32" && (found.mode & 0o077) !== 0))
      throw new Error(`${folder} belongs to somebody else, or others may read it: remove it.`, { cause })
  }
  return join(folder, id)
}

/** Moves a file into the folder; answers its path. */
export const ownFile = (folder: string, id: string, path: string): string => {
  const own = pathIn(folder, id)
  renameSync(path, own)
  return own
}

/** Writes a file into the folder; answers its path and SHA-256 in lower-case hex. */
export const newFile = (
  folder: string,
  id: string,
  bytes: Uint8Array
): { readonly path: string; readonly sha256: string } => {
  const path = pathIn(folder, id)
  writeFileSync(path, bytes, { flag: "wx", mode: 0o600 })
  return { path, sha256: createHash("sha256").update(bytes).digest("hex") }
}

/** Removes a file that nobody needs any more. */
export const removeFile = ({ path }: { readonly path: string }): Effect.Effect<void> =>
  Effect.sync(() => rmSync(path, { force: true }))
