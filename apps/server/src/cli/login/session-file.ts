/** The file of a person's session. It stands for that person, so nobody else may read or change it. */
import { constants } from "node:fs"
import { lstat, mkdir, open, rename, stat, unlink } from "node:fs/promises"
import { dirname, join } from "node:path"
import { type Client, LoginFailed, type World } from "./provider.ts"

/** A session as it is kept. */
export interface Session extends Client {
  readonly issuer: string
  readonly token: string
  readonly expiresAtMs: number
  readonly refreshToken: string | null
  readonly subject: string
  /** Address of the server that commands ask; null where none was named. */
  readonly url: string | null
}

/** The file, in the person's folder of settings. */
export const sessionFile = ({ HOME, XDG_CONFIG_HOME }: NodeJS.ProcessEnv): string => {
  const folder = XDG_CONFIG_HOME !== undefined && XDG_CONFIG_HOME !== "" ? XDG_CONFIG_HOME : join(HOME ?? "", ".config")
  return join(folder, "flyball", "session.json")
}

/**
 * Reads the session; null where there is none.
 *
 * - Fails: with {@link LoginFailed}, where others can read or change it.
 */
export const readSession = async (file: string): Promise<Session | null> => {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return null
    throw new LoginFailed(`${file} cannot be read (${cause.code ?? "unknown"}). It should be a file of yours`)
  })
  if (handle === null) return null
  try {
    await checkFolder(dirname(file))
    const { mode, size, uid } = await handle.stat()
    if (!isMine(uid)) throw new LoginFailed(`${file} belongs to somebody else. Remove it, and sign in again`)
    if ((mode & 0o077) !== 0)
      throw new LoginFailed(`others may read or change ${file}. Remove it, and sign in again: flyball login`)
    if (size > MAX_BYTES) throw new LoginFailed(`${file} is no session. Remove it, and sign in again`)
    return JSON.parse(await handle.readFile("utf8")) as Session
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new LoginFailed(`${file} is no session. Remove it, and sign in again`)
    throw cause
  } finally {
    await handle.close()
  }
}

/**
 * Replaces the session at once, with mode 0600.
 *
 * - Fails: with {@link LoginFailed}, where others can change its folder.
 */
export const writeSession = async (file: string, session: Session): Promise<void> => {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await checkFolder(dirname(file))
  const partial = `${file}.${process.pid}.new`
  const handle = await open(partial, "wx", 0o600)
  try {
    await handle.writeFile(`${JSON.stringify(session, null, 2)}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(partial, file)
}

/**
 * Runs `body` while no other process does: a provider that rotates refresh tokens ends a session in which one is used
 * twice. A lock that a crash left is taken over.
 */
export const whileLocked = async <A>(file: string, world: World, body: () => Promise<A>): Promise<A> => {
  const lock = `${file}.lock`
  for (;;) {
    const handle = await open(lock, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === "EEXIST") return null
      throw new LoginFailed(`${lock} cannot be made (${cause.code ?? "unknown"})`)
    })
    if (handle !== null) {
      await handle.close()
      break
    }
    const since = await stat(lock).catch(() => null)
    if (since !== null && world.nowMs() - since.mtimeMs > STALE_LOCK_MS) await unlink(lock).catch(() => undefined)
    else await world.pause(RETRY_MS)
  }
  try {
    return await body()
  } finally {
    await unlink(lock).catch(() => undefined)
  }
}

const checkFolder = async (folder: string): Promise<void> => {
  const { mode, uid } = await lstat(folder)
  if ((mode & constants.S_IFMT) !== constants.S_IFDIR || !isMine(uid) || (mode & 0o022) !== 0)
    throw new LoginFailed(`the folder ${folder} should be a folder of yours that nobody else can write to`)
}

/** Systems without user ids have other means, and mode bits that say nothing. */
const isMine = (uid: number): boolean => process.getuid === undefined || uid === process.getuid()

const MAX_BYTES = 262_144
/** Longer than a refresh may take. Unit: milliseconds. */
const STALE_LOCK_MS = 30_000
const RETRY_MS = 200
