/**
 * A disk that is really small, for the processes that mount it.
 *
 * A tmpfs of its own size in a mount namespace of its own: as root, or where user namespaces are allowed. Nobody else
 * sees it, and it is gone with its keeper.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { createInterface } from "node:readline"

/** A small disk. */
export interface SmallDisk {
  readonly folder: string
  /** Put before a command, this lets it see the disk. */
  readonly prefix: ReadonlyArray<string>
  /** Takes all space but this much, until `giveBack`. Unit: bytes. */
  readonly fill: (leaveBytes: number) => void
  /** Makes as much room as there was at first, beside what is on it. */
  readonly giveBack: () => void
  /** Copies everything on it to a folder that everybody sees. Nobody may write meanwhile. */
  readonly copyTo: (folder: string) => void
  readonly close: () => Promise<void>
}

const isRoot = process.getuid?.() === 0
/** With a user namespace our own account is root inside, and files made there are ours outside. */
const outside = isRoot ? ["unshare", "--mount"] : ["unshare", "--mount", "--user", "--map-root-user"]
const into = (pid: number): ReadonlyArray<string> => [
  "nsenter",
  `--target=${pid}`,
  "--mount",
  ...(isRoot ? [] : ["--user", "--preserve-credentials"])
]

/** Mounts it and waits. `cat` keeps the namespace until its input ends, as it does when we end. */
const keep = 'mount -t tmpfs -o size="$2",mode=0777 flyball "$1" && echo mounted && exec cat >/dev/null'

/** True when this host permits one. */
export const canHaveSmallDisk = (): boolean =>
  process.platform === "linux" &&
  spawnSync(
    outside[0]!,
    [...outside.slice(1), "sh", "-c", "mount -t tmpfs -o size=64k flyball /tmp && command -v nsenter"],
    { stdio: "ignore" }
  ).status === 0

/**
 * The disk itself is made smaller and larger, whatever was written by then: with a ballast on a disk of one size a
 * quick server would fill it before its turn.
 * It cannot be made smaller than what is on it, and others may write meanwhile: then again. Unit of df: 4 KiB.
 */
const resize = `for try in $(seq 100); do
  used=$(df --output=used --block-size=4096 "$1" | tail -1)
  mount -o remount,size=$(( (used + $2) * 4096 )) "$1" 2>/dev/null && exit 0
done
mount -o remount,size=$(( (used + $2) * 4096 )) "$1"`

const pages = (bytes: number): string => String(Math.floor(bytes / 4_096))

/** Makes a disk of so many bytes at `folder`. Rejects where {@link canHaveSmallDisk} is false. */
export const smallDisk = async (folder: string, bytes: number): Promise<SmallDisk> => {
  mkdirSync(folder, { recursive: true })
  const keeper: ChildProcess = spawn(
    outside[0]!,
    [...outside.slice(1), "sh", "-c", keep, "sh", folder, String(bytes)],
    { stdio: ["pipe", "pipe", "inherit"] }
  )
  const ended = new Promise<void>((resolve) => keeper.once("close", () => resolve()))
  await new Promise<void>((resolve, reject) => {
    keeper.once("error", reject)
    createInterface(keeper.stdout!)
      .once("line", () => resolve())
      .once("close", () => reject(new Error("No tmpfs could be mounted in a namespace of its own.")))
  })
  const prefix = into(keeper.pid!)
  const run = (script: string, ...args: ReadonlyArray<string>): void => {
    const { status, stderr } = spawnSync(prefix[0]!, [...prefix.slice(1), "sh", "-c", script, "sh", folder, ...args], {
      encoding: "utf8"
    })
    if (status !== 0) throw new Error(`${script}: ${stderr}`)
  }
  return {
    folder,
    prefix,
    fill: (leaveBytes) => run(resize, pages(leaveBytes)),
    giveBack: () => run(resize, pages(bytes)),
    copyTo: (target) => run('cp -a "$1/." "$2"', target),
    close: () => {
      keeper.stdin!.end()
      return ended
    }
  }
}
