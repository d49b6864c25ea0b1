/**
 * A disk that is really small, for the processes that are told to see it.
 *
 * A tmpfs of its own size in a mount namespace of its own: as root, or where user namespaces are allowed. Nobody else sees it, and it is gone with its keeper.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createInterface } from "node:readline"

/** A small disk. */
export interface SmallDisk {
  readonly folder: string
  /** Put before a command, this lets it see the disk. */
  readonly prefix: ReadonlyArray<string>
  /** Takes all space but this much, in a file that stands in the way until `giveBack`. Unit: bytes. */
  readonly fill: (leaveBytes: number) => void
  /** Frees what `fill` took. */
  readonly giveBack: () => void
  /** Copies everything on it to a folder that everybody sees. Nobody may write meanwhile. */
  readonly copyTo: (folder: string) => void
  readonly close: () => Promise<void>
}

const isRoot = process.getuid?.() === 0
/** With a user namespace our own account is root inside, and files made there are ours outside. */
const outside = isRoot ? ["unshare", "--mount"] : ["unshare", "--mount", "--user", "--map-root-user"]
const into = (pid: number): ReadonlyArray<string> => ["nsenter", `--target=${pid}`, "--mount", ...(isRoot ? [] : ["--user", "--preserve-credentials"])]

/** Mounts it and waits. `cat` keeps the namespace until its input ends, as it does when we end. */
const keep = "mount -t tmpfs -o size=\"$2\",mode=0777 flyball \"$1\" && echo mounted && exec cat >/dev/null"

/** Whether this host lets us have one. */
export const canHaveSmallDisk = (): boolean =>
  process.platform === "linux" && spawnSync(outside[0]!, [...outside.slice(1), "sh", "-c", "mount -t tmpfs -o size=64k flyball /tmp && command -v nsenter"], { stdio: "ignore" }).status === 0

/** Others may write meanwhile: with nothing to be left, dd goes on until it fails, which is what is wanted. Unit of df: 4 KiB. */
const fill = `free=$(df --output=avail --block-size=4096 "$1" | tail -1)
if [ "$2" = 0 ]; then dd if=/dev/zero of="$1/ballast" bs=4k 2>/dev/null || true; else dd if=/dev/zero of="$1/ballast" bs=4k count=$((free - $2)) 2>/dev/null; fi`

/** Makes a disk of so many bytes at `folder`. Rejects where {@link canHaveSmallDisk} is false. */
export const smallDisk = async (folder: string, bytes: number): Promise<SmallDisk> => {
  mkdirSync(folder, { recursive: true })
  const keeper: ChildProcess = spawn(outside[0]!, [...outside.slice(1), "sh", "-c", keep, "sh", folder, String(bytes)], { stdio: ["pipe", "pipe", "inherit"] })
  const ended = new Promise<void>((resolve) => keeper.once("close", () => resolve()))
  await new Promise<void>((resolve, reject) => {
    keeper.once("error", reject)
    createInterface(keeper.stdout!).once("line", () => resolve()).once("close", () => reject(new Error("No tmpfs could be mounted in a namespace of its own.")))
  })
  const prefix = into(keeper.pid!)
  const run = (script: string, ...args: ReadonlyArray<string>): void => {
    const { status, stderr } = spawnSync(prefix[0]!, [...prefix.slice(1), "sh", "-c", script, "sh", folder, ...args], { encoding: "utf8" })
    if (status !== 0) throw new Error(`${script}: ${stderr}`)
  }
  return {
    folder,
    prefix,
    fill: (leaveBytes) => run(fill, String(Math.floor(leaveBytes / 4_096))),
    giveBack: () => run("rm -f \"$1/ballast\""),
    copyTo: (target) => run("cp -a \"$1/.\" \"$2\"", target),
    close: () => {
      keeper.stdin!.end()
      return ended
    }
  }
}
