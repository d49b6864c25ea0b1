/**
 * Plain answers over HTTP, in requests a second of processor time, against bare node:http that answers as much, and
 * stores as much for a POST.
 */
import { type Benchmark, compared, figure, type Line, type RoundTimes, pairTimes } from "./harness.ts"
import { besideBare, CONNECTIONS, Connections, processorMs, type Request } from "./server-process.ts"

/** Few, and many rounds: the machine's speed drifts within seconds, and a pair should see one of it. */
const REQUESTS = 4_000
/**
 * Requests of each kind before the first round, to both servers: a server runs for weeks, and V8's compiling threads
 * take more processor time than all else over the first thousands.
 * They are quiet after 20,000 of the bare server's. Of ours, which has more code, and some that runs once a thousand
 * records, they take 120 us a POST up to 20,000, 12 to 16 from 30,000 to 60,000, and 4 to 9 behind that.
 */
const WARM_UP = 64_000
const ROUNDS = 7
/**
 * Servers of each kind, one pair after another. V8 compiles no two processes alike: the same code differs by five per
 * cent from one to the next, however long each runs.
 */
const PROCESSES = 3
const GOAL = 0.4

type Case = "get_agent" | "post_agent" | "get_head"
const cases: ReadonlyArray<Case> = ["get_agent", "post_agent", "get_head"]

/** The rounds of one server of each kind. */
const roundsOfOne = (): Promise<ReadonlyMap<Case, ReadonlyArray<RoundTimes>>> =>
  besideBare("./bare-http.ts", async ({ agent, bare, key, server }) => {
    const headers = { authorization: `Bearer ${key}` }
    let made = 0
    const register = (): Request => ({
      method: "POST",
      path: "/api/v1/agents",
      body: Buffer.from(JSON.stringify({ name: `agent ${made++}`, purpose: "a benchmark" }))
    })
    const get = (path: string) => (): Request => ({ method: "GET", path, body: null })
    const requests: { readonly [one in Case]: readonly [ours: () => Request, theirs: () => Request] } = {
      get_agent: [get(`/api/v1/agents/${agent.id}`), get("/agent")],
      post_agent: [register, register],
      get_head: [get("/api/v1/chain/head"), get("/head")]
    }
    const toBare = new Connections({ port: bare.port, headers })
    const toServer = new Connections({ port: server.port, headers })
    const found = new Map<Case, ReadonlyArray<RoundTimes>>()
    for (const one of cases) {
      const [ours, theirs] = requests[one]
      const spent = (pid: number, to: Connections, next: () => Request) => async (): Promise<number> => {
        const load = Array.from({ length: REQUESTS }, next)
        const before = processorMs(pid)
        await to.load(load)
        return processorMs(pid) - before
      }
      for (const [to, next] of [
        [toBare, theirs],
        [toServer, ours]
      ] as const)
        await to.load(Array.from({ length: WARM_UP }, next))
      found.set(one, await pairTimes(ROUNDS, spent(bare.pid, toBare, theirs), spent(server.pid, toServer, ours)))
    }
    toBare.close()
    toServer.close()
    return found
  })

/** See the file's first line. */
export const benchmark: Benchmark = {
  name: "http",
  about:
    `GET agent, POST agent and GET chain head over ${CONNECTIONS} connections, ${PROCESSES} servers one ` +
    `after another, ${ROUNDS} rounds of ${REQUESTS} each after ${WARM_UP} to warm up, in requests a ` +
    "second of the server's processor time, against bare node:http with the same inserts",
  run: async (say) => {
    if (process.platform !== "linux") throw new Error("this benchmark reads /proc, so it runs on Linux only")
    const processes: Array<ReadonlyMap<Case, ReadonlyArray<RoundTimes>>> = []
    while (processes.length < PROCESSES) processes.push(await roundsOfOne())
    return cases.map((one): Line => {
      say(
        `http.${one}: ${processes.map((found) => figure(compared(found.get(one)!).ratio)).join(", ")} of the ` +
          "limit, server by server"
      )
      const { limitMs, ratio, subjectMs } = compared(processes.flatMap((found) => found.get(one)!))
      const rate = (ms: number): number => figure((REQUESTS / ms) * 1_000)
      return {
        name: `http.${one}`,
        value: rate(subjectMs),
        unit: "requests/s of processor time",
        limit: rate(limitMs),
        ratio: figure(ratio),
        goal: `ratio >= ${GOAL}`,
        met: ratio >= GOAL
      }
    })
  }
}
