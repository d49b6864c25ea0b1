/** Several servers append to one Postgres while one after the other is killed and started again. */
import assert from "node:assert/strict"
import { setTimeout as pause } from "node:timers/promises"
import { dataFolder } from "@flyball/node"
import { postgresStorage } from "@flyball/storage-sql"
import { pickOf, seededSource } from "@flyball/testkit"
import { audit, type Audited } from "../audit/audit.ts"
import { Book } from "../audit/book.ts"
import { askOnce, type Callers, capture, registerAgent, signedSize } from "./callers.ts"
import { watchGuard } from "./guard-watch.ts"
import { adminToken, type ServerProcess, startServer } from "./server-process.ts"

/** How hard the servers have it. */
export interface KilledServersOptions {
  /** An empty database. */
  readonly databaseUrl: string
  /** A folder that does not exist yet. */
  readonly dataDir: string
  readonly servers: number
  readonly callers: number
  readonly kills: number
  readonly seed: number
  readonly tell?: (line: string) => void
}

/** Result of the run. */
export interface KilledServers extends Audited {
  readonly acknowledged: number
  /** Questions that were put again after a connection broke. */
  readonly again: number
  readonly guardStates: number
}

/** Most time between two kills, beside what it takes until everybody was served again. */
const BETWEEN_MS = 400
/** How long a checkpoint may take after a kill: the dead server's lease, the background's poll, and a busy machine. */
const SIGNED_MS = 60_000
const POLL_MS = 50

/**
 * Runs the servers, kills them, stops them in order, and audits the store. Throws at whatever is not as it should be.
 */
export const killedServers = async ({
  callers: count,
  dataDir,
  databaseUrl,
  kills,
  seed,
  servers: size,
  tell = () => {}
}: KilledServersOptions): Promise<KilledServers> => {
  const pick = pickOf(seededSource(`servers ${seed}`))
  const variables = {
    FLYBALL_DATABASE_URL: databaseUrl,
    FLYBALL_DATA_DIR: dataDir,
    FLYBALL_ORIGIN: "flyball.example/servers",
    FLYBALL_LOG_LEVEL: "warn"
  }
  const book = new Book()
  const slots: Array<ServerProcess | null> = []
  let [goesOn, again] = [true, 0]
  try {
    // At the same time: they make one key, one genesis and one schema between them.
    slots.push(...(await Promise.all(Array.from({ length: size }, () => startServer(variables)))))
    const callers: Callers = {
      book,
      token: await adminToken(variables),
      // A slot whose server was just killed is called too: that is how a caller finds out.
      server: () => slots[pick(slots.length)]?.url ?? null,
      goesOn: () => goesOn,
      refused: ({ body, status }, what) => {
        if (status !== 503) book.problems.push(`${what} was answered with ${status} ${JSON.stringify(body)}`)
        return status === 503
      },
      broken: () => void (again += 1)
    }
    const guardStates = watchGuard(dataDir, book, () => goesOn)
    const ids = await Promise.all(slots.map(() => registerAgent(callers, "bot")))
    assert.equal(new Set(ids).size, 1, "one name became several agents")
    const working = Promise.all(Array.from({ length: count }, (_, index) => capture(callers, ids[0]!, `c${index}`)))
    for (let kill = 0; kill < kills; kill++) {
      const before = book.acknowledged
      await until(() => book.acknowledged > before + count, "the servers acknowledge nothing any more")
      await pause(pick(BETWEEN_MS))
      const index = pick(slots.length)
      await slots[index]!.stop("SIGKILL")
      slots[index] = null
      const left = slots.find((server) => server !== null)!
      // Everything that was acknowledged up to here is signed for by those that are left, though the dead one may have
      // held the lease.
      const wanted = (await signedSize(left.url, callers.token))!.size
      const starting = startServer(variables).then((server) => (slots[index] = server))
      await until(
        async () => {
          const now = await signedSize(left.url, callers.token)
          if (now !== null && now.signed > 0)
            book.vouched.push({ size: now.signed, rootHex: now.rootHex, by: "a checkpoint that was served" })
          return (now?.signed ?? 0) >= wanted
        },
        `${SIGNED_MS / 1_000} s after a kill, ${wanted} records are not signed for`
      )
      await starting
      tell(`${kill + 1} of ${kills} kills, ${book.acknowledged} acts acknowledged, ${again} questions put again`)
    }
    const checked = await askOnce(slots[0]!.url, callers.token, "GET", "/api/v1/chain/verify")
    assert.equal(checked?.body["ok"], true, JSON.stringify(checked))
    goesOn = false
    await working
    const ended = await Promise.all(slots.map((server) => server!.stop("SIGTERM")))
    assert.deepEqual(
      ended.map(({ status }) => status),
      slots.map(() => 0),
      ended.map(({ err }) => err).join("\n")
    )
    const audited = await audit(book, {
      storage: postgresStorage({ url: databaseUrl }),
      keys: dataFolder({ dir: dataDir }),
      where: `seed ${seed}`,
      pack: true
    })
    return { ...audited, acknowledged: book.acknowledged, again, guardStates: await guardStates }
  } finally {
    goesOn = false
    await Promise.all(slots.map((server) => server?.stop("SIGKILL")))
  }
}

/** Waits for a fact. */
const until = async (fact: () => boolean | Promise<boolean>, otherwise: string): Promise<void> => {
  for (const end = performance.now() + SIGNED_MS; !(await fact());) {
    if (performance.now() > end) assert.fail(otherwise)
    await pause(POLL_MS)
  }
}
