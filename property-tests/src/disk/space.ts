/** Space that can be taken from a running server and given back, in the ways that this host allows. */
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { smallDisk } from "./small-disk.ts"

/** Space for the files of one server. */
export interface Space {
  /** How it is bounded, for the names of tests and reports. */
  readonly how: "small disk" | "file size limit"
  /** Where the files go. */
  readonly folder: string
  /** Put before the server's command. */
  readonly prefix: ReadonlyArray<string>
  /** Leaves the server so much room, or none. Unit: bytes. */
  readonly take: (pid: number, leaveBytes: number) => void
  readonly giveBack: (pid: number) => void
  /** Where the files are once the server has stopped, for everybody to see. */
  readonly settled: (folder: string) => string
  readonly close: () => Promise<void>
}

/**
 * Room on a small disk while it is not full: more than a quick server writes between two times that it is. It costs
 * only what is written. Unit: bytes.
 */
const DISK_BYTES = 256 * 1024 * 1024

/** A small disk. Only where `canHaveSmallDisk` says so. */
export const diskSpace = async (folder: string): Promise<Space> => {
  const disk = await smallDisk(folder, DISK_BYTES)
  return {
    how: "small disk",
    folder,
    prefix: disk.prefix,
    take: (_, leaveBytes) => disk.fill(leaveBytes),
    giveBack: disk.giveBack,
    settled: (target) => {
      mkdirSync(target)
      disk.copyTo(target)
      return target
    },
    close: disk.close
  }
}

/**
 * A limit to the size of the server's files, which works everywhere on Linux: the system then says EFBIG instead of
 * ENOSPC.
 *
 * With room to leave, files may still grow to that size.
 */
export const limitSpace = (folder: string): Space => {
  mkdirSync(folder, { recursive: true })
  const limit = (pid: number, soft: string): void => {
    const { status, stderr } = spawnSync("prlimit", [`--pid=${pid}`, `--fsize=${soft}:unlimited`], { encoding: "utf8" })
    if (status !== 0) throw new Error(`prlimit: ${stderr}`)
  }
  return {
    how: "file size limit",
    folder,
    prefix: [],
    take: (pid, leaveBytes) => limit(pid, String(Math.max(4_096, leaveBytes))),
    giveBack: (pid) => limit(pid, "unlimited"),
    settled: () => folder,
    close: async () => {}
  }
}

/** Starts a Postgres that sees a small disk; the folder is one there for the tables of a database. */
export const postgresOn = async ({
  folder,
  prefix
}: Space): Promise<{ readonly url: string; readonly tables: string; readonly stop: () => Promise<void> }> => {
  const tables = `${folder}/tables`
  // As root Postgres runs as nobody. In a user namespace we are root by name only, and Postgres refuses that name: one
  // more namespace gives it another.
  const own =
    process.getuid?.() === 0
      ? { prefix, made: `mkdir "${tables}" && chown 65534:65534 "${tables}"` }
      : { prefix: [...prefix, "unshare", "--user", "--map-user=1000"], made: `mkdir "${tables}"` }
  const made = spawnSync(prefix[0]!, [...prefix.slice(1), "sh", "-c", own.made], { encoding: "utf8" })
  if (made.status !== 0) throw new Error(made.stderr)
  const child = spawn(
    own.prefix[0]!,
    [...own.prefix.slice(1), process.execPath, fileURLToPath(new URL("./postgres-process.ts", import.meta.url))],
    {
      env: { ...process.env, FLYBALL_TEST_PG_URL: "" },
      stdio: ["pipe", "pipe", "inherit"]
    }
  )
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout)
      .once("line", resolve)
      .once("close", () => reject(new Error("Postgres did not start beside the small disk.")))
  })
  return {
    url,
    tables,
    stop: () => {
      child.stdin.end()
      return ended
    }
  }
}
