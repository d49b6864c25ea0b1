/**
 * A real server whose disk fills up while callers write, twice, and gets its space back: refused honestly, nothing
 * lost, continues by itself.
 */
import assert from "node:assert/strict"
import { setTimeout as pause } from "node:timers/promises"
import { pickOf, seededSource } from "@flyball/testkit"
import { Book } from "../audit/book.ts"
import { type Answer, askOnce, type Callers, capture, registerAgent, signedSize } from "../servers/callers.ts"
import { watchGuard } from "../servers/guard-watch.ts"
import { type ServerProcess, startServer, type Variables, adminToken } from "../servers/server-process.ts"

/** Refusals that make one time of a full disk. */
const REFUSALS = 60
/** Acknowledged acts that show that the server continues. */
const ACTS = 60
/** Padding of each decision's arguments: a few hundred fill what is left. Unit: bytes. */
const PADDING_BYTES = 8_192
/** Room that is left for the disk to fill up in the middle of work. Unit: bytes. */
export const ROOM_BYTES = 2 * 1024 * 1024
/**
 * Lines of the log that may say that something is wrong: once a minute for each fault and its words, and the
 * checkpointer's every ten seconds.
 */
export const MOST_COMPLAINTS = 12
/** How long anything may take on a busy machine. Unit: milliseconds. */
const PATIENCE_MS = 90_000

/** One server and its callers. */
export interface FullDiskWorld {
  readonly variables: Variables
  /** Put before the server's command, so that it sees the disk. */
  readonly prefix: ReadonlyArray<string>
  readonly dataDir: string
  readonly seed: number
  /** Takes and gives back the space, with the server's process id. */
  readonly take: (pid: number, leaveBytes: number) => void | Promise<void>
  readonly giveBack: (pid: number) => void | Promise<void>
}

/** Result of the run on a full disk. */
export interface FullDisk {
  readonly book: Book
  readonly refusals: number
  /** Lines of the log that say that something is wrong. */
  readonly complaints: number
}

/** Everything that the callers of one server have been through. */
class Witnesses {
  readonly book = new Book(PADDING_BYTES)
  readonly refusals: Array<Answer> = []
  /** The tries of each question that was left in the end. */
  readonly left = new Map<string, ReadonlyArray<string>>()
  readonly #tries = new Map<string, Array<string>>()
  readonly #pick: (bound: number) => number

  constructor(seed: number) {
    this.#pick = pickOf(seededSource(`full disk ${seed}`))
  }

  /** A question was refused: half of the decisions are left for good, to see that they are missing afterwards. */
  refused(answer: Answer, what: string): boolean {
    const { body, retryAfter, status } = answer
    const expected =
      status === 503 &&
      body["code"] === "storage_unavailable" &&
      typeof body["detail"] === "string" &&
      Object.keys(body).length === 2 &&
      retryAfter === "1"
    if (!expected) this.book.problems.push(`${what} was answered with ${status} ${JSON.stringify(body)}`)
    this.refusals.push(answer)
    const tries = [...(this.#tries.get(what) ?? []), answer.requestId]
    this.#tries.set(what, tries)
    const [act, ...refs] = what.split(" ")
    if (act !== "witness" || refs.some((ref) => this.book.witnessed.has(ref)) || this.#pick(2) === 0) return true
    for (const ref of refs) this.left.set(ref, tries)
    return false
  }

  /** Left decisions of which the log says at every try that nothing was written. */
  settleRefused(server: ServerProcess): void {
    const said = new Map(
      server
        .log()
        .filter(({ status }) => status === 503)
        .map((line) => [line["requestId"], String(line["problem"])])
    )
    for (const [ref, tries] of this.left)
      if (tries.every((id) => said.get(id)?.includes("Nothing was written."))) this.book.refused.add(ref)
  }
}

/** The running server, its callers and its agent. */
interface Running {
  readonly server: ServerProcess
  readonly callers: Callers
  readonly agentId: string
  readonly witnesses: Witnesses
}

/** Starts a server and four callers, lets `act` try something with them, stops all in order, and answers the book. */
const running = async (
  { dataDir, prefix, seed, variables }: FullDiskWorld,
  act: (running: Running) => Promise<void>
): Promise<FullDisk> => {
  const settings = { FLYBALL_DATA_DIR: dataDir, ...variables }
  const server = await startServer(settings, prefix)
  const witnesses = new Witnesses(seed)
  let goesOn = true
  try {
    const callers: Callers = {
      book: witnesses.book,
      token: await adminToken(settings, prefix),
      server: () => server.url,
      goesOn: () => goesOn && server.runs(),
      refused: (answer, what) => witnesses.refused(answer, what),
      broken: () => void witnesses.book.problems.push("a connection broke")
    }
    const agentId = await registerAgent(callers, "bot")
    const watched = prefix.length === 0 ? watchGuard(dataDir, witnesses.book, () => goesOn) : null
    const working = Promise.all([1, 2, 3, 4].map((name) => capture(callers, agentId, `c${name}`)))
    await act({ server, callers, agentId, witnesses })
    goesOn = false
    await working
    await watched
    const { err, status } = await server.stop("SIGTERM")
    assert.equal(status, 0, err.slice(-2_000))
    witnesses.settleRefused(server)
    return {
      book: witnesses.book,
      refusals: witnesses.refusals.length,
      complaints: server.log().filter(({ level }) => level !== "info").length
    }
  } finally {
    goesOn = false
    await server.stop("SIGKILL")
  }
}

const health = (server: ServerProcess): Promise<Answer | null> => askOnce(server.url, "", "GET", "/healthz")

/** Fills the disk of the store, once for each of `rooms`. */
export const fullStore = ({
  rooms,
  ...world
}: FullDiskWorld & { readonly rooms: ReadonlyArray<number> }): Promise<FullDisk> =>
  running(world, async ({ agentId, callers, server, witnesses: { book, refusals } }) => {
    for (const leaveBytes of rooms) {
      await until(() => server.runs() && book.acknowledged > 20, "nothing is acknowledged")
      const before = refusals.length
      await world.take(server.pid, leaveBytes)
      await until(() => refusals.length >= before + REFUSALS, "the disk is full, and nothing is refused")
      await until(
        async () => (await health(server))?.status === 503,
        "/healthz does not say that nothing can be written"
      )
      for (const path of [
        "/status",
        "/api/v1/chain/head",
        "/api/v1/chain/verify",
        `/api/v1/agents/${agentId}/decisions`
      ]) {
        const read = await askOnce(server.url, callers.token, "GET", path)
        assert.equal(read?.status, 200, `GET ${path} on a full disk: ${JSON.stringify(read)}`)
      }
      await world.giveBack(server.pid)
      await goesOn({ book, callers, server })
      await until(
        async () => (await health(server))?.status === 200,
        "/healthz does not take notice that writing works again"
      )
    }
  })

/**
 * Fills the disk of key and guard while the store has all the room it wants: records continue, and nothing is signed.
 */
export const fullDataFolder = (world: FullDiskWorld): Promise<FullDisk> =>
  running(world, async ({ callers, server, witnesses: { book, refusals } }) => {
    const complaints = (): number =>
      server.log().filter(({ message }) => message.startsWith("No checkpoint could be made")).length
    await until(async () => ((await signedSize(server.url, callers.token))?.signed ?? 0) > 0, "nothing was signed")
    await world.take(server.pid, 0)
    await until(() => complaints() > 0, "the guard's disk is full, and nobody says so")
    const before = await signedSize(server.url, callers.token)
    const acknowledged = book.acknowledged
    await until(() => book.acknowledged >= acknowledged + ACTS, "records do not go on")
    const pack = await askOnce(server.url, callers.token, "POST", "/api/v1/evidence/packs", { kind: "full" })
    assert.deepEqual([pack?.status, pack?.body["code"]], [503, "storage_unavailable"])
    const after = await signedSize(server.url, callers.token)
    assert.equal(after?.signed, before?.signed, "something was signed without the guard")
    assert.ok(after!.size >= before!.size + ACTS)
    assert.equal(refusals.length, 0, "a record was refused because nothing can be signed")
    await world.giveBack(server.pid)
    await goesOn({ book, callers, server })
  })

/** The same process continues without help: acts are acknowledged again, and all of them are signed for. */
const goesOn = async ({
  book,
  callers,
  server
}: {
  readonly book: Book
  readonly callers: Callers
  readonly server: ServerProcess
}): Promise<void> => {
  const acknowledged = book.acknowledged
  await until(() => book.acknowledged >= acknowledged + ACTS, "there is space again, and nothing is acknowledged")
  const wanted = (await signedSize(server.url, callers.token))!.size
  await until(
    async () => ((await signedSize(server.url, callers.token))?.signed ?? 0) >= wanted,
    "there is space again, and nothing is signed"
  )
  assert.ok(server.runs())
}

/** Waits for a fact. */
const until = async (fact: () => boolean | Promise<boolean>, otherwise: string): Promise<void> => {
  for (const end = performance.now() + PATIENCE_MS; !(await fact());) {
    if (performance.now() > end) assert.fail(`${PATIENCE_MS / 1_000} s later: ${otherwise}`)
    await pause(25)
  }
}
